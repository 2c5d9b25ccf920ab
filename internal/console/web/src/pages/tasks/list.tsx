import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { rows, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, useCan, useViewer } from '../../app/session';
import { Approvals, Assignables, ClaimTask, CompleteTask, DecideApproval, DelegateApproval, Incidents, ResolveIncident, Tasks } from '../../gen/documents';
import type { TaskRowFragment } from '../../gen/types';
import { toSend, type Answers, type FormField } from '../../ui/answer';
import { Badge, Person, Time, words } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { FormFields } from '../../ui/formfields';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';
import { decides } from './seat';

// TaskList is what workflows wait for: work, decisions, and what went wrong.
export default function TaskList() {
  const viewer = useViewer();
  const staff = can(viewer, 'request.update');
  const { whose = staff ? 'all' : 'mine' } = useSearch({ strict: false }) as { whose?: string };
  const navigate = useNavigate();
  const [after, setAfter] = useState<string | null>(null);
  const set = (to: string) => { setAfter(null); void navigate({ to: '/app/tasks', search: { whose: to } as never, replace: true }); };
  const read = useRead(Tasks, { filter: { status: ['OPEN', 'IN_PROGRESS'], ...(whose === 'mine' ? { assigneeId: [viewer.id] } : {}) }, ...(after ? { after } : {}) });
  const [completing, setCompleting] = useState<TaskRowFragment | null>(null);
  const [claim] = useWrite(ClaimTask);
  return (
    <Page title="Tasks" intro="What workflows wait for.">
      <Decisions />
      {can(viewer, 'incident.read') && <Stuck />}
      <Section title="Open tasks" actions={staff && (
        <>
          <button type="button" className="plain small" aria-pressed={whose === 'all'} onClick={() => { set('all'); }}>Everybody’s</button>
          <button type="button" className="plain small" aria-pressed={whose === 'mine'} onClick={() => { set('mine'); }}>Mine</button>
        </>
      )}>
        <Loaded read={read}>
          {({ tasks }) => {
            const list = rows(tasks).filter((t) => t.status === 'OPEN' || t.status === 'IN_PROGRESS');
            return list.length === 0 ? <Empty title="No open tasks"><p>When a workflow asks for work, it stands here.</p></Empty> : (
              <><ul className="rows" aria-label="Open tasks">
                {list.map((t) => (
                  <li key={t.id} className="row">
                    <div>
                      {t.request ? <Link to="/app/requests/$id" params={{ id: t.request.id }} className="name">{t.title}</Link> : <span className="name">{t.title}</span>}
                      <div className="meta">
                        <Badge value={t.status} />
                        {t.dueAt && <span>Due <Time at={t.dueAt} /></span>}
                        {t.sla && <Badge value={t.sla.state} />}
                        {t.assignee ? <Person name={t.assignee.name} /> : <span>{t.team?.name ?? 'Nobody yet'}</span>}
                      </div>
                    </div>
                    <div className="verbs">
                      {can(viewer, 'task.claim', t) && !t.assigneeId && <button type="button" className="plain small" onClick={() => { void claim({ input: { id: t.id } }).then((o) => { if (!o.fault) toast({ text: `“${t.title}” is yours.` }); }); }}>Take<span className="hidden"> {t.title}</span></button>}
                      {can(viewer, 'task.complete', t) && <button type="button" className="small" onClick={() => { setCompleting(t); }}>Complete<span className="hidden"> {t.title}</span></button>}
                    </div>
                  </li>
                ))}
              </ul>
              {tasks?.pageInfo.hasNextPage && <More shown={list.length} total={tasks.totalCount} page={tasks.pageInfo} next={setAfter} />}</>
            );
          }}
        </Loaded>
      </Section>
      {completing && <Complete task={completing} close={() => { setCompleting(null); }} />}
    </Page>
  );
}

