// facts are the properties of a request. What the person may change is changed where it stands, and can be taken back.
import { Copy } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import { useCan, useViewer } from '../../../app/session';
import { placed, plural, t } from '../../../app/text';
import * as enums from '../../../gen/enums';
import type { RequestPriority, RequestStatus } from '../../../gen/types';
import { usePersonChoices, useTeamChoices } from '../../../parts/choices';
import { nameOf, Who } from '../../../parts/who';
import { useMedia } from '../../../ui/media';
import { Priority, Time, words } from '../../../ui/bits';
import { config } from '../../../app/config';
import { movesOf } from '../bulk';
import type { FullRequest } from '../detail';
import { Sla } from '../row';
import { Decline, Reopen, useAccept, useChange, useComplete } from '../verbs';
import { Cancel, copied, mayOf } from './actions';
import { Links } from './links';
import { Tags } from './tags';
import { Watchers } from './watchers';

// useNarrow reports whether the properties have no room beside the page.
export const useNarrow = () => useMedia('(max-width: 68rem)'); // not said

// Facts stand beside the page, or fold into a section below its header; beside a list they are open there.
export function Facts({ request: r, folded, peek }: { request: FullRequest; folded: boolean; peek: boolean }) {
  const viewer = useViewer();
  if (!folded) return <aside aria-label={t('Details')} className="card side-card"><List request={r} /></aside>;
  return (
    <details className="card side-card" open={peek}>
      <summary className="line"><strong>{t('Details')}</strong><Priority value={r.priority} /><span className="soft" dir="auto">{nameOf(viewer, r.assigneeId, r.assignee) ?? t('Nobody assigned')}</span></summary>
      <List request={r} />
    </details>
  );
}

const Row = ({ label, of, children }: { label: string; of?: string; children: ReactNode }) => <div><dt>{of ? <label htmlFor={of}>{label}</label> : label}</dt><dd>{children}</dd></div>;

interface ChooseProps { label: string; name: string; value: string; set: (to: string) => void; options: [string, string][]; children?: ReactNode }

function Choose({ label, name, value, set, options, children }: ChooseProps) {
  const id = `fact-${name}`;
  return <Row label={label} of={id}><select id={id} className="plainly" value={value} onChange={(e) => { set(e.target.value); }}>{options.map(([v, says]) => <option key={v} value={v}>{says}</option>)}</select>{children}</Row>;
}

const withCurrent = (list: { id: string; name: string }[], current: { id: string; name: string } | null | undefined): [string, string][] =>
  (current && !list.some((x) => x.id === current.id) ? [current, ...list] : list).map((x) => [x.id, x.name]);

