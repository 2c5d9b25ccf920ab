// kinds are the types of phases that people add: how each is called and drawn, and what a new one says.
import { ArrowRightLeft, CircleCheckBig, ClipboardList, Clock, Flag, GitBranch, Merge, Play, Repeat, Send, SlidersHorizontal, Split, Workflow, type LucideIcon } from 'lucide-react';
import { t } from '../../../app/text';
import { opens } from '../../../parts/blocks';
import { inWords, lasting, phaseType, words } from '../../../ui/bits';
import { branchNames, deepest, endIn, mostBranches, refusalIn, scopeAt, scopeOf } from './blocks';
import { exits, phaseOf, wayAt, type Definition, type Exit, type Phase } from './definition';
import { spanOf } from './duration';
import type { Command } from './edit';
import { titled } from './known';
import { freeId } from './paste';
import { ruleSaid } from './rules';
import { object, objects, text } from './shape';

interface Kind { icon: LucideIcon; id: string; does: string; fresh: Record<string, unknown> }

export const kinds: Record<string, Kind> = {
  START: { icon: Play, id: 'start', does: '', fresh: {} },
  PROCESS: { icon: ClipboardList, id: 'task', does: t('Somebody does something and says that it is done.'), fresh: {} },
  APPROVAL: { icon: CircleCheckBig, id: 'approval', does: t('People say yes or no.'), fresh: { config: { approvers: [], mode: 'any' } } },
  DECISION: { icon: GitBranch, id: 'decision', does: t('Conditions decide which phase comes next.'), fresh: { config: { rules: [], default: 'otherwise' } } },
  TIMER: { icon: Clock, id: 'wait', does: t('Waits for a length of time or until a date and time.'), fresh: { config: { duration: '1d' } } },
  API_CALL: { icon: ArrowRightLeft, id: 'call', does: t('Asks another system and keeps what it answers.'), fresh: { config: { method: 'GET', url: '' } } },
  WEBHOOK_CALLOUT: { icon: Send, id: 'notify', does: t('Tells another system, with a signature.'), fresh: { config: { url: '' } } },
  CALL_WORKFLOW: { icon: Workflow, id: 'called', does: t('Starts another workflow, and waits for it if wanted.'), fresh: { config: { workflowId: '', wait: true } } },
  DATA: { icon: SlidersHorizontal, id: 'values', does: t('Calculates or checks values.'), fresh: { config: { kind: 'enrich', set: {} } } },
  PARALLEL: { icon: Split, id: 'parallel', does: t('Several things at once, each on its own branch.'), fresh: { join: 'all', onFault: 'wait' } },
  FOR_EACH: { icon: Repeat, id: 'each', does: t('The same for each entry of a list.'), fresh: { in: '', as: 'entry', join: 'all', onFault: 'wait' } },
  JOIN: { icon: Merge, id: 'together', does: '', fresh: {} },
  END: { icon: Flag, id: 'end', does: t('The workflow is done here.'), fresh: { requestAction: 'complete' } },
};
export const addable = Object.keys(kinds).filter((type) => type !== 'START' && type !== 'JOIN');

// addableAt are the types that can be added at a way out: the workflow does not end within a block.
export function addableAt(d: Definition, at: Exit): string[] {
  const scope = scopeAt(d, at);
  return addable.filter((type) => (type === 'END' ? scope === null : !opens({ type }) || (scope?.depth ?? 0) < deepest));
}

// freshIn makes new phases of a definition, each under an id that is free.
function freshIn(d: Definition): (type: string) => Phase {
  const used = new Set(d.phases.map((p) => p.id));
  return (type) => {
    const kind = kinds[type];
    const id = freeId((x) => used.has(x), kind?.id ?? type.toLowerCase());
    used.add(id);
    const n = /_(\d+)$/.exec(id)?.[1];
    return { id, type, name: n ? `${phaseType(type)} ${n}` : phaseType(type), ...kind?.fresh };
  };
}

