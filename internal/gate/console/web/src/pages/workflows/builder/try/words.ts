// words say what a trial has found, step by step.
import { plural, t } from '../../../../app/text';
import { opens } from '../../../../parts/blocks';
import { lasting, momentSaid, words } from '../../../../ui/bits';
import { called, exitName, wayName } from '../kinds';
import { phaseOf, type Definition } from '../definition';
import { ruleSaid } from '../rules';
import { object, text } from '../shape';
import { invalid, waiting, type Ask, type Call, type Step, type Trial } from './answers';

// namesOf are the names of people, teams and agents, as they stand within a sentence. One that the viewer does not see has none.
function namesOf(all: readonly { type: string; id: string; name?: string | null }[]): string {
  return all.map((p) => p.name ?? inQuotes(ruleSaid({ type: p.type, answer: p.id })) ?? nobody(p.type)).join(', ');
}

const inQuotes = (rule: string): string | undefined => (rule ? t('“{name}”', { name: rule }) : undefined);
const nobody = (type: string): string => (type === 'user' ? t('somebody') : type === 'team' ? t('a team') : t('an AI agent'));

// between is the time from one moment to another, in words.
const between = (from: string, to: string): string => lasting(Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / 60_000)));

const joined = (...all: (string | false | null | undefined)[]) => all.filter(Boolean).join(' ');

// asksSaid says who would be asked, for what and for how long.
export function asksSaid(ask: Ask, step: Step): string {
  const who = ask.who.length > 0 ? namesOf(ask.who) : t('everybody who works requests');
  const many = ask.who.length > 1;
  switch (ask.kind) {
    case 'CORRECTION': return joined(t('Asks {who} to correct the request.', { who }), ask.dueAt && t('It is due after {time}.', { time: between(step.startedAt, ask.dueAt) }));
    case 'SIGN_OFF': return t('Asks {who} to sign off the outcome.', { who });
    case 'APPROVAL': return joined(
      t('Asks {who} for a decision: “{title}”.', { who, title: ask.title }),
      ask.mode === 'quorum' ? plural(ask.quorum ?? 1, '{n} of {total} must approve.', '{n} of {total} must approve.', { total: ask.who.length }) : many && (ask.mode === 'all' ? t('All of them must approve.') : t('One of them decides.')),
      ask.sequential && many && t('They decide one after the other.'), ask.dueAt && t('The decision expires after {time}.', { time: between(step.startedAt, ask.dueAt) }),
    );
    default: return joined(t('Asks {who} to do “{title}”.', { who, title: ask.title }), ask.dueAt && t('It is due after {time}.', { time: between(step.startedAt, ask.dueAt) }));
  }
}

const verdicts: Record<string, string> = { APPROVE: t('Approve'), REJECT: t('Reject'), EXPIRE: t('Nobody decides in time') };

// choiceSaid is one of the possible answers of a question.
export const choiceSaid = (ask: Ask, choice: string): string => (ask.kind === 'TASK' ? wayName(choice) : verdicts[choice] ?? choice);

// answerSaid is what was answered to a question; '' where nothing was.
export function answerSaid(ask: Ask): string {
  const a = object(ask.answer);
  if (ask.answer === null || ask.answer === undefined) return '';
  if (ask.kind === 'CORRECTION') return t('The answers are corrected.');
  const choice = ask.kind === 'SIGN_OFF' ? text(a['signOff']) : ask.kind === 'TASK' ? text(a['outcome']) || 'next' : text(a['decision']);
  const answer = choice === '' ? Object.values(object(a['decisions'])).map((one) => choiceSaid(ask, String(one))).join(', ') : choiceSaid(ask, choice);
  return answer === '' ? '' : joined(t('Answer: {answer}.', { answer }), ask.source === 'LAST' && t('This was the answer last time.'));
}

// starts reports whether a call is that of a workflow.
export const starts = (call: Call): boolean => typeof object(call.sent)['workflowId'] === 'string';