function List({ request: r }: { request: FullRequest }) {
  const viewer = useViewer();
  const staff = useCan('request.update');
  const edit = mayOf(viewer, r).update;
  const people = usePersonChoices(!edit);
  const teams = useTeamChoices(!edit);
  const change = useChange();
  const current = r.assigneeId ? { id: r.assigneeId, name: nameOf(viewer, r.assigneeId, r.assignee) ?? '' } : null;
  return (
    <dl className="facts">
      <Status request={r} />
      {edit ? <Choose label={t('Priority')} name="priority" value={r.priority} set={(to) => { void change(r, { priority: to as RequestPriority }, t('Priority changed.')); }} options={enums.RequestPriority.map((p) => [p, words(p)])} />
        : <Row label={t('Priority')}><Priority value={r.priority} /></Row>}
      {edit ? (
          <Choose label={t('Assignee')} name="assigneeId" value={r.assigneeId ?? ''} set={(to) => { void change(r, { assigneeId: to || null }, t('Assignee changed.')); }} options={[['', t('Nobody')], ...withCurrent(people, current)]}>
            {r.assigneeId !== viewer.id && <button type="button" className="quiet small" onClick={() => { void change(r, { assigneeId: viewer.id }, t('Assignee changed.')); }}>{t('Assign to me')}</button>}
          </Choose>
      ) : <Row label={t('Assignee')}><Who id={r.assigneeId} person={r.assignee} /></Row>}
      {edit ? <Choose label={t('Team')} name="teamId" value={r.teamId ?? ''} set={(to) => { void change(r, { teamId: to || null }, t('Team changed.')); }} options={[['', t('No team')], ...withCurrent(teams, r.team)]} />
        : <Row label={t('Team')}><span dir="auto">{r.team?.name ?? <span className="soft">{r.teamId ? t('A team') : t('No team')}</span>}</span></Row>}
      {r.sla && r.status !== 'CANCELLED' && <Row label={t('Due')}><span className="stack-tight"><Sla state={r.sla.state} />{r.sla.responseDueAt && <span>{placed(t('First response {when}'), { when: <Time at={r.sla.responseDueAt} /> })}</span>}{r.sla.resolutionDueAt && <span>{placed(t('Resolution {when}'), { when: <Time at={r.sla.resolutionDueAt} /> })}</span>}</span></Row>}
      <Tags request={r} edit={edit} />
      <Row label={t('Requester')}><Who id={r.requesterId} person={r.requester} /></Row>
      {r.createdBy !== r.requesterId && <Row label={t('Submitted by')}><Who id={r.createdBy} person={r.creator} /></Row>}
      <Watchers request={r} people={people} />
      {r.satisfaction && <Row label={t('Satisfaction')}><span className="stack-tight"><span>{t('{n} of 5', { n: r.satisfaction })}</span>{r.satisfactionComment && <span dir="auto" className="soft">{r.satisfactionComment}</span>}</span></Row>}
      <Row label={t('Service')}><span dir="auto">{r.service?.name} › {r.offering?.name}</span></Row>
      <Row label={t('Submitted')}><Time at={r.createdAt} full /></Row>
      {r.firstResponseAt && <Row label={t('First response')}><Time at={r.firstResponseAt} full /></Row>}
      {r.acceptedAt && <Row label={t('Accepted')}><Time at={r.acceptedAt} full /></Row>}
      {r.completedAt && <Row label={t('Completed')}><Time at={r.completedAt} full /></Row>}
      {r.reopenCount > 0 && <Row label={t('Reopened')}>{plural(r.reopenCount, 'Once', '{n} times')}</Row>}
      {r.cancelledAt && <Row label={t('Cancelled')}><Time at={r.cancelledAt} full /></Row>}
      <Links request={r} />
      {staff && <div className="whole"><dt>{t('ID')}</dt><dd className="line"><code>{r.id}</code><button type="button" className="quiet small" onClick={() => { void copied(`curl ${config.baseUrl}/v1/requests/${r.id} -H "x-api-key: $KEY"`, t('The curl line was copied.')); }}><Copy size={13} aria-hidden /> {t('Copy as curl')}</button></dd></div>}
    </dl>
  );
}

// Status is changed to where the request may go from here. What has no way back is asked first.
function Status({ request: r }: { request: FullRequest }) {
  const viewer = useViewer();
  const may = mayOf(viewer, r);
  const id = useId();
  const accept = useAccept();
  const complete = useComplete();
  const [ask, setAsk] = useState<'decline' | 'cancel' | 'reopen' | ''>('');
  const moves = movesOf(viewer, r).filter((to) => to !== 'IN_PROGRESS' || may.accept || may.reopen);
  if (!may.update && !may.reopen || moves.length === 0) return null;
  const close = () => { setAsk(''); };
  const set = (to: RequestStatus) => {
    if (to === 'COMPLETED') void complete(r);
    else if (to === 'CANCELLED') setAsk(may.decline ? 'decline' : 'cancel');
    else if (r.status === 'COMPLETED') setAsk('reopen');
    else if (to === 'IN_PROGRESS') void accept(r);
  };
  return (
    <>
      <Row label={t('Status')} of={id}><select id={id} className="plainly" value={r.status} onChange={(e) => { set(e.target.value as RequestStatus); }}>{[r.status, ...moves].map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></Row>
      {ask === 'decline' && <Decline request={r} close={close} />}
      {ask === 'cancel' && <Cancel request={r} close={close} />}
      {ask === 'reopen' && <Reopen request={r} close={close} />}
    </>
  );
}
