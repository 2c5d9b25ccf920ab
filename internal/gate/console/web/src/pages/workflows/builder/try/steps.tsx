// steps are what a trial went through, each with what happened in it in words.
import type { ReactNode } from 'react';
import { t } from '../../../../app/text';
import type { Fault } from '../../../../app/fault';
import { useConditionWords } from '../../../../parts/conditionsaid';
import { BranchOf } from '../../../../parts/branch';
import { phaseType } from '../../../../ui/bits';
import { useWorkflowChoices } from '../../../../parts/choices';
import type { Answers } from '../../../../ui/answer';
import { phaseOf, type Definition } from '../definition';
import { called, kinds } from '../kinds';
import { isObject, object } from '../shape';
import { answered, called as calledAs, turnOf, waiting, type Ask, type Given, type Step, type Trial } from './answers';
import { GiveAsked, GiveCalled, GiveReturned } from './give';
import { answerSaid, asksSaid, calledSaid, callSaid, leaves, passes, starts, wentSaid, wrong } from './words';

// Props are those of all steps. changing is the question that is answered anew, and give gives an answer among those that were given.
interface Props {
  trial: Trial; definition: Definition; workflow: string; stale: boolean; selected: string; select: (id: string) => void; fields: Answers; fault: Fault | null; busy: boolean;
  changing: string; change: (question: string) => void; give: (answer: (given: Given) => Given) => void;
}

export function Steps({ trial, ...props }: Props) {
  const workflows = useWorkflowChoices(!trial.steps.some((s) => s.type === 'CALL_WORKFLOW'));
  const names = new Map(workflows.map((w) => [w.id, w.name]));
  return (
    <ol className="try-steps" aria-label={t('Steps')} aria-busy={props.busy}>
      {trial.steps.map((step, i) => <OneStep key={i} {...props} trial={trial} step={step} n={i} names={names} />)}
    </ol>
  );
}

function OneStep({ step, n, names, ...props }: Props & { step: Step; n: number; names: Map<string, string> }) {
  const { trial, definition: d, selected, select } = props;
  const Icon = kinds[step.type]?.icon;
  const show = () => {
    select(step.phaseId);
    globalThis.document.querySelector(`[data-phase="${CSS.escape(step.phaseId)}"]`)?.scrollIntoView({ block: 'nearest' });
  };
  const waits = waiting(trial).includes(step);
  const went = wentSaid(step, d);
  return (
    <li>
      <button type="button" className="try-phase" aria-current={selected === step.phaseId || undefined} onClick={show}>
        {Icon && <Icon size={15} aria-hidden />}{step.branch && <BranchOf path={step.branch} />}<strong className="grow" dir="auto">{nameOf(step, d)}</strong><span className="soft small-text">{phaseType(step.type)}</span>
      </button>
      {passes(step).map((says) => <p key={says}>{says}</p>)}
      {step.asks.map((ask, i) => <Asked key={i} {...props} step={step} ask={ask} at={i} question={`${n} ask ${i}`} open={waits && i === step.asks.length - 1} />)}
      {step.calls.map((call, i) => (
        <div key={i} className="try-part">
          <p>{callSaid(call, names)}</p>
          <Sent of={call.sent} />
          {calledSaid(call) && <p>{calledSaid(call)}</p>}
        </div>
      ))}
      {step.calls.length > 0 && !goesOn(step, d) && <Called {...props} step={step} question={`${n} call`} open={waits} />}
      {wrong(step).map((says) => <p key={says} className="fault">{says}</p>)}
      {leaves(step).map((says) => <p key={says}>{says}</p>)}
      {step.rules.length > 0 && went ? <Went {...props} step={step} /> : went && <p>{went}</p>}
      {(holds(step.input) || holds(step.output)) && <details><summary>{t('Input and output')}</summary>{holds(step.input) && <><h3>{t('Input')}</h3><pre tabIndex={0}>{JSON.stringify(step.input, null, 1)}</pre></>}{holds(step.output) && <><h3>{t('Output')}</h3><pre tabIndex={0}>{JSON.stringify(step.output, null, 1)}</pre></>}</details>}
    </li>
  );
}

