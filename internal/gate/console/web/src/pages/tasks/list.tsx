import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import { isNumeric } from '../../app/digits';
import type { Fault } from '../../app/fault';
import { useChanges, useSoon, useTold } from '../../app/live';
import { can, useCan, useViewer } from '../../app/session';
import { placed, plural, t } from '../../app/text';
import { Approvals, ClaimTask, CompleteTask, CorrectedRequest, DecideApproval, DecidedRequest, DelegateApproval, ExecutionMoved, Incidents, TaskMoved, Tasks } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { CorrectedRequestQuery, TaskFilter, TaskRowFragment, TaskStatus } from '../../gen/types';
import { Answers as Given } from '../../parts/answers';
import { Choices, useAgentChoices, usePersonChoices, useTeamChoices } from '../../parts/choices';
import { IncidentRow } from '../../parts/incident';
import { Who } from '../../parts/who';
import { toSend, typed, visible, type Answers, type FormField } from '../../ui/answer';
import { Badge, Time, words } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { FormFields } from '../../ui/formfields';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty, Failed, Wait } from '../../ui/states';
import { toast } from '../../ui/toast';

type Search = { status?: string; assigneeId?: string; teamId?: string; requestId?: string; executionId?: string };

// filterOf is the API's filter of what stands in the address: whoever is shown their own and their teams' alone need say nothing.
function filterOf(s: Search): TaskFilter {
  const named = (['assigneeId', 'teamId', 'requestId', 'executionId'] as const).flatMap((k) => (s[k] ? [[k, s[k].split(',')]] : []));
  return { status: s.status ? s.status.split(',') as TaskStatus[] : ['OPEN', 'IN_PROGRESS'], ...Object.fromEntries(named) };
}

const statuses: [string, string][] = [['', t('Open')], ['COMPLETED', t('Completed')], ['CANCELLED', t('Cancelled')], [enums.TaskStatus.join(','), t('Any')]];

// open reports whether somebody may still work a task.
const open = (task: TaskRowFragment) => task.status === 'OPEN' || task.status === 'IN_PROGRESS';