// added is the command that adds a new phase of a type: a block with its end, and with a task in each branch, and an approval with an end that
// cancels the request where the workflow has none.
export function added(d: Definition, type: string, at: Exit): Extract<Command, { do: 'add' }> {
  const fresh = freshIn(d);
  const phase = fresh(type);
  if (type === 'APPROVAL' && scopeAt(d, at) === null && refusalIn(d) === undefined) {
    const end = { ...fresh('END'), name: t('Rejected'), requestAction: 'cancel' };
    return { do: 'add', at, phase, rest: { phases: [end], transitions: [{ from: phase.id, name: 'rejected', to: end.id }] } };
  }
  if (!opens(phase)) return { do: 'add', at, phase };
  const end = fresh('JOIN');
  const tasks = type === 'PARALLEL' ? [fresh('PROCESS'), fresh('PROCESS')] : [fresh('PROCESS')];
  const inside = type === 'PARALLEL' ? { branches: tasks.map((x, i) => ({ name: t('Branch {n}', { n: i + 1 }), start: x.id })) } : { start: tasks[0]?.id };
  return { do: 'add', at, phase: { ...phase, ...inside, end: end.id }, rest: { phases: [...tasks, end], transitions: tasks.map((x) => ({ from: x.id, name: 'next', to: end.id })) } };
}

// branchIn is the command that adds a branch to a block, with a task in it; null where it has as many as it may have.
export function branchIn(d: Definition, p: Phase): Extract<Command, { do: 'branch' }> | null {
  const names = branchNames(p);
  if (p.type !== 'PARALLEL' || names.length >= mostBranches) return null;
  for (let n = names.length + 1; ; n++) {
    const name = t('Branch {n}', { n });
    if (!names.includes(name)) return { do: 'branch', id: p.id, name, phase: freshIn(d)('PROCESS') };
  }
}

// outcomeOf is the command that adds an outcome to a task: one that ends, under a name that none of its outcomes has.
export function outcomeOf(d: Definition, p: Phase): Extract<Command, { do: 'connect' }> | null {
  const to = phaseOf(d, endIn(d, scopeOf(d, p.id)) ?? '') ?? d.phases.find((x) => x.type !== 'START');
  for (let n = exits(d, p.id).length + 1; to; n++) {
    const name = t('Outcome {n}', { n });
    if (!wayAt(d, { from: p.id, name })) return { do: 'connect', at: { from: p.id, name }, to: to.id };
  }
  return null;
}

export const called = (d: Definition, id: string): string => { const p = phaseOf(d, id); return p ? titled(p) : t('a phase that does not exist'); };

// wayName is what a way out is called: as somebody has written it, unless that is a name as programs have them.
export const wayName = (name: string): string => (name === 'next' ? t('Done') : /^[a-z][a-zA-Z0-9_]*$/.test(name) ? words(name) : name);

// exitName is what a way out of a phase is called.
export const exitName = (p: Phase | undefined, name: string): string =>
  (p?.type === 'PARALLEL' ? name : p?.type === 'FOR_EACH' ? t('Each entry') : p?.type === 'JOIN' && name === 'failed' ? t('Given up') : wayName(name));

// who is who works on a phase or decides in it, or which workflow it calls, and long how long it may take, or what is done for each of; ''
// for nothing said.
export function who(p: Phase, names: Map<string, string>): string {
  if (p.type === 'CALL_WORKFLOW') return names.get(text(object(p['config'])['workflowId'])) ?? '';
  const all = p.type === 'APPROVAL' ? objects(object(p['config'])['approvers']) : objects(p['participants']).filter((x) => x['role'] === 'responsible');
  return all.map((x) => ruleSaid(x) || (names.get(text(x['id'])) ?? '')).filter(Boolean).join(', ');
}

export function long(p: Phase): string {
  if (p.type === 'FOR_EACH') return inWords(text(p['as']));
  if (p.type === 'CALL_WORKFLOW') return object(p['config'])['wait'] === false ? t('does not wait for it') : '';
  const [config, sla] = [object(p['config']), object(p['sla'])];
  const span = spanOf(text(config['duration']) || text(config['deadline']));
  const minutes = Number(config['dueMinutes'] ?? sla['resolutionMinutes'] ?? 0) || (span ? Number(span.d) * 1440 + Number(span.h) * 60 + Number(span.m) : 0);
  return minutes > 0 ? lasting(minutes) : '';
}
