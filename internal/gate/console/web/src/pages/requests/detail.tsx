import { Link } from '@tanstack/react-router';
import { Check, Copy, Eye, EyeOff, RotateCcw, X } from 'lucide-react';
import { useAsked } from '../../app/asked';
import { config } from '../../app/config';
import { useRead, useWrite } from '../../app/data';
import { useChanges, useSoon } from '../../app/live';
import { can, useCan, useViewer } from '../../app/session';
import { placed, plural, t } from '../../app/text';
import { RequestOne, UnwatchRequest, WatchRequest } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { RequestOneQuery, RequestPriority } from '../../gen/types';
import { useKeys } from '../../keys/registry';
import { usePersonChoices, useTeamChoices } from '../../parts/choices';
import { Answers } from '../../parts/answers';
import { Prose } from '../../parts/markdown';
import { Runs } from '../../parts/runs';
import { Who } from '../../parts/who';
import { Badge, phaseName, phaseType, Priority, Time, words } from '../../ui/bits';
import { Confirm } from '../../ui/dialog';
import { Loaded, Section } from '../../ui/page';
import { NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { Ask, useBulk, type Asking } from './bulk';
import { Edit, Snooze } from './edit';
import { Sla } from './row';
import { asleep, reopenable } from './search';
import { Move } from './move';
import { Timeline } from './timeline';
import { Work } from './work';
import { Decline, Reopen, useAccept, useChange } from './verbs';

export type FullRequest = NonNullable<RequestOneQuery['request']>;

// Detail is a request as it is read and worked on: on its own page, and beside the list.
export function Detail({ id, peek }: { id: string; peek?: boolean }) {
  const read = useRead(RequestOne, { id });
  const soon = useSoon(read.again);
  useChanges((c) => { if (c.request.id === id) soon(); }); // which tells of the row alone
  return <Loaded read={read}>{({ request }) => (request ? <Body request={request} peek={peek ?? false} /> : <NotFound says={t('This request was not found')} />)}</Loaded>;
}

function Body({ request: r, peek }: { request: FullRequest; peek: boolean }) {
  const viewer = useViewer();
  const open = r.status === 'PENDING' || r.status === 'IN_PROGRESS';
  const [ask, setAsk] = useAsked<'decline' | 'reopen' | 'cancel' | 'move' | 'edit' | 'snooze' | Asking>('verb', '');
  const accept = useAccept();
  const change = useChange();
  const bulk = useBulk();
  const close = () => { setAsk(''); };
  const has = (verb: string) => can(viewer, verb, r);
  const may = {
    accept: r.status === 'PENDING' && has('request.accept'), decline: r.status === 'PENDING' && has('request.cancel') && has('request.accept'),
    complete: r.status === 'IN_PROGRESS' && has('request.complete'), update: open && has('request.update'), cancel: open && has('request.cancel'),
    reopen: r.status === 'COMPLETED' && has('request.reopen') && (has('request.accept') || reopenable(r)),
    move: r.status === 'PENDING' && has('request.update') && can(viewer, 'request.create'),
  };
  const until = r.status === 'PENDING' && asleep(r) ? r.snoozedUntil : null;
  useKeys([
    { keys: 'a', does: t('Assign the request'), group: t('Request'), run: () => { if (may.update) setAsk('assignee'); } },
    { keys: 'p', does: t('Set the priority'), group: t('Request'), run: () => { if (may.update) setAsk('priority'); } },
    { keys: 's', does: t('Set the status'), group: t('Request'), run: () => { if (may.accept || may.complete || may.cancel) setAsk('status'); else if (may.reopen) setAsk('reopen'); } },
    { keys: 'e', does: t('Accept the request'), group: t('Request'), run: () => { if (may.accept) void accept(r); } },
  ], !peek && (may.update || may.accept || may.reopen));
  return (
    <>
      {peek && <h3 className="peek-title" dir="auto">{r.title}</h3>}
      <div className="line verbs-line">
        <span className="soft">#{r.number}</span>
        <Badge value={r.status} />
        {r.sla && open && <Sla state={r.sla.state} dueAt={r.status === 'PENDING' ? r.sla.responseDueAt : r.sla.resolutionDueAt} />}
        {r.waiting && <Badge value="PAUSED">{t('Waiting for the requester')}</Badge>}
        {until && <Badge value="PAUSED">{placed(t('Snoozed until {when}'), { when: <Time at={until} full /> })}</Badge>}
        <span className="grow" />
        {may.accept && <button type="button" onClick={() => { void accept(r); }}><Check size={15} aria-hidden /> {t('Accept')}</button>}
        {may.decline && <button type="button" className="plain" onClick={() => { setAsk('decline'); }}><X size={15} aria-hidden /> {t('Decline')}</button>}
        {may.complete && <button type="button" onClick={() => { void change(r, { status: 'COMPLETED' }, t('Completed “{title}”.', { title: r.title })); }}><Check size={15} aria-hidden /> {t('Complete')}</button>}
        {may.reopen && <button type="button" className="plain" onClick={() => { setAsk('reopen'); }}><RotateCcw size={15} aria-hidden /> {t('Reopen')}</button>}
        {may.update && r.status === 'IN_PROGRESS' && <button type="button" className="plain" onClick={() => { void change(r, { waiting: !r.waiting }, r.waiting ? t('The service level clock runs again.') : t('The service level clock stops until the requester answers.')); }}>{r.waiting ? t('Continue') : t('Wait for an answer')}</button>}
        {may.update && <button type="button" className="plain" onClick={() => { setAsk('edit'); }}>{t('Edit')}</button>}
        {may.update && r.status === 'PENDING' && (until
          ? <button type="button" className="plain" onClick={() => { void change(r, { snoozedUntil: null }, t('It is in the inbox again.')); }}>{t('End the snooze')}</button>
          : <button type="button" className="plain" onClick={() => { setAsk('snooze'); }}>{t('Snooze')}</button>)}
        {may.move && <button type="button" className="plain" onClick={() => { setAsk('move'); }}>{t('Move')}</button>}
        {may.cancel && <button type="button" className="danger-plain" onClick={() => { setAsk('cancel'); }}>{t('Cancel request')}</button>}
      </div>
      <div className={peek ? '' : 'split'}>
        <div>
          {r.description && <div className="description"><Prose content={r.content}>{r.description}</Prose></div>}
          <Answers request={r} />
          <Runs requestId={r.id} open={open} />
          <Work id={r.id} />
          {r.execution && <Execution execution={r.execution} />}
          <Section title={t('Activity')}><Timeline request={r} /></Section>
        </div>
        <Facts request={r} edit={may.update} />
      </div>
      {ask === 'edit' && <Edit request={r} close={close} />}
      {ask === 'snooze' && <Snooze request={r} close={close} />}
      {ask === 'move' && <Move request={r} close={close} />}
      {ask === 'reopen' && may.reopen && <Reopen request={r} close={close} />}
      {ask === 'decline' && <Decline request={r} close={close} />}
      {(ask === 'assignee' || ask === 'priority' || ask === 'status') && <Ask what={ask} list={[r]} close={close} act={(of, to) => { void bulk.change(of, to); }} />}
      {ask === 'cancel' && (
        <Confirm title={t('Cancel “{title}”?', { title: r.title })} verb={t('Cancel request')} keep={t('Keep it')} close={close} act={async () => { await change(r, { status: 'CANCELLED' }, t('The request was cancelled.')); close(); }}>
          <p>{t('This is final: what its workflow still waits for ends with it.')}</p>
        </Confirm>
      )}
    </>
  );
}

function Execution({ execution: e }: { execution: NonNullable<FullRequest['execution']> }) {
  const sees = useCan('execution.read');
  return (
    <Section title={e.workflow?.name ?? t('Workflow')} actions={<>{sees && <Link to="/app/executions/$id" params={{ id: e.id }}>{t('Show execution')}</Link>}<Badge value={e.status} /></>}>
      {e.error && <p className="alert" dir="auto">{phaseName(e, e.error.phaseId)}: {e.error.message}</p>}
      <ol className="card phases" aria-label={t('Phases of the workflow')}>
        {e.phases.map((p, i) => (
          <li key={`${p.phaseId} ${i}`}>
            <span>{phaseName(e, p.phaseId)} <span className="soft small-text">{phaseType(p.type)}{p.transition && p.transition !== 'next' ? ` → ${words(p.transition)}` : ''}</span></span>
            <span className="soft small-text"><Time at={p.finishedAt ?? p.startedAt} /></span>
            <Badge value={p.status} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

// Watchers are who hear of comments and of the end. Staff have others watch.
function Watchers({ request: r, people }: { request: FullRequest; people: { id: string; name: string }[] }) {
  const viewer = useViewer();
  const [watch, busy] = useWrite(WatchRequest);
  const [unwatch] = useWrite(UnwatchRequest);
  const list = r.watchers ?? [];
  const watching = list.some((w) => w.id === viewer.id);
  if (list.length === 0 && !can(viewer, 'request.watch', r)) return null;
  const others = people.filter((p) => p.id !== viewer.id && !list.some((w) => w.id === p.id));
  return (
    <div>
      <dt>{t('Watchers')}</dt>
      <dd className="stack-tight">
        {list.length > 0 && <span>{list.map((w, i) => <bdi key={w.id}>{i > 0 && ', '}{w.name}</bdi>)}</span>}
        {can(viewer, 'request.watch', r) && (
          <button type="button" className="quiet small" aria-pressed={watching} disabled={busy} onClick={() => { void (watching ? unwatch : watch)({ input: { id: r.id } }); }}>
            {watching ? <EyeOff size={13} aria-hidden /> : <Eye size={13} aria-hidden />} {watching ? t('Stop watching') : t('Watch')}
          </button>
        )}
        {others.length > 0 && (
          <select aria-label={t('Add a watcher')} value="" onChange={(e) => { void watch({ input: { id: r.id, userId: e.target.value } }); }}>
            <option value="">{t('Add a watcher')}</option>
            {others.map((p) => <option key={p.id} value={p.id}>{p.name}</option>)}
          </select>
        )}
      </dd>
    </div>
  );
}

function Facts({ request: r, edit }: { request: FullRequest; edit: boolean }) {
  const people = usePersonChoices(!edit);
  const teams = useTeamChoices(!edit);
  const change = useChange();
  const tags = r.tags as Record<string, string>;
  const copy = async () => {
    const line = `curl ${config.baseUrl}/v1/requests/${r.id} -H "x-api-key: $KEY"`;
    try {
      await navigator.clipboard.writeText(line); // which a page without TLS does not have
      toast({ text: t('The curl line was copied.') });
    } catch {
      toast({ text: t('Your browser does not let Atrium copy. The line is: {line}', { line }), bad: true });
    }
  };
  const choose = (label: string, changed: string, name: 'assigneeId' | 'teamId' | 'priority', value: string | null | undefined, options: [string, string][], none?: string) => (
    <div>
      <dt><label htmlFor={`fact-${name}`}>{label}</label></dt>
      <dd>
        <select
          id={`fact-${name}`} value={value ?? ''}
          onChange={(e) => { void change(r, { [name]: (e.target.value || null) as RequestPriority }, changed); }}
        >
          {none && <option value="">{none}</option>}
          {options.map(([v, says]) => <option key={v} value={v}>{says}</option>)}
        </select>
      </dd>
    </div>
  );
  const withCurrent = (list: { id: string; name: string }[], current: { id: string; name: string } | null | undefined): [string, string][] => {
    const all = current && !list.some((x) => x.id === current.id) ? [current, ...list] : list;
    return all.map((x) => [x.id, x.name]);
  };
  return (
    <aside aria-label={t('Details')}>
      <dl className="card facts">
        {edit ? choose(t('Priority'), t('Priority changed.'), 'priority', r.priority, enums.RequestPriority.map((p) => [p, words(p)]))
          : <div><dt>{t('Priority')}</dt><dd><Priority value={r.priority} /></dd></div>}
        {edit ? choose(t('Assignee'), t('Assignee changed.'), 'assigneeId', r.assigneeId, withCurrent(people, r.assignee), t('Nobody'))
          : <div><dt>{t('Assignee')}</dt><dd><Who id={r.assigneeId} person={r.assignee} /></dd></div>}
        {edit ? choose(t('Team'), t('Team changed.'), 'teamId', r.teamId, withCurrent(teams, r.team), t('No team'))
          : <div><dt>{t('Team')}</dt><dd dir="auto">{r.team?.name ?? <span className="soft">{r.teamId ? t('A team') : t('No team')}</span>}</dd></div>}
        <div><dt>{t('Requester')}</dt><dd><Who id={r.requesterId} person={r.requester} /></dd></div>
        {r.createdBy !== r.requesterId && <div><dt>{t('Submitted by')}</dt><dd><Who id={r.createdBy} person={r.creator} /></dd></div>}
        <Watchers request={r} people={people} />
        <div><dt>{t('Service')}</dt><dd dir="auto">{r.service?.name} › {r.offering?.name}</dd></div>
        {Object.keys(tags).length > 0 && <div><dt>{t('Tags')}</dt><dd className="chips">{Object.entries(tags).map(([k, v]) => <span key={k} className="chip" dir="auto">{v ? `${k}=${v}` : k}</span>)}</dd></div>}
        {r.sla && r.status !== 'CANCELLED' && <div><dt>{t('Service level')}</dt><dd className="stack-tight"><Sla state={r.sla.state} />{r.sla.responseDueAt && <span>{placed(t('First response {when}'), { when: <Time at={r.sla.responseDueAt} /> })}</span>}{r.sla.resolutionDueAt && <span>{placed(t('Resolution {when}'), { when: <Time at={r.sla.resolutionDueAt} /> })}</span>}</dd></div>}
        <div><dt>{t('Submitted')}</dt><dd><Time at={r.createdAt} full /></dd></div>
        {r.acceptedAt && <div><dt>{t('Accepted')}</dt><dd><Time at={r.acceptedAt} full /></dd></div>}
        {r.completedAt && <div><dt>{t('Completed')}</dt><dd><Time at={r.completedAt} full /></dd></div>}
        {r.reopenCount > 0 && <div><dt>{t('Reopened')}</dt><dd>{plural(r.reopenCount, 'Once', '{n} times')}</dd></div>}
        {r.cancelledAt && <div><dt>{t('Cancelled')}</dt><dd><Time at={r.cancelledAt} full /></dd></div>}
        <div>
          <dt>{t('ID')}</dt>
          <dd className="line">
            <code>{r.id}</code>
            <button type="button" className="quiet small" onClick={() => { void copy(); }}>
              <Copy size={13} aria-hidden /> {t('Copy as curl')}
            </button>
          </dd>
        </div>
      </dl>
    </aside>
  );
}
