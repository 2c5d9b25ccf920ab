import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import { isNumeric } from '../../app/digits';
import type { Fault } from '../../app/fault';
import { useChanges, useSoon, useTold } from '../../app/live';
import { can, useCan, useViewer } from '../../app/session';
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

const statuses: [string, string][] = [['', 'Open'], ['COMPLETED', 'Completed'], ['CANCELLED', 'Cancelled'], [enums.TaskStatus.join(','), 'Any']];

// open reports whether somebody may still work a task.
const open = (t: TaskRowFragment) => t.status === 'OPEN' || t.status === 'IN_PROGRESS';

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
  const agents = useAgentChoices(!rows(read.data?.tasks).some((t) => t.agentId));
  const title = search.status ? 'Tasks' : 'Open tasks';
  const narrowed = search.status || search.assigneeId || search.teamId || search.requestId || search.executionId;
  const whole = () => {
    set({ requestId: '', executionId: '' });
    globalThis.document.getElementById('main')?.focus({ preventScroll: true }); // for the button goes
  };
  const [completing, setCompleting] = useAsked<TaskRowFragment | null>('complete', null);
  const [claim] = useWrite(ClaimTask);
  return (
    <Page title="Tasks" intro="What workflows wait for.">
      <Decisions />
      {can(viewer, 'incident.read') && <Stuck />}
      <Section title={title} actions={staff && (
        <>
          <button type="button" className="plain small" aria-pressed={!search.assigneeId} onClick={() => { set({ assigneeId: '' }); }}>Everybody’s</button>
          <button type="button" className="plain small" aria-pressed={search.assigneeId === viewer.id} onClick={() => { set({ assigneeId: viewer.id }); }}>Mine</button>
        </>
      )}>
        <search className="filters">
          <Field label="Status"><select value={search.status ?? ''} onChange={(e) => { set({ status: e.target.value }); }}>{search.status && !statuses.some(([v]) => v === search.status) && <option value={search.status}>{search.status.split(',').map(words).join(', ')}</option>}{statuses.map(([v, t]) => <option key={v} value={v}>{t}</option>)}</select></Field>
          {(teams.length > 0 || search.teamId) && <Field label="Team"><select value={search.teamId ?? ''} onChange={(e) => { set({ teamId: e.target.value }); }}><option value="">Any</option><Choices of={[{ id: 'none', name: 'No team' }, ...teams]} now={search.teamId} /></select></Field>}
        </search>
        {(search.requestId || search.executionId) && <p className="line filters"><span className="chip">Of one {search.requestId ? 'request' : 'execution'} alone</span><button type="button" className="plain small" onClick={whole}>Show all tasks</button></p>}
        <Loaded read={read}>
          {({ tasks }) => {
            const list = rows(tasks).filter((t) => read.behind || filter.status?.includes(t.status));
            return list.length === 0 && !tasks?.pageInfo.hasNextPage ? <Empty title={narrowed ? 'No task matches' : 'No open tasks'}><p>{narrowed ? 'Take a filter away.' : 'When a workflow asks for work, it stands here.'}</p></Empty> : (
              <><ul className="rows" aria-label={title}>
                {list.map((t) => (
                  <li key={t.id} className="row">
                    <div>
                      {t.request ? <Link to="/app/requests/$id" params={{ id: t.request.id }} className="name">{t.title}</Link> : <span className="name">{t.title}</span>}
                      <div className="meta">
                        <Badge value={t.status} />
                        {t.completedAt ? <span>Done <Time at={t.completedAt} /></span> : t.dueAt && <span>Due <Time at={t.dueAt} /></span>}
                        {t.sla && <Badge value={t.sla.state} />}
                        {t.assigneeId ? <Who id={t.assigneeId} person={t.assignee} /> : <span>{t.agentId ? agents.find((a) => a.id === t.agentId)?.name ?? 'An agent' : t.team?.name ?? (t.teamId ? 'A team' : 'Nobody yet')}</span>}
                      </div>
                    </div>
                    <div className="verbs">
                      {open(t) && can(viewer, 'task.claim', t) && !t.assigneeId && <button type="button" className="plain small" onClick={() => { void claim({ input: { id: t.id } }).then((o) => { if (!o.fault) toast({ text: `“${t.title}” is yours.` }); }); }}>Take<span className="hidden"> {t.title}</span></button>}
                      {open(t) && can(viewer, 'task.complete', t) && <button type="button" className="small" onClick={() => { setCompleting(t); }}>Complete<span className="hidden"> {t.title}</span></button>}
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
function Complete({ task: t, close }: { task: TaskRowFragment; close: () => void }) {
  const id = t.corrections.length > 0 ? t.request?.id : undefined;
  const read = useRead(CorrectedRequest, { id: id ?? '' }, !id);
  return (
    <Dialog title={t.title} close={close}>
      {id ? <Loaded read={read} skeleton={3}>{({ request }) => <Completion task={t} request={request} close={close} />}</Loaded> : <Completion task={t} request={null} close={close} />}
    </Dialog>
  );
}

const fieldsOf = (form: unknown) => (form as { fields?: FormField[] } | null | undefined)?.fields ?? [];

function Completion({ task: t, request: r, close }: { task: TaskRowFragment; request: CorrectedRequestQuery['request']; close: () => void }) {
  const form = fieldsOf(r?.offering?.form);
  const now = (r?.fields ?? {}) as Answers;
  const [draft, set, forget, base] = useDraft(`task ${t.id}`, { outcome: t.outcomes[0] ?? '', answers: now });
  const said = new Map<string, string>(); // what is wrong, by field
  for (const c of t.corrections) {
    const key = c.field.replace(/^fields\./, '');
    said.set(key, [said.get(key), c.message].filter(Boolean).join(' '));
  }
  // With the corrections goes what the form requires then and the request does not say: without it the server takes none.
  const asked: FormField[] = t.corrections.length === 0 ? fieldsOf(t.form) : [
    ...form.filter((f) => said.has(f.key) || (f.required && visible(f, form, draft.answers) && typed(f, now[f.key]) === undefined)),
    ...[...said.keys()].filter((key) => !form.some((f) => f.key === key)).map((key): FormField => ({ key, type: isNumeric(now[key]) ? 'number' : typeof now[key] === 'boolean' ? 'boolean' : 'text', label: words(key) })),
  ].map((f) => ({ ...f, help: said.get(f.key) ?? f.help, visibleWhen: null }));
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CompleteTask, true);
  const send = async () => {
    const cleared = asked.filter((f) => f.key in now && typed(f, draft.answers[f.key]) === undefined).map((f) => [f.key, null] as const);
    const variables = { ...Object.fromEntries(cleared), ...toSend(asked, draft.answers) };
    const o = await run({ input: { id: t.id, ...(draft.outcome ? { outcome: draft.outcome } : {}), ...(Object.keys(variables).length > 0 ? { variables } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    toast({ text: `Completed “${t.title}”.` });
  };
  return (
    <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
      {t.instructions && <p className="prose">{t.instructions}</p>}
      <FormFields fields={asked} answers={draft.answers} set={(to) => { set({ ...draft, answers: to }); }} fault={fault} prefix="variables" offering={t.corrections.length > 0 ? r?.offering?.id : undefined} />
      {t.outcomes.length > 1 && (
        <Field label="Outcome" fault={faultAt(fault, 'outcome')}>
          <select value={draft.outcome} onChange={(e) => { set({ ...draft, outcome: e.target.value }); }}>{t.outcomes.map((o) => <option key={o} value={o}>{words(o)}</option>)}</select>
        </Field>
      )}
      <Rest base={base} fault={fault} fields={['outcome', ...asked.map((f) => `variables.${f.key}`)]} />
      <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy}>Complete</button></footer>
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
  if (read.fault && !read.data?.approvals) return <Section title="Decisions that wait"><Failed fault={read.fault} again={read.again} /></Section>;
  if (list.length === 0) return read.data ? null : <Wait />;
  return (
    <Section title="Decisions that wait">
      <ul className="rows" aria-label="Approvals">
        {list.map((a) => (
          <li key={a.id} className="row">
            <div>
              {a.request ? <Link to="/app/requests/$id" params={{ id: a.request.id }} className="name">{a.request.title}</Link> : <span className="name">{a.title}</span>}
              <div className="meta">{a.request && <strong>{a.title}</strong>}<span>{a.decisions.length} of {a.mode === 'quorum' ? a.quorum : a.mode === 'all' ? a.approvers.length : 1} decided</span>{a.expiresAt && <span>Until <Time at={a.expiresAt} /></span>}<Time at={a.createdAt} /></div>
            </div>
            {a.viewerMayDecide && <div className="verbs">
              <button type="button" className="small" onClick={() => { setAsking({ ...a, decision: 'APPROVE' }); }}>Approve<span className="hidden"> {a.request?.title ?? a.title}</span></button>
              <button type="button" className="plain small" onClick={() => { setAsking({ ...a, decision: 'REJECT' }); }}>Reject<span className="hidden"> {a.request?.title ?? a.title}</span></button>
              {can(viewer, 'approval.delegate') && can(viewer, 'user.read') && a.approvers.some((p) => p.id === viewer.id) && <button type="button" className="quiet small" onClick={() => { setHanding(a); }}>Delegate<span className="hidden"> {a.request?.title ?? a.title}</span></button>}
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
  const verb = a.decision === 'REJECT' ? 'Reject' : 'Approve';
  const send = async () => {
    const o = await run({ input: { id: a.id, decision: a.decision, ...(comment ? { comment } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    close();
    toast({ text: verb === 'Reject' ? 'Rejected.' : 'Approved.' });
  };
  return (
    <Dialog title={`${verb} “${a.request?.title ?? a.title}”?`} close={close}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        {a.request && <p><strong>{a.title}</strong>{about && <span className="soft"> {about.service?.name} › {about.offering?.name}, filed <Time at={about.createdAt} /></span>}</p>}
        {about?.description && <p className="prose description">{about.description}</p>}
        {about && <Given request={about} />}
        <Field label="Comment" optional fault={faultAt(fault, 'comment')}><textarea value={comment} onChange={(e) => { set(e.target.value); }} /></Field>
        <Rest fault={fault} fields={['comment']} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy}>{verb}</button></footer>
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
    toast({ text: 'Somebody else decides in your place.' });
  };
  return (
    <Dialog title={`Delegate “${a.title}”`} close={close}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label="Who decides in your place" fault={faultAt(fault, 'userId')}><select value={who} onChange={(e) => { set(e.target.value); }}><option value="">Choose…</option>{people.filter((u) => u.id !== viewer.id).map((u) => <option key={u.id} value={u.id}>{u.name}</option>)}</select></Field>
        <Rest fault={fault} fields={['userId']} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy || !who}>Delegate</button></footer>
      </form>
    </Dialog>
  );
}

function Stuck() {
  const read = usePages(Incidents, {});
  useTold(ExecutionMoved, {}, read.again, !useCan('execution.read'));
  const list = rows(read.data?.incidents).filter((i) => i.status === 'OPEN');
  if (read.fault && !read.data?.incidents) return <Section title="What cannot go on by itself"><Failed fault={read.fault} again={read.again} /></Section>;
  if (list.length === 0) return read.data ? null : <Wait />;
  return (
    <Section title="What cannot go on by itself">
      <ul className="rows" aria-label="Incidents">{list.map((i) => <IncidentRow key={i.id} incident={i} linked />)}</ul>
      {read.data?.incidents?.pageInfo.hasNextPage && <More shown={list.length} total={read.data.incidents.totalCount} page={read.data.incidents.pageInfo} next={read.next} />}
    </Section>
  );
}
