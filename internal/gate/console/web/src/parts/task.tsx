// task is how a task of a workflow is done, wherever it stands: what it asks, and a button for each outcome.
import { useState } from 'react';
import { useRead, useWrite } from '../app/data';
import { isNumeric } from '../app/digits';
import type { Fault } from '../app/fault';
import { can, useViewer } from '../app/session';
import { placed, t } from '../app/text';
import { ClaimTask, CompleteTask, CorrectedRequest } from '../gen/documents';
import type { CorrectedRequestQuery, TaskRowFragment } from '../gen/types';
import { toSend, typed, visible, type Answers, type FormField } from '../ui/answer';
import { Badge, Time, words } from '../ui/bits';
import { Dialog } from '../ui/dialog';
import { useDraft } from '../ui/draft';
import { Rest, faultAt } from '../ui/field';
import { FormFields, asked as askedBy } from '../ui/formfields';
import { Loaded } from '../ui/page';
import { toast } from '../ui/toast';
import { EarlierOfTask } from './shown';
import { Who } from './who';

// open reports whether somebody may still work a task.
export const open = (task: { status: string }) => task.status === 'OPEN' || task.status === 'IN_PROGRESS';

// TaskMeta is how a task stands: until when it is due or since when it is done, and whose it is.
export function TaskMeta({ task, agents = [] }: { task: TaskRowFragment; agents?: { id: string; name: string }[] }) {
  return (
    <div className="meta">
      <Badge value={task.status} />
      {task.completedAt ? <span>{placed(t('done {when}'), { when: <Time at={task.completedAt} /> })}</span> : task.dueAt && <span>{placed(t('due {when}'), { when: <Time at={task.dueAt} /> })}</span>}
      {task.sla && <Badge value={task.sla.state} />}
      {task.assigneeId ? <Who id={task.assigneeId} person={task.assignee} /> : <span dir="auto">{task.agentId ? agents.find((a) => a.id === task.agentId)?.name ?? t('An AI agent') : task.team?.name ?? (task.teamId ? t('A team') : t('Nobody yet'))}</span>}
    </div>
  );
}

// Take gives a task that nobody has to the person.
export function Take({ task }: { task: TaskRowFragment }) {
  const viewer = useViewer();
  const [claim, busy] = useWrite(ClaimTask);
  if (!open(task) || task.assigneeId || !can(viewer, 'task.claim', task)) return null;
  const take = async () => {
    const o = await claim({ input: { id: task.id } });
    if (!o.fault) toast({ text: t('“{title}” is assigned to you.', { title: task.title }) });
  };
  return <button type="button" className="plain small" aria-label={t('Take {title}', { title: task.title })} disabled={busy} onClick={() => { void take(); }}>{t('Take')}</button>;
}

interface Props { task: TaskRowFragment; verb: string; done?: () => void; cancel?: () => void }

// Completion asks what the task's form asks, or for the corrections: in the request's own fields, for its form says what they take.
export function Completion(props: Props) {
  const id = props.task.corrections.length > 0 ? props.task.request?.id : undefined;
  const read = useRead(CorrectedRequest, { id: id ?? '' }, !id);
  return id ? <Loaded read={read} skeleton={3}>{({ request }) => <Form {...props} request={request} />}</Loaded> : <Form {...props} request={null} />;
}

// CompletionDialog is Completion where a list has the task, with the results that it shows.
export function CompletionDialog({ task, close }: { task: TaskRowFragment; close: () => void }) {
  return <Dialog title={task.title} close={close}><EarlierOfTask id={task.id} /><Completion task={task} verb={t('Complete')} done={close} cancel={close} /></Dialog>;
}

const fieldsOf = (form: unknown) => (form as { fields?: FormField[] } | null | undefined)?.fields ?? [];

// askedOf are the questions of a task. With the corrections goes what the form requires then and the request does not say: without it
// the server takes none.
function askedOf(task: TaskRowFragment, r: CorrectedRequestQuery['request'], answers: Answers): FormField[] {
  if (task.corrections.length === 0) return fieldsOf(task.form);
  const form = fieldsOf(r?.offering?.form);
  const now = (r?.fields ?? {}) as Answers;
  const said = new Map<string, string>(); // what is wrong, by field
  for (const c of task.corrections) {
    const key = c.field.replace(/^fields\./, '');
    said.set(key, [said.get(key), c.message].filter(Boolean).join(' '));
  }
  return [
    ...form.filter((f) => said.has(f.key) || (f.required && visible(f, form, answers) && typed(f, now[f.key]) === undefined)),
    ...[...said.keys()].filter((key) => !form.some((f) => f.key === key)).map((key): FormField => ({ key, type: isNumeric(now[key]) ? 'number' : typeof now[key] === 'boolean' ? 'boolean' : 'text', label: words(key) })),
  ].map((f) => ({ ...f, help: said.get(f.key) ?? f.help, visibleWhen: null }));
}

function Form({ task, verb, done, cancel, request: r }: Props & { request: CorrectedRequestQuery['request'] }) {
  const now = (r?.fields ?? {}) as Answers;
  const [draft, set, forget, base] = useDraft(`task ${task.id}`, { answers: now });
  const asked = askedOf(task, r, draft.answers);
  const [fault, setFault] = useState<Fault | null>(null);
  const [sending, setSending] = useState(false);
  const [run, busy] = useWrite(CompleteTask, true);
  const send = async (outcome: string | undefined) => {
    const cleared = asked.filter((f) => f.key in now && typed(f, draft.answers[f.key]) === undefined).map((f) => [f.key, null] as const);
    const variables = { ...Object.fromEntries(cleared), ...toSend(asked, draft.answers) };
    const o = await run({ input: { id: task.id, ...(outcome ? { outcome } : {}), ...(Object.keys(variables).length > 0 ? { variables } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    done?.();
    toast({ text: t('Completed “{title}”.', { title: task.title }) });
  };
  const [first, ...others] = task.outcomes;
  return (
    <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(first); }}>
      {task.instructions && <p className="prose" dir="auto">{task.instructions}</p>}
      <FormFields fields={asked} answers={draft.answers} set={(to) => { set({ answers: to }); }} fault={fault} prefix="variables" offering={task.corrections.length > 0 ? r?.offering?.id : undefined} sending={setSending} noFiles={task.requestId ? undefined : t('This task belongs to no request, which would keep files.')} />
      {faultAt(fault, 'outcome') && <p className="fault">{faultAt(fault, 'outcome')}</p>}
      <Rest base={base} fault={fault} fields={['outcome', ...askedBy(fault, asked, 'variables')]} />
      <footer>
        {cancel && <button type="button" className="plain" onClick={cancel}>{t('Cancel')}</button>}
        {others.map((o) => <button key={o} type="button" className="plain" disabled={busy || sending} onClick={() => { void send(o); }}>{words(o)}</button>)}
        <button type="submit" disabled={busy || sending}>{first && others.length > 0 ? words(first) : verb}</button>
      </footer>
    </form>
  );
}
