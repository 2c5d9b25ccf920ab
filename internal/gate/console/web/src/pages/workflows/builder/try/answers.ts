// answers are what the phases of a trial are answered: one for each time that a phase asks people, and one for all calls of a phase.
import type { TryWorkflowQuery } from '../../../../gen/types';
import { allExits, phaseOf, type Definition } from '../definition';
import { list, object, objects, text, type Json } from '../shape';

export type Trial = NonNullable<TryWorkflowQuery['tryWorkflow']>;
export type Step = Trial['steps'][number];
export type Ask = Step['asks'][number];
export type Call = Step['calls'][number];

// Given are the answers that somebody has given, by the phase.
export type Given = Record<string, unknown>;

// asked are all questions of a phase to people. That a task is signed off belongs to its own answer.
const asked = (steps: readonly Step[], phaseId: string) => steps.filter((s) => s.phaseId === phaseId).flatMap((s) => s.asks).filter((a) => a.kind !== 'SIGN_OFF');

// turnOf counts how often the phase has asked people before a question of a step.
export function turnOf(steps: readonly Step[], step: Step, ask: number): number {
  const before = steps.slice(0, steps.indexOf(step));
  const here = step.asks.slice(0, ask + 1).filter((a) => a.kind !== 'SIGN_OFF').length;
  return asked(before, step.phaseId).length + Math.max(0, here - 1);
}

// answered gives an answer to a question. The phase's answers before it stay as they were; those after it belong to another path.
export function answered(given: Given, steps: readonly Step[], step: Step, ask: number, answer: unknown): Given {
  const turn = turnOf(steps, step, ask);
  return { ...given, [step.phaseId]: [...asked(steps, step.phaseId).slice(0, turn).map((a) => a.answer as unknown), answer] };
}

// waiting are the steps that wait for an answer: in a block there may be several, also where another branch has an incident. Of one phase
// the first is answered first.
export function waiting({ stopped, steps }: { stopped?: Trial['stopped'] | undefined; steps: readonly Step[] }): Step[] {
  if (stopped?.reason !== 'ANSWER' && stopped?.reason !== 'INCIDENT') return [];
  const stops = stopped.reason === 'ANSWER' ? steps.findLast((s) => s.phaseId === stopped.phaseId && !s.finishedAt) ?? steps.at(-1) : undefined;
  const open = steps.filter((s) => s === stops || (s.branch && !s.finishedAt && asks(s)));
  return open.filter((s, i) => open.findIndex((x) => x.phaseId === s.phaseId) === i);
}

const asks = (s: Step) => s.asks.some((a) => a.answer === null || a.answer === undefined) || (s.calls.length > 0 && s.calls.every((c) => c.answer === null || c.answer === undefined));

// called gives the answer to all calls of a phase.
export const called = (given: Given, step: Step, answer: unknown): Given => ({ ...given, [step.phaseId]: answer });

// fitting are the answers that a definition still asks for: phases and ways out may have gone since.
export function fitting(given: Given, d: Definition): Given {
  return Object.fromEntries(Object.entries(given).flatMap(([id, answers]): [string, unknown][] => {
    const p = phaseOf(d, id);
    const config = object(p?.['config']);
    switch (p?.type) {
      case 'CALL_WORKFLOW': return config['wait'] === false || Array.isArray(answers) ? [] : [[id, answers]];
      case 'API_CALL': case 'WEBHOOK_CALLOUT': return Array.isArray(answers) ? [] : [[id, answers]];
      case 'PROCESS': { const ways = allExits(d, p).map((e) => e.name); return until(id, answers, (a) => ways.includes(String(a['outcome']))); }
      case 'APPROVAL': return until(id, answers, (a) => typeof a['decision'] !== 'string' || a['decision'] !== 'EXPIRE' || !!config['deadline']);
      case 'DATA': return config['onInvalid'] === 'ask' ? until(id, answers, () => true) : [];
      default: return [];
    }
  }));
}

// until keeps answers up to the first one that does not fit.
function until(id: string, answers: unknown, fits: (answer: Json) => boolean): [string, unknown][] {
  const all = list(answers).map(object);
  const end = all.findIndex((a) => !fits(a));
  const kept = end < 0 ? all : all.slice(0, end);
  return kept.length > 0 ? [[id, kept]] : [];
}

// body is what another server answers, as somebody has written it: JSON, or else a text; undefined for none.
export function body(written: string, parse: (text: string) => unknown): unknown {
  if (written.trim() === '') return undefined;
  try { return parse(written); } catch { return written; }
}

// invalid are what a check of values has found: in which field, and what is wrong.
export const invalid = (step: Pick<Step, 'type' | 'input' | 'output'>): { field: string; message: string }[] =>
  (step.type === 'DATA' ? [step.output, step.input].map((of) => objects(object(of)['errors'])).find((all) => all.length > 0) ?? [] : []).map((e) => ({ field: text(e['field']).replace(/^fields\./, ''), message: text(e['message']) }));
