import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { rows, usePages } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { Mailboxes, Messages } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { InboundMailFilter, MailOutcome } from '../../gen/types';
import { Subpages } from '../../parts/subpages';
import { Badge, Time } from '../../ui/bits';
import { Field } from '../../ui/field';
import { More } from '../../ui/more';
import { Name } from '../../ui/opened';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { Message, subjectOf } from './message';
import { outcomeTone, outcomeWord, reasonSaid } from './outcomes';

type Search = { outcome?: string; mailbox?: string; open?: string };

const settled = enums.MailOutcome.filter((o) => o !== 'HELD');

// MessageList is what came by mail and what became of it: first what waits for staff, then everything else, the newest on top.
export default function MessageList() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const viewer = useViewer();
  const set = (s: Search) => { void navigate({ to: '/app/mail', search: s as never, replace: true, resetScroll: false }); };
  const boxes = rows(usePages(Mailboxes, { first: 50 }, !can(viewer, 'mailbox.read')).data?.mailboxes);
  const outcome = search.outcome as MailOutcome | undefined;
  const about = search.mailbox ? { mailboxId: search.mailbox } : {};
  const held = useMessages({ ...about, outcome: ['HELD'] }, Boolean(outcome && outcome !== 'HELD'));
  const others = useMessages({ ...about, outcome: outcome ? [outcome] : settled }, outcome === 'HELD');
  const again = () => { held.read.again(); others.read.again(); };
  const none = !search.outcome && !search.mailbox && held.list.length + others.list.length === 0;
  return (
    <Page title={t('Mail')} verb="inboundmail.read" tabs={<Subpages of="mail" />} actions={<button type="button" className="quiet" onClick={again}>{t('Refresh')}</button>}>
      <search className="filters">
        <Field label={t('Outcome')}><select value={search.outcome ?? ''} onChange={(e) => { set({ ...search, outcome: e.target.value }); }}><option value="">{t('Any')}</option>{enums.MailOutcome.toSorted((a, b) => Number(b === 'HELD') - Number(a === 'HELD')).map((o) => <option key={o} value={o}>{outcomeWord[o]}</option>)}</select></Field>
        {(boxes.length > 1 || search.mailbox) && <Field label={t('Mailbox')}><select value={search.mailbox ?? ''} onChange={(e) => { set({ ...search, mailbox: e.target.value }); }}><option value="">{t('Any')}</option>{boxes.map((b) => <option key={b.id} value={b.id}>{b.address}</option>)}</select></Field>}
      </search>
      <Loaded read={outcome && outcome !== 'HELD' ? others.read : held.read} skeleton={8}>
        {() => (
          <Loaded read={outcome === 'HELD' ? held.read : others.read} skeleton={8}>
            {() => (none ? <Nothing boxes={boxes.length} /> : (
              <>
                {(outcome === 'HELD' || held.list.length > 0) && <Letters title={t('Waits for staff')} of={held} />}
                {outcome !== 'HELD' && <Letters title={outcome ? outcomeWord[outcome] : t('Done')} of={others} />}
              </>
            ))}
          </Loaded>
        )}
      </Loaded>
      {search.open && <Message key={search.open} id={search.open} boxes={boxes} changed={again} close={() => { set({ ...search, open: '' }); }} />}
    </Page>
  );
}

// useMessages reads the messages of a filter, none where it is paused.
function useMessages(filter: InboundMailFilter, pause: boolean) {
  const read = usePages(Messages, { first: 50, filter }, pause);
  const all = pause ? undefined : read.data?.inboundMails;
  return { read, list: rows(all), total: all?.totalCount, page: all?.pageInfo };
}

function Nothing({ boxes }: { boxes: number }) {
  const makes = can(useViewer(), 'mailbox.create');
  return (
    <Empty title={t('No mail has come yet')}>
      <p>{boxes > 0 ? t('What people write to your mailboxes shows here, with what became of it.') : t('Mail to a mailbox becomes requests and comments.')}</p>
      {boxes === 0 && makes && <p><Link to="/app/mailboxes" className="button">{t('Add a mailbox')}</Link></p>}
    </Empty>
  );
}

interface LettersProps { title: string; of: ReturnType<typeof useMessages> }

// Letters is a list of messages, a line each.
function Letters({ title, of }: LettersProps) {
  return (
    <Section title={title}>
      {of.list.length === 0 ? <p className="nothing">{t('No matching messages')}</p> : (
        <>
          <div className="list letters">
            <table aria-label={title}>
              <thead><tr><th scope="col" className="c-title">{t('Subject')}</th><th scope="col" className="c-from">{t('mail|From')}</th><th scope="col" className="c-outcome">{t('Outcome')}</th><th scope="col" className="c-about"><span className="hidden">{t('Request')}</span></th><th scope="col" className="c-when">{t('Received')}</th></tr></thead>
              <tbody>
                {of.list.map((m) => (
                  <tr key={m.id} data-row={m.id}>
                    <td className="c-title"><span className="titled"><Name row={{ id: m.id, name: subjectOf(m) }}><bdi title={subjectOf(m)}>{subjectOf(m)}</bdi></Name>{m.outcome === 'HELD' && m.reason && <span className="note">{reasonSaid(m.reason).says}</span>}</span></td>
                    <td className="c-from"><bdi title={m.sender ?? undefined}>{m.sender ?? '–'}</bdi></td>
                    <td className="c-outcome"><Badge value={outcomeTone[m.outcome]}>{outcomeWord[m.outcome]}</Badge></td>
                    <td className="c-about">{m.requestId && <Link to="/app/requests/$id" params={{ id: m.requestId }} aria-label={t('Request of “{subject}”', { subject: subjectOf(m) })}>{t('Request')}</Link>}</td>
                    <td className="c-when"><Time at={m.createdAt} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <More shown={of.list.length} total={of.total} page={of.page} next={of.read.next} />
        </>
      )}
    </Section>
  );
}