function Complete({ task: t, close }: { task: TaskRowFragment; close: () => void }) {
  const fields = (t.form as { fields?: FormField[] } | null)?.fields ?? [];
  const [draft, set, forget] = useDraft(`task ${t.id}`, { outcome: t.outcomes[0] ?? '', answers: {} as Answers });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CompleteTask, true);
  const corrections: FormField[] = t.corrections.map((c) => ({ key: c.field.replace(/^fields\./, ''), label: words(c.field.replace(/^fields\./, '')), type: 'text', help: c.message }));
  const asked = corrections.length > 0 ? corrections : fields;
  const send = async () => {
    const variables = toSend(asked, draft.answers);
    const o = await run({ input: { id: t.id, ...(draft.outcome ? { outcome: draft.outcome } : {}), ...(Object.keys(variables).length > 0 ? { variables } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    toast({ text: `Completed “${t.title}”.` });
  };
  return (
    <Dialog title={t.title} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        {t.instructions && <p className="prose">{t.instructions}</p>}
        <FormFields fields={asked} answers={draft.answers} set={(answers) => { set({ ...draft, answers }); }} fault={fault} prefix="variables" />
        {t.outcomes.length > 1 && (
          <Field label="Outcome" fault={faultAt(fault, 'outcome')}>
            <select value={draft.outcome} onChange={(e) => { set({ ...draft, outcome: e.target.value }); }}>{t.outcomes.map((o) => <option key={o} value={o}>{words(o)}</option>)}</select>
          </Field>
        )}
        <Rest fault={fault} fields={['outcome', ...asked.map((f) => `variables.${f.key}`)]} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy}>Complete</button></footer>
      </form>
    </Dialog>
  );
}

function Decisions() {
  const viewer = useViewer();
  const [after, setAfter] = useState<string | null>(null);
  const read = useRead(Approvals, { filter: { status: ['PENDING'] }, ...(after ? { after } : {}), me: viewer.id, staff: can(viewer, 'user.read') });
  const [run] = useWrite(DecideApproval);
  const [asking, setAsking] = useState<{ id: string; title: string; decision: 'APPROVE' | 'REJECT' } | null>(null);
  const [handing, setHanding] = useState<{ id: string; title: string } | null>(null);
  const [comment, setComment] = useState('');
  const list = rows(read.data?.approvals).filter((a) => a.status === 'PENDING');
  const teams = read.data?.user?.teamIds ?? [];
  const seat = (a: (typeof list)[number]) => decides(a, viewer.id, can(viewer, 'user.read') ? teams : null);
  if (list.length === 0) return null;
  const verb = asking?.decision === 'REJECT' ? 'Reject' : 'Approve';
  return (
    <Section title="Decisions that wait">
      <ul className="rows" aria-label="Approvals">
        {list.map((a) => (
          <li key={a.id} className="row">
            <div>
              {a.request ? <Link to="/app/requests/$id" params={{ id: a.request.id }} className="name">{a.title}</Link> : <span className="name">{a.title}</span>}
              <div className="meta"><span>{a.decisions.length} of {a.mode === 'quorum' ? a.quorum : a.mode === 'all' ? a.approvers.length : 1} decided</span>{a.expiresAt && <span>Until <Time at={a.expiresAt} /></span>}<Time at={a.createdAt} /></div>
            </div>
            {can(viewer, 'approval.decide') && seat(a) && <div className="verbs">
              <button type="button" className="small" onClick={() => { setAsking({ id: a.id, title: a.title, decision: 'APPROVE' }); }}>Approve<span className="hidden"> {a.title}</span></button>
              <button type="button" className="plain small" onClick={() => { setAsking({ id: a.id, title: a.title, decision: 'REJECT' }); }}>Reject<span className="hidden"> {a.title}</span></button>
              {can(viewer, 'approval.delegate') && can(viewer, 'user.read') && a.approvers.some((p) => p.id === viewer.id) && <button type="button" className="quiet small" onClick={() => { setHanding(a); }}>Delegate<span className="hidden"> {a.title}</span></button>}
            </div>}
          </li>
        ))}
      </ul>
      {read.data?.approvals?.pageInfo.hasNextPage && <More shown={list.length} total={read.data.approvals.totalCount} page={read.data.approvals.pageInfo} next={setAfter} />}
      {handing && <Delegate approval={handing} close={() => { setHanding(null); }} done={read.again} />}
      {asking && (
        <Dialog title={`${verb} “${asking.title}”?`} close={() => { setAsking(null); }}>
          <form className="stack" onSubmit={(e) => {
            e.preventDefault();
            void run({ input: { id: asking.id, decision: asking.decision, ...(comment ? { comment } : {}) } }).then((o) => {
              if (o.fault) return;
              toast({ text: verb === 'Reject' ? 'Rejected.' : 'Approved.' });
              setAsking(null);
              setComment('');
            });
          }}>
            <Field label="Comment" optional><textarea value={comment} onChange={(e) => { setComment(e.target.value); }} /></Field>
            <footer><button type="button" className="plain" onClick={() => { setAsking(null); }}>Cancel</button><button type="submit">{verb}</button></footer>
          </form>
        </Dialog>
      )}
    </Section>
  );
}

// Delegate puts somebody else into the person's place.
function Delegate({ approval: a, close, done }: { approval: { id: string; title: string }; close: () => void; done: () => void }) {
  const people = useRead(Assignables, {});
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
        <Field label="Who decides in your place" fault={faultAt(fault, 'userId')}><select autoFocus value={who} onChange={(e) => { set(e.target.value); }}><option value="">Choose…</option>{rows(people.data?.users).filter((u) => u.id !== viewer.id).map((u) => <option key={u.id} value={u.id}>{u.name}</option>)}</select></Field>
        <Rest fault={fault} fields={['userId']} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy || !who}>Delegate</button></footer>
      </form>
    </Dialog>
  );
}

function Stuck() {
  const [after, setAfter] = useState<string | null>(null);
  const read = useRead(Incidents, after ? { after } : {});
  const resolves = useCan('incident.resolve');
  const [run] = useWrite(ResolveIncident);
  const list = rows(read.data?.incidents).filter((i) => i.status === 'OPEN');
  if (list.length === 0) return null;
  const resolve = (id: string, action: 'RETRY' | 'SKIP') => { void run({ input: { id, action } }).then((o) => { if (!o.fault) toast({ text: action === 'RETRY' ? 'The phase is tried again.' : 'The phase was skipped.' }); }); };
  return (
    <Section title="What cannot go on by itself">
      <ul className="rows" aria-label="Incidents">
        {list.map((i) => (
          <li key={i.id} className="row">
            <div>
              {i.execution?.request ? <Link to="/app/requests/$id" params={{ id: i.execution.request.id }} className="name">{i.execution.request.title}</Link> : <span className="name">{i.execution?.workflow?.name}</span>}
              <div className="meta"><Badge value="FAILED">{words(i.phaseId)}</Badge><span>{i.message}</span><Time at={i.createdAt} /></div>
            </div>
            {resolves && <div className="verbs"><button type="button" className="plain small" onClick={() => { resolve(i.id, 'RETRY'); }}>Try again</button><button type="button" className="quiet small" onClick={() => { resolve(i.id, 'SKIP'); }}>Skip</button></div>}
          </li>
        ))}
      </ul>
      {read.data?.incidents?.pageInfo.hasNextPage && <More shown={list.length} total={read.data.incidents.totalCount} page={read.data.incidents.pageInfo} next={setAfter} />}
    </Section>
  );
}
