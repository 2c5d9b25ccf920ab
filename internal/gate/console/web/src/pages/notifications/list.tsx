import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { rows, usePages, useWrite } from '../../app/data';
import { About, useMarkAll } from '../../app/notices';
import { placed, t } from '../../app/text';
import { AllNotices, ReadNotices } from '../../gen/documents';
import { Badge, Time, words } from '../../ui/bits';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';

// NoticeList is everything that the person was told in the last 180 days.
export default function NoticeList() {
  const { unread = '' } = useSearch({ strict: false }) as { unread?: string };
  const navigate = useNavigate();
  const read = usePages(AllNotices, { first: 50, ...(unread ? { unread: true } : {}) });
  const [mark] = useWrite(ReadNotices);
  const markAll = useMarkAll();
  const list = rows(read.data?.notifications);
  const markRead = (id: string) => { void mark({ input: { ids: [id] } }).then(read.again); };
  return (
    <Page title={t('Notifications')} intro={placed(t('In the {settings} you choose which ones also come by e-mail.'), { settings: <Link to="/app/settings">{t('settings')}</Link> })} actions={<>
      <button type="button" className="plain" aria-pressed={unread !== ''} onClick={() => { void navigate({ to: '/app/notifications', search: { unread: unread ? '' : 'true' } as never, replace: true }); }}>{t('Unread only')}</button>
      {(read.data?.waiting?.totalCount ?? 0) > 0 && <button type="button" className="plain" onClick={() => { void markAll().then(read.again); }}>{t('Mark all as read')}</button>}
    </>}>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={unread ? t('You have read everything') : t('Nothing yet')}><p>{t('Mentions, assignments and decisions that wait for you appear here.')}</p></Empty> : (
          <>
            <ul className="rows" aria-label={t('Notifications')}>
              {list.map((n) => (
                <li key={n.id} className={`row${n.readAt ? '' : ' marked'}`}>
                  <div>
                    <About of={n} className="name" read={() => { markRead(n.id); }} />
                    <div className="meta"><Badge value={n.kind === 'breached' ? 'BREACHED' : n.kind === 'warning' || n.kind === 'incident' ? 'WARNING' : 'off'}>{n.kind === 'incident' ? t('Workflow error') : n.kind === 'breached' ? t('SLA missed') : words(n.kind)}</Badge><Time at={n.at} /></div>
                  </div>
                  {!n.readAt && <div className="verbs"><button type="button" className="quiet small" aria-label={t('Mark as read: {subject}', { subject: n.subject })} onClick={() => { markRead(n.id); }}>{t('Mark as read')}</button></div>}
                </li>
              ))}
            </ul>
            <More shown={list.length} total={read.data?.notifications?.totalCount} page={read.data?.notifications?.pageInfo} next={read.next} />
          </>
        ))}
      </Loaded>
    </Page>
  );
}
