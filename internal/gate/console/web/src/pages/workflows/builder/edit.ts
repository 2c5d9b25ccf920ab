// edit changes a definition by commands. Each gives a definition whose ways lead to phases that exist; a command that cannot be done gives
// the same definition. What it takes to undo one is the inverse of the patch between the two (patch.ts).
import { exits, mainOf, outsOf, phaseOf, shaped, wayAt, type Definition, type Exit, type Phase, type Way } from './definition';
import { renamedIn, wayRenamedIn } from './refer';
import { object, objects } from './shape';

export type Command =
  | { do: 'add'; phase: Phase; at: Exit } // on a way, or at a way out that leads nowhere
  | { do: 'connect'; at: Exit; to: string }
  | { do: 'disconnect'; at: Exit }
  | { do: 'call'; at: Exit; name: string } // a way out gets another name
  | { do: 'move'; id: string; by: -1 | 1 }
  | { do: 'rename'; id: string; to: string }
  | { do: 'remove'; id: string }
  | { do: 'paste'; part: Definition; at: Exit }
  | { do: 'set'; phase: Phase }; // what it says of itself; its ways out follow

export function edit(d: Definition, c: Command): Definition {
  switch (c.do) {
    case 'add': return paste(d, { phases: [c.phase], transitions: [] }, c.at);
    case 'connect': return connect(d, c.at, c.to);
    case 'disconnect': return { ...d, transitions: d.transitions.filter((w) => w.from !== c.at.from || w.name !== c.at.name) };
    case 'call': return call(d, c.at, c.name);
    case 'move': return move(d, c.id, c.by);
    case 'rename': return rename(d, c.id, c.to);
    case 'remove': return remove(d, c.id);
    case 'paste': return paste(d, c.part, c.at);
    case 'set': return set(d, c.phase);
  }
}

function connect(d: Definition, at: Exit, to: string): Definition {
  const [from, target] = [phaseOf(d, at.from), phaseOf(d, to)];
  if (!from || !target || target.type === 'START' || from.type === 'END' || at.name === '') return d;
  const way = wayAt(d, at);
  if (way?.to === to) return d;
  return { ...d, transitions: way ? d.transitions.map((w) => (w === way ? { ...w, to } : w)) : [...d.transitions, { ...at, to }] };
}

// call gives a way out another name, also in the rules that name it and in the conditions that ask for it.
function call(d: Definition, at: Exit, name: string): Definition {
  const p = phaseOf(d, at.from);
  if (!p || name === '' || name === at.name || wayAt(d, { from: at.from, name })) return d;
  const config = object(p['config']);
  const renamed = (rules: string) => (Array.isArray(config[rules]) ? { [rules]: objects(config[rules]).map((r) => (r['transition'] === at.name ? { ...r, transition: name } : r)) } : {});
  const named = outsOf(p).names.includes(at.name);
  if (!named && !wayAt(d, at)) return d;
  const to = named ? { ...p, config: { ...config, ...renamed('rules'), ...renamed('statusRules'), ...(config['default'] === at.name ? { default: name } : {}) } } : p;
  if (named && !outsOf(to).names.includes(name)) return d; // the type itself names it
  return { ...d, phases: asked(d.phases.map((x) => (x === p ? to : x)), at, name), transitions: d.transitions.map((w) => (w.from === at.from && w.name === at.name ? { ...w, name } : w)) };
}

const asked = (phases: Phase[], at: Exit, name: string) => phases.map((p) => wayRenamedIn(p, at.from, at.name, name) as Phase);

// set changes what a phase says. A way out that its rules now call otherwise keeps its end; one that they name anew leads where the phase
// goes on, and one that they name no more goes.
function set(d: Definition, phase: Phase): Definition {
  const was = phaseOf(d, phase.id);
  if (!was) return d;
  const changed = { ...d, phases: d.phases.map((p) => (p === was ? phase : p)) };
  const [before, after] = [outsOf(was), outsOf(phase)];
  if (after.free) return changed;
  const gone = [...new Set([...before.names, ...exits(d, phase.id).map((w) => w.name)])].filter((n) => !after.names.includes(n));
  const come = after.names.filter((n) => !before.names.includes(n) && !wayAt(d, { from: phase.id, name: n }));
  const renames = gone.length === come.length ? new Map(gone.map((n, i) => [n, come[i] ?? n])) : new Map<string, string>();
  const ways = d.transitions.filter((w) => w.from !== phase.id || renames.has(w.name) || !gone.includes(w.name))
    .map((w) => (w.from === phase.id && renames.has(w.name) ? { ...w, name: renames.get(w.name) ?? w.name } : w));
  const on = mainOf(d, phase.id)?.to ?? endOf(d, phase.id);
  const fresh = on === undefined ? [] : come.filter((n) => !ways.some((w) => w.from === phase.id && w.name === n)).map((name) => ({ from: phase.id, name, to: on }));
  const same = fresh.length === 0 && ways.length === d.transitions.length && ways.every((w, i) => w === d.transitions[i]);
  return same ? changed : { ...changed, transitions: [...ways, ...fresh] };
}

const endOf = (d: Definition, but: string) => d.phases.find((p) => p.type === 'END' && p.id !== but)?.id;