// TaskList is what workflows wait for: work, decisions, and what went wrong.
export default function TaskList() {
  const viewer = useViewer();
  const staff = can(viewer, 'request.update');
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = (to: Search) => { void navigate({ to: '/app/tasks', search: { ...search, ...to } as never, replace: true }); };
  const filter = filterOf(search);
  const read = usePages(Tasks, { filter });
  useTold(TaskMoved, {}, read.again);
  const teams = useTeamChoices();
  const agents = useAgentChoices(!rows(read.data?.tasks).some((task) => task.agentId));
  const title = search.status ? t('Tasks') : t('Open tasks');
  const narrowed = search.status || search.assigneeId || search.teamId || search.requestId || search.executionId;
  const whole = () => {
    set({ requestId: '', executionId: '' });
    globalThis.document.getElementById('main')?.focus({ preventScroll: true }); // for the button goes
  };
  const [completing, setCompleting] = useAsked<TaskRowFragment | null>('complete', null);
  const [claim] = useWrite(ClaimTask);
  return (
    <Page title={t('Tasks')} intro={t('What workflows wait for.')}>
      <Decisions />
      {can(viewer, 'incident.read') && <Stuck />}
      <Section title={title} actions={staff && (
        <>
          <button type="button" className="plain small" aria-pressed={!search.assigneeId} onClick={() => { set({ assigneeId: '' }); }}>{t('Everyone’s')}</button>
          <button type="button" className="plain small" aria-pressed={search.assigneeId === viewer.id} onClick={() => { set({ assigneeId: viewer.id }); }}>{t('Mine')}</button>
        </>
      )}>
        <search className="filters">
          <Field label={t('Status')}><select value={search.status ?? ''} onChange={(e) => { set({ status: e.target.value }); }}>{search.status && !statuses.some(([v]) => v === search.status) && <option value={search.status}>{search.status.split(',').map(words).join(', ')}</option>}{statuses.map(([v, label]) => <option key={v} value={v}>{label}</option>)}</select></Field>
          {(teams.length > 0 || search.teamId) && <Field label={t('Team')}><select value={search.teamId ?? ''} onChange={(e) => { set({ teamId: e.target.value }); }}><option value="">{t('Any')}</option><Choices of={[{ id: 'none', name: t('No team') }, ...teams]} now={search.teamId} /></select></Field>}
        </search>
        {(search.requestId || search.executionId) && <p className="line filters"><span className="chip">{search.requestId ? t('Of one request only') : t('Of one execution only')}</span><button type="button" className="plain small" onClick={whole}>{t('Show all tasks')}</button></p>}
        <Loaded read={read}>
          {({ tasks }) => {
            const list = rows(tasks).filter((task) => read.behind || filter.status?.includes(task.status));
            return list.length === 0 && !tasks?.pageInfo.hasNextPage ? <Empty title={narrowed ? t('No task matches') : t('No open tasks')}><p>{narrowed ? t('Remove a filter.') : t('When a workflow asks for work, it appears here.')}</p></Empty> : (
              <><ul className="rows" aria-label={title}>
                {list.map((task) => (
                  <li key={task.id} className="row">
                    <div>
                      {task.request ? <Link to="/app/requests/$id" params={{ id: task.request.id }} className="name" dir="auto">{task.title}</Link> : <span className="name" dir="auto">{task.title}</span>}
                      <div className="meta">
                        <Badge value={task.status} />
                        {task.completedAt ? <span>{placed(t('done {when}'), { when: <Time at={task.completedAt} /> })}</span> : task.dueAt && <span>{placed(t('due {when}'), { when: <Time at={task.dueAt} /> })}</span>}
                        {task.sla && <Badge value={task.sla.state} />}
                        {task.assigneeId ? <Who id={task.assigneeId} person={task.assignee} /> : <span dir="auto">{task.agentId ? agents.find((a) => a.id === task.agentId)?.name ?? t('An AI agent') : task.team?.name ?? (task.teamId ? t('A team') : t('Nobody yet'))}</span>}
                      </div>
                    </div>
                    <div className="verbs">
                      {open(task) && can(viewer, 'task.claim', task) && !task.assigneeId && <button type="button" className="plain small" aria-label={t('Take {title}', { title: task.title })} onClick={() => { void claim({ input: { id: task.id } }).then((o) => { if (!o.fault) toast({ text: t('“{title}” is assigned to you.', { title: task.title }) }); }); }}>{t('Take')}</button>}
                      {open(task) && can(viewer, 'task.complete', task) && <button type="button" className="small" aria-label={t('Complete {title}', { title: task.title })} onClick={() => { setCompleting(task); }}>{t('Complete')}</button>}
                    </div>
                  </li>
                ))}
              </ul>
              {tasks?.pageInfo.hasNextPage && <More shown={list.length} total={tasks.totalCount} page={tasks.pageInfo} next={read.next} />}</>
            );
          }}
        </Loaded>
      </Section>
      {completing && <Complete task={completing} close={() => { setCompleting(null); }} />}
    </Page>
  );
}

// Complete asks what the task's form asks, or for the corrections: in the request's own fields, for its form says what they take.
function Complete({ task, close }: { task: TaskRowFragment; close: () => void }) {
  const id = task.corrections.length > 0 ? task.request?.id : undefined;
  const read = useRead(CorrectedRequest, { id: id ?? '' }, !id);
  return (
    <Dialog title={task.title} close={close}>
      {id ? <Loaded read={read} skeleton={3}>{({ request }) => <Completion task={task} request={request} close={close} />}</Loaded> : <Completion task={task} request={null} close={close} />}
    </Dialog>
  );
}

const fieldsOf = (form: unknown) => (form as { fields?: FormField[] } | null | undefined)?.fields ?? [];

