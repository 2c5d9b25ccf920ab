// phase is the form of one phase of a definition, whatever its type.
import { useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { t } from '../../../app/text';
import { phaseType } from '../../../ui/bits';
import { holds } from '../../../parts/blocks';
import { Field } from '../../../ui/field';
import { AnswerForm, CallForm } from './apicall';
import { ApprovalForm } from './approval';
import { CalloutForm } from './callout';
import { Action, Level, type Does, type FormProps } from './common';
import { PhaseContext, useChoices, usePhase, useValues } from './context';
import { placeSaid } from './changewords';
import { CallWorkflowForm } from './callworkflow';
import { DataForm } from './data';
import type { Phase } from './definition';
import { DecisionForm } from './decision';
import { phaseId } from './edit';
import { EndForm, StartForm } from './ends';
import { NameField } from './namefield';
import { ForEachForm, JoinForm, ParallelForm } from './parallel';
import { Participants } from './people';
import { at, isObject, object, objects, put, text, within, type Json, type Problem } from './shape';
import { TaskFields, TaskForm } from './task';
import { TimerForm } from './timer';
import type { Renamed } from './use';
import './forms.css';

// Props are those of a phase. ways are its ways out, does is what a block can do besides, rename gives it another id, and renamed is which phase got one last.
interface Props { definition: unknown; id: string; problems: Problem[]; change: (phase: Json) => void; rename: (to: string) => boolean; renamed: Renamed; readOnly: boolean; ways: ReactNode; does: Does }

const forms: Record<string, (p: FormProps) => ReactNode> = {
  START: StartForm, PROCESS: TaskForm, DECISION: DecisionForm, DATA: DataForm, TIMER: TimerForm, APPROVAL: ApprovalForm, API_CALL: CallForm, CALL_WORKFLOW: CallWorkflowForm, WEBHOOK_CALLOUT: CalloutForm, END: EndForm, PARALLEL: ParallelForm, FOR_EACH: ForEachForm, JOIN: JoinForm,
};

// places are the places whose problems the forms show; others are said above.
const places = [
  'name', 'participants', 'sla', 'requestAction', 'config.title', 'config.instructions', 'config.dueMinutes', 'config.form', 'config.rules', 'config.default', 'config.kind', 'config.set', 'config.onInvalid', 'config.duration', 'config.until', 'config.calendarId',
  'config.approvers', 'config.shows', 'config.mode', 'config.quorum', 'config.deadline', 'config.method', 'config.url', 'config.headers', 'config.body', 'config.response', 'config.statusRules', 'config.retries', 'config.timeoutSeconds', 'config.event', 'config.data', 'config.signingSecret', 'config.workflowId', 'config.input', 'config.wait',
  'branches', 'in', 'as', 'maxParallel', 'join', 'onFault',
];

const answered = ['config.response', 'config.statusRules', 'config.retries', 'config.timeoutSeconds'];

// PhaseForm changes one phase. What is not written in it stays as it was sent.
export function PhaseForm({ definition, id, problems, change, rename, renamed, readOnly, ways, does }: Props) {
  const form = useRef({ id, n: 0 }); // another phase begins a form anew
  if (form.current.id !== id) form.current = { id, n: form.current.n + (renamed.from === form.current.id && renamed.to === id ? 0 : 1) };
  const choices = useChoices();
  const { id: workflow = '' } = useParams({ strict: false }) as { id?: string };
  const values = useValues(workflow, definition, id, choices.secrets);
  const phase = objects(object(definition)['phases']).find((p) => p['id'] === id);
  if (!phase) return null;
  const type = text(phase['type']);
  const Form = forms[type];
  const config = object(phase['config']);
  const save = (to: Json) => { if (JSON.stringify(to) !== JSON.stringify(phase)) change(to); };
  const set = (key: string, value: unknown) => {
    const to = put(config, key, value);
    save(put(phase, 'config', Object.keys(to).length > 0 || Object.hasOwn(phase, 'config') ? to : undefined));
  };
  const props: FormProps = { phase, config, set, change: save, does };
  const rest = problems.filter((p) => !(p.path === 'start' && type === 'FOR_EACH') && !places.some((place) => within(p.path, place)) && !(p.path === 'config' && type !== 'START' && type !== 'END' && type !== 'PROCESS'));
  const works = type === 'PROCESS' || (type === 'DATA' && config['onInvalid'] === 'ask');
  const people = objects(phase['participants']);
  const take = (to: Json[]) => { save(put(phase, 'participants', to.length > 0 ? to : undefined)); };
  const ends = type === 'START' || type === 'END' || holds(phase);
  return (
    <PhaseContext value={{ workflow, definition, id, problems, readOnly, values, ...choices }}>
      <fieldset key={form.current.n} className="phase-form stack" disabled={readOnly} aria-label={t('Phase “{name}”', { name: text(phase['name']) || phaseType(type) })}>
        {rest.length > 0 && <ul className="alert" role="alert">{rest.map((p) => <li key={p.path + p.message}>{[placeSaid(phase as Phase, p.path), p.message].filter(Boolean).join(': ')}</li>)}</ul>}
        <Field label={t('Name')} optional fault={at(problems, 'name')}><input dir="auto" maxLength={200} value={text(phase['name'])} onChange={(e) => { save(put(phase, 'name', e.target.value || undefined)); }} /></Field>
        {works && <Participants all={people} change={take} works signed={type === 'PROCESS'} only={'responsible'} />}
        {Form ? <Form {...props} /> : <p className="soft">{t('This type of phase can only be edited as JSON.')}</p>}
        {ways}
        {type === 'PROCESS' && <More label={t('Form of the task')} places={['config.form']} open={config['form'] !== undefined}><TaskFields {...props} /></More>}
        {type === 'API_CALL' && <More label={t('Response')} places={answered} open={answered.some((k) => config[k.slice(7)] !== undefined)}><AnswerForm {...props} /></More>}
        {(!ends || people.length > 0) && <More label={t('Who takes part')} places={['participants']} open={people.some((p) => !works || p['role'] !== 'responsible')}><Participants all={people} change={take} works={works} signed={type === 'PROCESS'} {...(works ? { only: 'others' as const } : {})} /></More>}
        {(works || type === 'APPROVAL' || isObject(phase['sla'])) && <More label={t('Service level')} places={['sla']} open={Object.keys(object(phase['sla'])).length > 0}><Level phase={phase} change={save} /></More>}
        {!ends && <More label={t('What happens to the request')} places={['requestAction']} open={typeof phase['requestAction'] === 'string'}><Action phase={phase} change={save} label={t('When the phase begins')} /></More>}
        <More label={t('Advanced')} places={[]} open={false}><Id id={id} rename={rename} /></More>
      </fieldset>
    </PhaseContext>
  );
}

// Id is how expressions name the phase.
function Id({ id, rename }: { id: string; rename: (to: string) => boolean }) {
  const take = (to: string) => (!phaseId.test(to) ? t('Use lowercase letters, digits and _ only, starting with a letter.') : rename(to) ? '' : t('Another phase has this name.'));
  return (
    <NameField
      label={t('Name in expressions')} hint={t('Expressions in this workflow are updated. Requests in this phase can move to a new version only if the name stays the same.')}
      value={id} take={take} input={{ className: 'mono', spellCheck: false, autoCapitalize: 'off', maxLength: 63 }}
    />
  );
}

// More is a part that is closed unless it says something, or something is wrong in it.
function More({ label, open, places, children }: { label: string; open: boolean; places: string[]; children: ReactNode }) {
  const faulty = usePhase().problems.some((p) => places.some((place) => within(p.path, place)));
  const [opened, set] = useState(open);
  useEffect(() => { if (faulty) set(true); }, [faulty]);
  return <details className="more" open={opened} onToggle={(e) => { set(e.currentTarget.open); }}><summary>{label}</summary><div className="stack">{opened && children}</div></details>;
}