// callSaid is what would be sent, and where to, or which workflow would be started; names are those of workflows.
export function callSaid(call: Call, names: Map<string, string> = new Map()): string {
  const sent = object(call.sent);
  if (starts(call)) return t('Would start the workflow “{name}”.', { name: names.get(text(sent['workflowId'])) ?? t('Unknown workflow') });
  const what = joined(text(sent['method']), text(sent['url']));
  return call.attempt > 1 ? t('Attempt {n}: would send {what}', { n: call.attempt, what }) : t('Would send {what}', { what });
}

export function calledSaid(call: Call): string {
  const a = object(call.answer);
  if (call.answer === null || call.answer === undefined) return '';
  const failure = text(a['failure']);
  return joined(failure ? t('It fails: {why}', { why: failure }) : starts(call) ? t('It runs to its end.') : t('Answer: {answer}.', { answer: text(a['status']) }), call.source === 'LAST' && t('This was the answer last time.'));
}

// passes says what a step does besides asking and calling.
export function passes(step: Step): string[] {
  const waits = step.type === 'TIMER' && step.finishedAt;
  const checks = step.type === 'DATA' && 'valid' in object(step.output ?? step.input);
  const wrong = invalid(step).map((e) => e.message).join(' ');
  const sets = step.type === 'DATA' && !checks ? Object.keys(object(step.output)) : [];
  return [
    waits ? t('Waits for {time}, until {when}.', { time: between(step.startedAt, waits), when: momentSaid(waits) }) : '',
    checks ? (wrong ? t('Invalid: {why}', { why: wrong }) : t('All values are valid.')) : '',
    sets.length > 0 ? t('Sets {names}.', { names: sets.join(', ') }) : '',
  ].filter(Boolean);
}

// wentSaid says where a step goes on and why; '' where it does not. said is a condition in words, null for one that has none.
export function wentSaid(step: Step, d: Definition, said: (condition: string) => string | null = () => null): string {
  if (!step.to || !step.transition) return '';
  const phase = called(d, step.to);
  const rule = step.rules.find((r) => r.holds === true);
  if (rule) return t('Continues with “{phase}” because this is true: {condition}', { phase, condition: said(rule.when) ?? rule.when });
  if (step.rules.length > 0) return t('Continues with “{phase}” because none of the conditions is true.', { phase });
  return step.transition === 'next' || opens(step) ? t('Continues with “{phase}”.', { phase }) : t('Continues with “{phase}” by “{way}”.', { phase, way: exitName(phaseOf(d, step.phaseId), step.transition) });
}

// leaves says what becomes of others when a step is done.
export const leaves = (step: Step): string[] => [
  step.told.length > 0 ? t('Tells {names}.', { names: namesOf(step.told) }) : '',
  step.requestStatus ? t('The request is “{status}” then.', { status: words(step.requestStatus) }) : '',
].filter(Boolean);

// wrong says why a step cannot go on, and which conditions cannot be evaluated.
export const wrong = (step: Step): string[] => [
  ...step.rules.filter((r) => r.error).map((r) => t('“{condition}” cannot be evaluated: {why}', { condition: r.when, why: r.error ?? '' })),
  ...(step.error ? [step.error.message] : []),
];

// endSaid says how a trial ends. In a block it may stop in several phases.
export function endSaid({ stopped, status, error, steps = [] }: Pick<Trial, 'stopped' | 'status' | 'error'> & { steps?: readonly Step[] }, d: Definition): string {
  const waits = waiting({ stopped, steps });
  switch (stopped?.reason) {
    case 'ANSWER': return waits.length > 1 ? t('It stops at {phases} until there are answers.', { phases: waits.map((s) => t('“{name}”', { name: called(d, s.phaseId) })).join(', ') }) : t('It stops at “{phase}” until it has an answer.', { phase: called(d, stopped.phaseId) });
    case 'INCIDENT': return t('Somebody would have to look at “{phase}” before it continues.', { phase: called(d, stopped.phaseId) });
    case undefined: return status === 'COMPLETED' ? t('It runs to its end.') : status === 'FAILED' ? t('It fails at “{phase}”.', { phase: called(d, error?.phaseId ?? '') }) : t('It ends as “{status}”.', { status: words(status) });
    default: return stopped?.message ?? '';
  }
}