// remove takes a phase out: what led into it leads to where it went on.
function remove(d: Definition, id: string): Definition {
  const p = phaseOf(d, id);
  if (!p || p.type === 'START') return d;
  const on = mainOf(d, id)?.to;
  const to = on !== undefined && on !== id ? on : endOf(d, id);
  if (p.type === 'END' && to === undefined) return d; // the last one
  const ways = d.transitions.filter((w) => w.from !== id).flatMap((w) => (w.to !== id ? [w] : to === undefined ? [] : [{ ...w, to }]));
  return { ...d, phases: d.phases.filter((x) => x !== p), transitions: ways };
}

// move changes the places of a phase and of the one before or behind it on its line. Nothing moves past a decision, which has no one line.
function move(d: Definition, id: string, by: -1 | 1): Definition {
  const before = d.transitions.filter((w) => w.to === id);
  const upper = by === 1 ? id : before[0]?.from ?? '';
  const down = mainOf(d, upper);
  const lower = by === 1 ? down?.to ?? '' : id;
  const [first, second] = [phaseOf(d, upper), phaseOf(d, lower)];
  const on = mainOf(d, lower);
  const alone = d.transitions.filter((w) => w.to === lower).every((w) => w === down);
  if (!first || !second || !on || down?.to !== lower || !alone || first.type === 'START' || second.type === 'END' || upper === lower || on.to === upper) return d;
  if (first.type === 'DECISION' || second.type === 'DECISION') return d;
  const ways = d.transitions.map((w) => (w === down ? { ...w, to: on.to } : w === on ? { ...w, to: upper } : w.to === upper ? { ...w, to: lower } : w));
  return { ...d, phases: d.phases.map((p) => (p === first ? second : p === second ? first : p)), transitions: ways };
}

function renamed(d: Definition, to: Map<string, string>): Definition {
  const name = (id: string) => to.get(id) ?? id;
  return {
    ...d,
    phases: d.phases.map((p) => { const told = renamedIn(p, to) as Phase; return to.has(p.id) ? { ...told, id: name(p.id) } : told; }),
    transitions: d.transitions.map((w) => (to.has(w.from) || to.has(w.to) ? { ...w, from: name(w.from), to: name(w.to) } : w)),
  };
}

// phaseId is what the id of a phase looks like.
export const phaseId = /^[a-z][a-z0-9_]{0,62}$/;

function rename(d: Definition, id: string, to: string): Definition {
  return !phaseOf(d, id) || phaseOf(d, to) || !phaseId.test(to) ? d : renamed(d, new Map([[id, to]]));
}

// freeId is an id that no phase has: the wanted one, or it with a number.
export function freeId(taken: (id: string) => boolean, wanted: string): string {
  const stem = wanted.replace(/_\d+$/, '').slice(0, 56);
  for (let n = 1; ; n++) {
    const id = n === 1 ? wanted : `${stem}_${n}`;
    if (!taken(id)) return id;
  }
}

// copied are phases with the ways between them.
export const copied = (d: Definition, ids: string[]): Definition => ({ phases: d.phases.filter((p) => ids.includes(p.id)), transitions: d.transitions.filter((w) => ids.includes(w.from) && ids.includes(w.to)) });

// pasteable is what somebody has copied, here or in another workflow, or a whole definition; null for anything else. The START stays there.
export function pasteable(v: unknown): Definition | null {
  const d = shaped(v);
  const part = d && copied(d, d.phases.filter((p) => p.type !== 'START').map((p) => p.id));
  return part && part.phases.length > 0 && part.phases.length <= 200 ? part : null;
}

// paste puts phases on a way: what led along it leads to the first of them, and where they lead nowhere they lead to where it did.
function paste(d: Definition, part: Definition, at: Exit): Definition {
  const from = phaseOf(d, at.from);
  const first = part.phases[0];
  if (!from || !first || from.type === 'END') return d;
  const used = new Set(d.phases.map((p) => p.id));
  const to = new Map<string, string>();
  for (const p of part.phases) {
    const id = freeId((x) => used.has(x), p.id);
    used.add(id);
    if (id !== p.id) to.set(p.id, id);
  }
  const { phases, transitions } = renamed(part, to);
  const on = wayAt(d, at)?.to ?? endOf(d, '');
  const ways: Way[] = phases.flatMap((p) => {
    const there = transitions.filter((w) => w.from === p.id);
    const { names, free } = outsOf(p);
    const missing = (free && there.length === 0 ? ['next'] : names).filter((n) => !there.some((w) => w.name === n));
    return on === undefined ? there : [...there, ...missing.map((name) => ({ from: p.id, name, to: asideOf(d, p, name) ?? on }))];
  });
  const behind = d.phases.indexOf(from) + 1;
  const joined = connect({ ...d, phases: [...d.phases.slice(0, behind), ...phases, ...d.phases.slice(behind)] }, at, to.get(first.id) ?? first.id);
  return { ...joined, transitions: [...joined.transitions, ...ways] };
}

// asideOf is where a way out leads that is not how a phase goes on: what was not approved ends.
const asideOf = (d: Definition, p: Phase, name: string): string | undefined => (p.type === 'APPROVAL' && name !== 'approved' ? endOf(d, p.id) : undefined);

