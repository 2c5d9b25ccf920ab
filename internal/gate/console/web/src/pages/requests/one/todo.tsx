// todo is what the workflow of a request asks people for. It is done here: tasks by their forms, decisions by their buttons.
import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useAsked } from '../../../app/asked';
import { rows, useAll, useRead } from '../../../app/data';
import { useChangesOf, useSoon } from '../../../app/live';
import { can, useCan, useViewer } from '../../../app/session';
import { placed, plural, t } from '../../../app/text';
import { RequestApprovals, RequestTasks, RequestWork } from '../../../gen/documents';
import type { ApprovalRowFragment, WorkApprovalsFragment, WorkTasksFragment } from '../../../gen/types';
import { decided, Delegate, mayDelegate, useDecide } from '../../../parts/approval';
import { useAgentChoices, usePersonChoices, useTeamChoices } from '../../../parts/choices';
import { Completion, open, Take, TaskMeta } from '../../../parts/task';
import { Earlier } from '../../../parts/shown';
import { nameOf } from '../../../parts/who';
import type { Fault } from '../../../app/fault';
import { Badge, Expires, Time, words } from '../../../ui/bits';
import { useDraft } from '../../../ui/draft';
import { focusSoon } from '../../../ui/focus';
import { Field, Rest, faultAt } from '../../../ui/field';
import { Section } from '../../../ui/page';
import { Failed, Wait } from '../../../ui/states';
import type { FullRequest } from '../detail';
import { Given } from './given';

export type Task = WorkTasksFragment['edges'][number]['node'];
type Approval = WorkApprovalsFragment['edges'][number]['node'];

const page = 50; // of what RequestWork brings of each

export function Todo({ request: r }: { request: FullRequest }) {
  const sees = useCan('task.read');
  const { decide } = useSearch({ strict: false }) as { decide?: string }; // by the links of a mail
  const read = useRead(RequestWork, { id: [r.id] }, !sees);
  const [fewTasks, fewApprovals] = [(read.data?.tasks?.totalCount ?? 0) <= page, (read.data?.approvals?.totalCount ?? 0) <= page];
  const [allTasks, allApprovals] = [useAll(RequestTasks, { id: [r.id] }, fewTasks), useAll(RequestApprovals, { id: [r.id] }, fewApprovals)]; // the cache joins them to those that are there
  const again = () => {
    read.again();
    if (!fewTasks) allTasks.again();
    if (!fewApprovals) allApprovals.again();
  };
  const soon = useSoon(again, 1000);
  useChangesOf(r.id, soon, !sees);
  const at = `${r.execution?.status} ${r.execution?.phases.length}`; // where its workflow has gone on to asks something else
  const [was, setWas] = useState(at);
  if (was !== at) {
    setWas(at);
    soon();
  }
  const tasks = rows(read.data?.tasks);
  const approvals = rows(read.data?.approvals);
  const title = t('Tasks and decisions');
  if (read.fault && !read.data?.tasks) return <Section title={title}><Failed fault={read.fault} again={again} /></Section>;
  if (tasks.length + approvals.length === 0) return read.data || !sees ? null : <Wait />;
  const todo = tasks.filter(open);
  const pending = approvals.filter((a) => a.status === 'PENDING');
  const asked = pending.find((a) => a.viewerMayDecide);
  return (
    <Section title={title}>
      <div className="stack todo">
        {pending.map((a) => <Decision key={a.id} approval={a} again={again} asked={a === asked ? decide : undefined} />)}
        {todo.map((task) => <Job key={task.id} task={task} />)}
        <Done tasks={tasks.filter((task) => !open(task))} approvals={approvals.filter((a) => a.status !== 'PENDING')} />
      </div>
    </Section>
  );
}

// Job is an open task. Its form is there for whom it waits for; others who may do it ask for it first.
function Job({ task }: { task: Task }) {
  const viewer = useViewer();
  const may = can(viewer, 'task.complete', task);
  const theirs = Boolean(task.assigneeId) && task.assigneeId !== viewer.id;
  const [instead, setInstead] = useState(false);
  const agents = useAgentChoices(!task.agentId);
  return (
    <article className="card job" aria-label={t('Task: {title}', { title: task.title })}>
      <header className="line"><strong dir="auto">{task.title}</strong><span className="grow" /><Take task={task} />{may && theirs && !instead && <button type="button" className="plain small" onClick={() => { setInstead(true); }}>{t('Do it for them')}</button>}</header>
      <TaskMeta task={task} agents={agents} />
      <Earlier results={task.shown} />
      {may && (!theirs || instead) ? <Completion task={task} verb={t('Mark as done')} {...(theirs ? { cancel: () => { setInstead(false); } } : {})} /> : task.instructions && <p className="prose" dir="auto">{task.instructions}</p>}
    </article>
  );
}