function Completion({ task, request: r, close }: { task: TaskRowFragment; request: CorrectedRequestQuery['request']; close: () => void }) {
  const form = fieldsOf(r?.offering?.form);
  const now = (r?.fields ?? {}) as Answers;
  const [draft, set, forget, base] = useDraft(`task ${task.id}`, { outcome: task.outcomes[0] ?? '', answers: now });
  const said = new Map<string, string>(); // what is wrong, by field
  for (const c of task.corrections) {
    const key = c.field.replace(/^fields\./, '');
    said.set(key, [said.get(key), c.message].filter(Boolean).join(' '));
  }
  // With the corrections goes what the form requires then and the request does not say: without it the server takes none.
  const asked: FormField[] = task.corrections.length === 0 ? fieldsOf(task.form) : [
    ...form.filter((f) => said.has(f.key) || (f.required && visible(f, form, draft.answers) && typed(f, now[f.key]) === undefined)),
    ...[...said.keys()].filter((key) => !form.some((f) => f.key === key)).map((key): FormField => ({ key, type: isNumeric(now[key]) ? 'number' : typeof now[key] === 'boolean' ? 'boolean' : 'text', label: words(key) })),
  ].map((f) => ({ ...f, help: said.get(f.key) ?? f.help, visibleWhen: null }));
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CompleteTask, true);
  const send = async () => {
    const cleared = asked.filter((f) => f.key in now && typed(f, draft.answers[f.key]) === undefined).map((f) => [f.key, null] as const);
    const variables = { ...Object.fromEntries(cleared), ...toSend(asked, draft.answers) };
    const o = await run({ input: { id: task.id, ...(draft.outcome ? { outcome: draft.outcome } : {}), ...(Object.keys(variables).length > 0 ? { variables } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    toast({ text: t('Completed “{title}”.', { title: task.title }) });
  };
  return (
    <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
      {task.instructions && <p className="prose" dir="auto">{task.instructions}</p>}
      <FormFields fields={asked} answers={draft.answers} set={(to) => { set({ ...draft, answers: to }); }} fault={fault} prefix="variables" offering={task.corrections.length > 0 ? r?.offering?.id : undefined} />
      {task.outcomes.length > 1 && (
        <Field label={t('Outcome')} fault={faultAt(fault, 'outcome')}>
          <select value={draft.outcome} onChange={(e) => { set({ ...draft, outcome: e.target.value }); }}>{task.outcomes.map((o) => <option key={o} value={o}>{words(o)}</option>)}</select>
        </Field>
      )}
      <Rest base={base} fault={fault} fields={['outcome', ...asked.map((f) => `variables.${f.key}`)]} />
      <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Complete')}</button></footer>
    </form>
  );
}

function Decisions() {
  const viewer = useViewer();
  const read = usePages(Approvals, { filter: { status: ['PENDING'] } });
  useChanges(useSoon(read.again, 1500)); // a request that goes on may ask for a decision, or need none any more
  const [asking, setAsking] = useAsked<Asked | null>('decide', null);
  const [handing, setHanding] = useAsked<{ id: string; title: string } | null>('delegate', null);
  const list = rows(read.data?.approvals).filter((a) => a.status === 'PENDING');
  if (read.fault && !read.data?.approvals) return <Section title={t('Pending decisions')}><Failed fault={read.fault} again={read.again} /></Section>;
  if (list.length === 0) return read.data ? null : <Wait />;
  return (
    <Section title={t('Pending decisions')}>
      <ul className="rows" aria-label={t('Approvals')}>
        {list.map((a) => (
          <li key={a.id} className="row">
            <div>
              {a.request ? <Link to="/app/requests/$id" params={{ id: a.request.id }} className="name" dir="auto">{a.request.title}</Link> : <span className="name" dir="auto">{a.title}</span>}
              <div className="meta">{a.request && <strong dir="auto">{a.title}</strong>}<span>{plural(a.decisions.length, '{n} of {total} decided', '{n} of {total} decided', { total: (a.mode === 'quorum' ? a.quorum : a.mode === 'all' ? a.approvers.length : 1) ?? 1 })}</span>{a.expiresAt && <span>{placed(t('expires {when}'), { when: <Time at={a.expiresAt} /> })}</span>}<Time at={a.createdAt} /></div>
            </div>
            {a.viewerMayDecide && <div className="verbs">
              <button type="button" className="small" aria-label={t('Approve {title}', { title: a.request?.title ?? a.title })} onClick={() => { setAsking({ ...a, decision: 'APPROVE' }); }}>{t('Approve')}</button>
              <button type="button" className="plain small" aria-label={t('Reject {title}', { title: a.request?.title ?? a.title })} onClick={() => { setAsking({ ...a, decision: 'REJECT' }); }}>{t('Reject')}</button>
              {can(viewer, 'approval.delegate') && can(viewer, 'user.read') && a.approvers.some((p) => p.id === viewer.id) && <button type="button" className="quiet small" aria-label={t('Delegate {title}', { title: a.request?.title ?? a.title })} onClick={() => { setHanding(a); }}>{t('Delegate')}</button>}
            </div>}
          </li>
        ))}
      </ul>
      {read.data?.approvals?.pageInfo.hasNextPage && <More shown={list.length} total={read.data.approvals.totalCount} page={read.data.approvals.pageInfo} next={read.next} />}
      {handing && <Delegate approval={handing} close={() => { setHanding(null); }} done={read.again} />}
      {asking && <Decide key={`${asking.id} ${asking.decision}`} approval={asking} close={() => { setAsking(null); }} />}
    </Section>
  );
}

interface Asked { id: string; title: string; request?: { id: string; title: string } | null; decision: 'APPROVE' | 'REJECT' }

// Decide asks for the decision, beside what it is about.
function Decide({ approval: a, close }: { approval: Asked; close: () => void }) {
  const about = useRead(DecidedRequest, { id: a.request?.id ?? '' }, !a.request).data?.request;
  const [comment, set] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(DecideApproval, true);
  const rejects = a.decision === 'REJECT';
  const title = a.request?.title ?? a.title;
  const send = async () => {
    const o = await run({ input: { id: a.id, decision: a.decision, ...(comment ? { comment } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    close();
    toast({ text: rejects ? t('Rejected.') : t('Approved.') });
  };
  return (
    <Dialog title={rejects ? t('Reject “{title}”?', { title }) : t('Approve “{title}”?', { title })} close={close}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        {a.request && <p dir="auto"><strong>{a.title}</strong>{about && <span className="soft"> {placed(t('{offering}, submitted {when}'), { offering: `${about.service?.name} › ${about.offering?.name}`, when: <Time at={about.createdAt} /> })}</span>}</p>}
        {about?.description && <p className="prose description" dir="auto">{about.description}</p>}
        {about && <Given request={about} />}
        <Field label={t('Comment')} optional fault={faultAt(fault, 'comment')}><textarea dir="auto" value={comment} onChange={(e) => { set(e.target.value); }} /></Field>
        <Rest fault={fault} fields={['comment']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{rejects ? t('Reject') : t('Approve')}</button></footer>
      </form>
    </Dialog>
  );
}

// Delegate puts somebody else into the person's place.
function Delegate({ approval: a, close, done }: { approval: { id: string; title: string }; close: () => void; done: () => void }) {
  const people = usePersonChoices();
  const viewer = useViewer();
  const [who, set] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(DelegateApproval, true);
  const send = async () => {
    const o = await run({ input: { id: a.id, userId: who } });
    setFault(o.fault);
    if (o.fault) return;
    close();
    done();
    toast({ text: t('The decision was delegated.') });
  };
  return (
    <Dialog title={t('Delegate “{title}”', { title: a.title })} close={close}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Who decides in your place')} fault={faultAt(fault, 'userId')}><select value={who} onChange={(e) => { set(e.target.value); }}><option value="">{t('Choose…')}</option>{people.filter((u) => u.id !== viewer.id).map((u) => <option key={u.id} value={u.id}>{u.name}</option>)}</select></Field>
        <Rest fault={fault} fields={['userId']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy || !who}>{t('Delegate')}</button></footer>
      </form>
    </Dialog>
  );
}

function Stuck() {
  const read = usePages(Incidents, {});
  useTold(ExecutionMoved, {}, read.again, !useCan('execution.read'));
  const list = rows(read.data?.incidents).filter((i) => i.status === 'OPEN');
  if (read.fault && !read.data?.incidents) return <Section title={t('Workflow errors')}><Failed fault={read.fault} again={read.again} /></Section>;
  if (list.length === 0) return read.data ? null : <Wait />;
  return (
    <Section title={t('Workflow errors')}>
      <ul className="rows" aria-label={t('Workflow errors')}>{list.map((i) => <IncidentRow key={i.id} incident={i} linked />)}</ul>
      {read.data?.incidents?.pageInfo.hasNextPage && <More shown={list.length} total={read.data.incidents.totalCount} page={read.data.incidents.pageInfo} next={read.next} />}
    </Section>
  );
}