// nameOf is what the phase of a step is called, as in the outline; the phase may have gone since.
const nameOf = (step: Step, d: Definition) => (phaseOf(d, step.phaseId) ? called(d, step.phaseId) : step.name);

// goesOn reports whether a step starts a workflow and does not wait for it: nothing answers it then.
const goesOn = (step: Step, d: Definition) => step.type === 'CALL_WORKFLOW' && object(phaseOf(d, step.phaseId)?.['config'])['wait'] === false;

const holds = (v: unknown) => v !== null && v !== undefined && !(isObject(v) && Object.keys(v).length === 0);

// Went says the condition by which a decision went on as its rows do.
function Went({ step, definition: d, workflow }: Props & { step: Step }) {
  const said = useConditionWords('DECISION', { id: workflow, phaseId: step.phaseId, definition: d });
  return <p>{wentSaid(step, d, said)}</p>;
}

function Sent({ of }: { of: unknown }) {
  const { method: _method, url: _url, workflowId, executionId: _executionId, input, ...others } = object(of);
  const rest = workflowId === undefined ? others : object(input);
  if (Object.keys(rest).length === 0) return null;
  return <details><summary>{workflowId === undefined ? t('What it would send') : t('What it is given')}</summary><pre tabIndex={0}>{JSON.stringify(rest, null, 1)}</pre></details>;
}

interface QuestionProps extends Props { step: Step; question: string; open: boolean }

// Asked is a question to people: who is asked, what was answered, and what can be answered instead.
function Asked({ step, ask, at, question, open, ...props }: QuestionProps & { ask: Ask; at: number }) {
  const { trial: { steps }, definition: d, fault, busy, give } = props;
  // That a task is signed off is part of its answer.
  const now = object((ask.kind === 'SIGN_OFF' ? step.asks.slice(0, at).findLast((a) => a.kind !== 'SIGN_OFF') : ask)?.answer);
  return (
    <div className="try-part">
      <p>{asksSaid(ask, step)}</p>
      <Answer {...props} step={step} question={question} open={open} says={answerSaid(ask)}>
        <GiveAsked ask={ask} step={step} phase={phaseOf(d, step.phaseId)} fields={props.fields} name={nameOf(step, d)} now={now} busy={busy} fault={fault} prefix={`answers.${step.phaseId}[${turnOf(steps, step, at)}]`} give={(a) => { give((given) => answered(given, steps, step, at, a)); }} />
      </Answer>
    </div>
  );
}

function Called({ step, question, open, ...props }: QuestionProps) {
  const { fault, busy, give } = props;
  const Give = step.calls.some(starts) ? GiveReturned : GiveCalled;
  return (
    <Answer {...props} step={step} question={question} open={open} says="">
      <Give phaseId={step.phaseId} name={nameOf(step, props.definition)} now={object(step.calls.at(-1)?.answer)} busy={busy} fault={fault} prefix={`answers.${step.phaseId}`} give={(a) => { give((given) => calledAs(given, step, a)); }} />
    </Answer>
  );
}

// Answer is what was answered, with a button to answer otherwise; what is open is asked for.
function Answer({ step, question, open, says, changing, change, busy, children, ...props }: QuestionProps & { says: string; children: ReactNode }) {
  const opened = open || changing === question;
  return (
    <>
      {(says || !open) && (
        <p className="line">
          {says && <span className="grow">{says}</span>}
          {!open && <button type="button" className="quiet small" disabled={busy} aria-expanded={opened} aria-label={t('Change answer: {name}', { name: nameOf(step, props.definition) })} onClick={() => { change(opened ? '' : question); }}>{t('Change answer')}</button>}
        </p>
      )}
      {opened && children}
    </>
  );
}
