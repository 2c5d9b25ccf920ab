// kinds are the types of phases that people add: how each is called and drawn, and what a new one says.
import { ArrowRightLeft, CircleCheckBig, ClipboardList, Clock, Flag, GitBranch, Play, Send, SlidersHorizontal, type LucideIcon } from 'lucide-react';
import { t } from '../../../app/text';
import { lasting, phaseType, words } from '../../../ui/bits';
import { exits, phaseOf, wayAt, type Definition, type Exit, type Phase } from './definition';
import { spanOf } from './duration';
import { freeId, type Command } from './edit';
import { titled } from './known';
import { object, objects, text } from './shape';

interface Kind { icon: LucideIcon; id: string; does: string; fresh: Record<string, unknown> }

export const kinds: Record<string, Kind> = {
  START: { icon: Play, id: 'start', does: '', fresh: {} },
  PROCESS: { icon: ClipboardList, id: 'task', does: t('Somebody does something and says that it is done.'), fresh: {} },
  APPROVAL: { icon: CircleCheckBig, id: 'approval', does: t('People say yes or no.'), fresh: { config: { approvers: [], mode: 'any' } } },
  DECISION: { icon: GitBranch, id: 'decision', does: t('Conditions choose how it goes on.'), fresh: { config: { rules: [], default: 'otherwise' } } },
  TIMER: { icon: Clock, id: 'wait', does: t('For a time, or until a moment.'), fresh: { config: { duration: '1d' } } },
  API_CALL: { icon: ArrowRightLeft, id: 'call', does: t('Ask another system, and keep what it answers.'), fresh: { config: { method: 'GET', url: '' } } },
  WEBHOOK_CALLOUT: { icon: Send, id: 'notify', does: t('Tell another system, with a signature.'), fresh: { config: { url: '' } } },
  DATA: { icon: SlidersHorizontal, id: 'values', does: t('Work out values, or check them.'), fresh: { config: { kind: 'enrich', set: {} } } },
  END: { icon: Flag, id: 'end', does: t('The workflow is done here.'), fresh: { requestAction: 'complete' } },
};
export const addable = Object.keys(kinds).filter((type) => type !== 'START');

// added is the command that adds a new phase of a type.
export function added(d: Definition, type: string, at: Exit): Extract<Command, { do: 'add' }> {
  const kind = kinds[type];
  const id = freeId((x) => phaseOf(d, x) !== undefined, kind?.id ?? type.toLowerCase());
  const n = /_(\d+)$/.exec(id)?.[1];
  return { do: 'add', at, phase: { id, type, name: n ? `${phaseType(type)} ${n}` : phaseType(type), ...kind?.fresh } };
}

// outcomeOf is the command that adds an outcome to a task: one that ends, under a name that none of its outcomes has.
export function outcomeOf(d: Definition, p: Phase): Extract<Command, { do: 'connect' }> | null {
  const to = d.phases.find((x) => x.type === 'END') ?? d.phases.find((x) => x.type !== 'START');
  for (let n = exits(d, p.id).length + 1; to; n++) {
    const name = t('Outcome {n}', { n });
    if (!wayAt(d, { from: p.id, name })) return { do: 'connect', at: { from: p.id, name }, to: to.id };
  }
  return null;
}

export const called = (d: Definition, id: string): string => { const p = phaseOf(d, id); return p ? titled(p) : t('a phase that does not exist'); };

// wayName is what a way out is called: as somebody has written it, unless that is a name as programs have them.
export const wayName = (name: string): string => (name === 'next' ? t('Done') : /^[a-z][a-zA-Z0-9_]*$/.test(name) ? words(name) : name);

// who is who works on a phase or decides in it, and long how long it may take; '' for nothing said.
export function who(p: Phase, names: Map<string, string>): string {
  const all = p.type === 'APPROVAL' ? objects(object(p['config'])['approvers']) : objects(p['participants']).filter((x) => x['role'] === 'responsible');
  return all.map((x) => names.get(text(x['id'])) ?? '').filter(Boolean).join(', ');
}

export function long(p: Phase): string {
  const [config, sla] = [object(p['config']), object(p['sla'])];
  const span = spanOf(text(config['duration']) || text(config['deadline']));
  const minutes = Number(config['dueMinutes'] ?? sla['resolutionMinutes'] ?? 0) || (span ? Number(span.d) * 1440 + Number(span.h) * 60 + Number(span.m) : 0);
  return minutes > 0 ? lasting(minutes) : '';
}
