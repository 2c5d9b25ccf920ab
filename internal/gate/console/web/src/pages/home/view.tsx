import { Link } from '@tanstack/react-router';
import { rows, useRead } from '../../app/data';
import { useChanges, useSoon } from '../../app/live';
import { can, useViewer } from '../../app/session';
import { locale, placed, plural, t } from '../../app/text';
import { Home } from '../../gen/documents';
import type { RequestRowFragment } from '../../gen/types';
import { Badge, Time } from '../../ui/bits';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';

// HomeView is where people begin: what waits for them, and nothing else.
export default function HomeView() {
  const viewer = useViewer();
  const staff = can(viewer, 'request.update');
  const read = useRead(Home, { me: [viewer.id], agents: can(viewer, 'agentaction.read'), tasks: can(viewer, 'task.read'), ...(staff ? { worker: [viewer.id] } : {}) }); // members are shown theirs and their teams' alone
  useChanges(useSoon(read.again, 1500));
  const first = viewer.name.split(' ')[0];
  return (
    <Page title={t('Welcome, {name}', { name: first ?? '' })} intro={t('What waits for you.')} actions={<>
      {staff && <Link to="/app/figures" className="button plain">{t('Reports')}</Link>}
      {can(viewer, 'request.create') && <Link to="/app/catalogue" className="button">{t('New request')}</Link>}
    </>}>
      <Loaded read={read}>
        {(d) => {
          const tasks = rows(d.tasks);
          const approvals = rows(d.approvals).filter((a) => a.viewerMayDecide).slice(0, 8);
          return (
            <>
              {staff && (
                <ul className="tiles">
                  <Tile to="/app/inbox" n={d.waiting?.totalCount ?? 0} says={t('in the inbox')} />
                  <Tile to="/app/requests" search={{ assigneeId: viewer.id, status: 'PENDING,IN_PROGRESS' }} n={d.assigned?.totalCount ?? 0} says={t('assigned to you')} />
                  <Tile to="/app/requests" search={{ slaState: 'WARNING,BREACHED', status: 'PENDING,IN_PROGRESS' }} n={d.late?.totalCount ?? 0} says={t('overdue or due soon')} bad />
                  {d.agentActions && <Tile to="/app/proposals" n={d.agentActions.totalCount} says={plural(d.agentActions.totalCount, 'proposal of an AI agent', 'proposals of AI agents')} />}
                </ul>
              )}
              {approvals.length + tasks.length > 0 && (
                <Section title={t('Your tasks and decisions')} actions={<Link to="/app/tasks">{t('All tasks')}</Link>}>
                  <ul className="rows">
                    {approvals.map((a) => <li key={a.id} className="row"><div><Link className="name" dir="auto" to="/app/tasks">{a.title}</Link><div className="meta"><Badge value="WARNING">{t('Decision')}</Badge>{a.request && <span dir="auto">{a.request.title}</span>}</div></div></li>)}
                    {tasks.map((task) => <li key={task.id} className="row"><div><Link className="name" dir="auto" to="/app/tasks">{task.title}</Link><div className="meta"><Badge value="OPEN">{t('Task')}</Badge>{task.request && <span dir="auto">{task.request.title}</span>}{task.dueAt && <span>{placed(t('due {when}'), { when: <Time at={task.dueAt} /> })}</span>}</div></div></li>)}
                  </ul>
                </Section>
              )}
              {staff && rows(d.late).length > 0 && <Section title={t('Overdue or due soon')}><Requests list={rows(d.late)} /></Section>}
              {staff && (
                <Section title={t('Assigned to you')}>
                  {rows(d.assigned).length === 0 ? <Empty title={t('Nothing is assigned to you')}><p><Link to="/app/inbox">{t('Go to the inbox')}</Link></p></Empty> : <Requests list={rows(d.assigned)} />}
                </Section>
              )}
              <Section title={t('Your requests')} actions={<Link to="/app/my-requests">{t('All your requests')}</Link>}>
                {rows(d.mine).length === 0 ? <Empty title={t('You have no open requests')}><p><Link to="/app/catalogue">{t('Open the catalogue')}</Link></p></Empty> : (
                  <ul className="rows">{rows(d.mine).map((r) => <li key={r.id} className="row"><div><Link className="name" dir="auto" to="/app/requests/$id" params={{ id: r.id }}>{r.title}</Link><div className="meta"><span>#{r.number}</span><Badge value={r.status} />{r.waiting && <Badge value="WARNING">{t('Waiting for your answer')}</Badge>}<Time at={r.updatedAt} /></div></div></li>)}</ul>
                )}
              </Section>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Tile({ to, search, n, says, bad }: { to: string; search?: object; n: number; says: string; bad?: boolean }) {
  return <li><Link to={to} search={(search ?? {}) as never} className={`card tile${bad && n > 0 ? ' bad' : ''}`}><strong>{n.toLocaleString(locale)}</strong><span>{says}</span></Link></li>; // not said
}

function Requests({ list }: { list: RequestRowFragment[] }) {
  return (
    <ul className="rows">
      {list.map((r) => (
        <li key={r.id} className="row">
          <div>
            <Link className="name" dir="auto" to="/app/requests/$id" params={{ id: r.id }}>{r.title}</Link>
            <div className="meta"><span>#{r.number}</span><Badge value={r.status} />{r.sla && ['WARNING', 'BREACHED'].includes(r.sla.state) && <Badge value={r.sla.state}>{r.sla.state === 'BREACHED' ? t('Overdue') : t('Due soon')}</Badge>}<span dir="auto">{r.service?.name}</span><Time at={r.createdAt} /></div>
          </div>
        </li>
      ))}
    </ul>
  );
}