// useNames are the people and teams by their ids, as far as the viewer knows them.
function useNames(pause = false) {
  const viewer = useViewer();
  const named = new Map([...usePersonChoices(pause), ...useTeamChoices(pause)].map((x) => [x.id, x.name]));
  return (id: string) => named.get(id) ?? nameOf(viewer, id, null) ?? '';
}

function Decision({ approval: a, again, asked }: { approval: Approval; again: () => void; asked: string | undefined }) {
  const viewer = useViewer();
  const names = useNames();
  const [handing, setHanding] = useAsked('delegate', false);
  const left = a.approvers.filter((p) => !a.decisions.some((d) => d.by === p.id));
  return (
    <article
      className={`card job${a.viewerMayDecide ? ' waits' : ''}`} // not said
      aria-label={t('Decision: {title}', { title: a.title })}
    >
      <header className="line"><strong dir="auto">{a.title}</strong><Badge value="WARNING">{t('Decision')}</Badge></header>
      <div className="meta">
        <span>{decided(a)}</span>
        {left.length > 0 && <span>{placed(t('waits for {who}'), { who: <span dir="auto">{left.map((p) => names(p.id)).join(', ')}</span> })}</span>}
        {a.expiresAt && <Expires at={a.expiresAt} />}
      </div>
      <Earlier results={a.shown} />
      <Said approval={a} names={names} />
      {a.viewerMayDecide && <Deciding approval={a} asked={asked} {...(mayDelegate(viewer, a) ? { delegate: () => { setHanding(true); } } : {})} />}
      {handing && <Delegate approval={a} close={() => { setHanding(false); }} done={again} />}
    </article>
  );
}

// Said are the decisions that were made, each with what was said about it.
function Said({ approval: a, names }: { approval: ApprovalRowFragment; names: (id: string) => string }) {
  if (a.decisions.length === 0) return null;
  return (
    <ul className="said">
      {a.decisions.map((d) => (
        <li key={d.by}>{placed(d.approve ? t('{who} approved {when}') : t('{who} rejected {when}'), { who: <strong dir="auto">{names(d.by)}</strong>, when: <Time at={d.at} /> })}{d.comment && <span dir="auto">: {t('“{text}”', { text: d.comment })}</span>}</li>
      ))}
    </ul>
  );
}

// Deciding is the form of a decision. A mail's link to one of its buttons brings the reader there; they press it themselves.
function Deciding({ approval: a, asked, delegate }: { approval: ApprovalRowFragment; asked: string | undefined; delegate?: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (asked === 'approve' || asked === 'reject') focusSoon(() => form.current?.querySelector<HTMLElement>(`[name=${asked}]`), true);
  }, [asked]);
  const [draft, set, forget, base] = useDraft(`decide ${a.id}`, { comment: '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const [decide, busy] = useDecide();
  const send = async (decision: 'APPROVE' | 'REJECT') => {
    const refused = await decide(a, decision, draft.comment);
    setFault(refused);
    if (!refused) forget();
  };
  return (
    <form ref={form} className="stack" onSubmit={(e) => { e.preventDefault(); void send('APPROVE'); }}>
      <Field label={t('Reason for the decision')} optional fault={faultAt(fault, 'comment')}><textarea rows={2} className="short" dir="auto" value={draft.comment} onChange={(e) => { set({ comment: e.target.value }); }} /></Field>
      <Rest base={draft.comment ? base : undefined} fault={fault} fields={['comment']} />
      <footer>
        {delegate && <button type="button" className="quiet" onClick={delegate}>{t('Delegate')}</button>}
        <button type="button" name="reject" className="plain" disabled={busy} onClick={() => { void send('REJECT'); }}>{t('Reject')}</button>
        <button type="submit" name="approve" disabled={busy}>{t('Approve')}</button>
      </footer>
    </form>
  );
}

// Done is what was asked and answered, folded.
function Done({ tasks, approvals }: { tasks: Task[]; approvals: ApprovalRowFragment[] }) {
  const names = useNames(tasks.length + approvals.length === 0);
  if (tasks.length + approvals.length === 0) return null;
  return (
    <details className="done">
      <summary>{plural(tasks.length + approvals.length, '{n} done', '{n} done')}</summary>
      <ul className="rows" aria-label={t('Done')}>
        {approvals.map((a) => <li key={a.id} className="row"><div><span dir="auto">{a.title}</span><div className="meta"><Badge value={a.status} /><span>{t('Decision')}</span></div><Said approval={a} names={names} /></div></li>)}
        {tasks.map((task) => (
          <li key={task.id} className="row">
            <div>
              <span dir="auto">{task.title}</span>
              <div className="meta"><Badge value={task.status} />{task.outcome && task.outcome !== 'next' && <span>{words(task.outcome)}</span>}{task.completedBy && <span dir="auto">{names(task.completedBy)}</span>}{task.completedAt && <Time at={task.completedAt} />}</div>
              <Given values={task.variables} form={task.form} />
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}
