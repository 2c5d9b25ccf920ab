// edit changes a definition by commands. Each gives a definition whose ways lead to phases that exist and whose blocks are as whole as
// before; a command that cannot be done gives the same definition. What it takes to undo one is the inverse of the patch between the two
// (patch.ts).
import { holds, opens } from '../../../parts/blocks';
import { addBranch, setBlock } from './blockedit';
import { asideIn, broken, endIn, mayLead, membersOf, scopeOf } from './blocks';
import { exits, goesAside, mainOf, outsOf, phaseOf, wayAt, type Definition, type Exit, type Phase } from './definition';
import { paste, renamed, withShows } from './paste';
import { wayRenamedIn } from './refer';
import { object, objects, text } from './shape';
import { led, turned } from './turn';

export type Command =
  | { do: 'add'; phase: Phase; rest?: Definition; at: Exit } // on a way, or at a way out that leads nowhere; with what else is of a block
  | { do: 'connect'; at: Exit; to: string }
  | { do: 'disconnect'; at: Exit }
  | { do: 'call'; at: Exit; name: string } // a way out gets another name
  | { do: 'move'; id: string; by: -1 | 1 }
  | { do: 'rename'; id: string; to: string }
  | { do: 'remove'; id: string }
  | { do: 'paste'; part: Definition; at: Exit }
  | { do: 'branch'; id: string; name: string; phase: Phase } // one more, with a phase
  | { do: 'set'; phase: Phase }; // what it says of itself; its ways out follow, and what stood in a branch that it names no more goes

export function edit(d: Definition, c: Command): Definition {
  const to = done(d, c);
  return to !== d && broken(to).length > broken(d).length ? d : to;
}

function done(d: Definition, c: Command): Definition {
  switch (c.do) {
    case 'add': return paste(d, { phases: [c.phase, ...c.rest?.phases ?? []], transitions: c.rest?.transitions ?? [] }, c.at);
    case 'branch': return addBranch(d, c.id, c.name, c.phase);
    case 'connect': return connect(d, c.at, c.to);
    case 'disconnect': return wayAt(d, c.at) ? led(d, c.at, undefined) : d;
    case 'call': return call(d, c.at, c.name);
    case 'move': return move(d, c.id, c.by);
    case 'rename': return rename(d, c.id, c.to);
    case 'remove': return remove(d, c.id);
    case 'paste': return paste(d, c.part, c.at);
    case 'set': return set(d, c.phase);
  }
}

function connect(d: Definition, at: Exit, to: string): Definition {
  const from = phaseOf(d, at.from);
  if (!from || from.type === 'END' || at.name === '' || wayAt(d, at)?.to === to || !mayLead(d, at, to)) return d;
  if (holds(from) && at.name !== 'failed' && !outsOf(from).names.includes(at.name)) return d;
  return led(d, at, to);
}

// call gives a way out another name, also in the rules that name it and in the conditions that ask for it.
function call(d: Definition, at: Exit, name: string): Definition {
  const p = phaseOf(d, at.from);
  if (!p || name === '' || name === at.name || wayAt(d, { from: at.from, name }) || holds(p)) return d;
  const config = object(p['config']);
  const renamed = (rules: string) => (Array.isArray(config[rules]) ? { [rules]: objects(config[rules]).map((r) => (r['transition'] === at.name ? { ...r, transition: name } : r)) } : {});
  const named = outsOf(p).names.includes(at.name);
  if (!named && !wayAt(d, at)) return d;
  const to = named ? { ...p, config: { ...config, ...renamed('rules'), ...renamed('statusRules'), ...(config['default'] === at.name ? { default: name } : {}) } } : p;
  if (named && !outsOf(to).names.includes(name)) return d; // the type itself names it
  return { ...d, phases: asked(d.phases.map((x) => (x === p ? to : x)), at, name), transitions: d.transitions.map((w) => (w.from === at.from && w.name === at.name ? { ...w, name } : w)) };
}

const asked = (phases: Phase[], at: Exit, name: string) => phases.map((p) => wayRenamedIn(p, at.from, at.name, name) as Phase);

// set changes what a phase says. A way out that its rules now call otherwise keeps its end, and what asks for it follows; one that they name
// anew leads where the phase goes on, unless it is taken when all is not well, and one that they name no more goes.
function set(d: Definition, phase: Phase): Definition {
  const was = phaseOf(d, phase.id);
  if (!was) return d;
  if (holds(was) || holds(phase)) return was.type === phase.type ? setBlock(d, was, phase) : d;
  const changed = { ...d, phases: d.phases.map((p) => (p === was ? phase : p)) };
  const [before, after] = [outsOf(was), outsOf(phase)];
  if (after.free) return changed;
  const gone = [...new Set([...before.names, ...exits(d, phase.id).map((w) => w.name)])].filter((n) => !after.names.includes(n));
  const come = after.names.filter((n) => !before.names.includes(n) && !wayAt(d, { from: phase.id, name: n }));
  const renames = gone.length === come.length && !come.some((n) => goesAside(phase, n)) ? new Map(gone.map((n, i) => [n, come[i] ?? n])) : new Map<string, string>();
  const ways = d.transitions.filter((w) => w.from !== phase.id || renames.has(w.name) || !gone.includes(w.name))
    .map((w) => (w.from === phase.id && renames.has(w.name) ? { ...w, name: renames.get(w.name) ?? w.name } : w));
  const scope = scopeOf(d, phase.id);
  const on = mainOf(d, phase.id)?.to ?? endIn(d, scope, phase.id);
  const to = (name: string) => (goesAside(phase, name) ? asideIn(d, { from: phase.id, name }, scope) : on);
  const missing = come.filter((n) => !ways.some((w) => w.from === phase.id && w.name === n));
  const fresh = missing.flatMap((name) => { const end = to(name); return end === undefined ? [] : [{ from: phase.id, name, to: end }]; });
  const same = fresh.length === 0 && ways.length === d.transitions.length && ways.every((w, i) => w === d.transitions[i]);
  const phases = [...renames].reduce((all, [was, name]) => asked(all, { from: phase.id, name: was }, name), changed.phases);
  return same ? changed : { ...changed, phases, transitions: [...ways, ...fresh] };
}

// remove takes a phase out, or a block with all that is in it: what led into it leads to where it went on. The end of a block stays.
function remove(d: Definition, id: string): Definition {
  const p = phaseOf(d, id);
  const gone = new Set(membersOf(d, id));
  if (!p || p.type === 'START' || (p.type === 'JOIN' && gone.size > 1)) return d;
  const on = mainOf(d, lastOf(p))?.to;
  const to = on !== undefined && !gone.has(on) ? on : endIn(d, scopeOf(d, id), id);
  if (p.type === 'END' && to === undefined) return d; // the last one
  for (const end of endsOf(d, gone)) gone.add(end); // nothing else leads to them
  const kept = d.phases.filter((x) => !gone.has(x.id)).map((x) => withShows(x, (ids) => ids.filter((one) => !gone.has(one))));
  const rest = { ...d, phases: kept, transitions: d.transitions.filter((w) => !gone.has(w.from)) };
  return turned(rest, (w) => (gone.has(w.to) ? to : w.to));
}

// endsOf are the ends of a workflow to which nothing leads but ways aside out of phases that are removed.
function endsOf(d: Definition, gone: Set<string>): string[] {
  const aside = d.phases.filter((p) => gone.has(p.id)).flatMap((p) => exits(d, p.id).filter((w) => goesAside(p, w.name)).map((w) => w.to));
  const stays = d.phases.some((p) => p.type === 'END' && !gone.has(p.id) && !aside.includes(p.id));
  return !stays ? [] : aside.filter((id) => phaseOf(d, id)?.type === 'END' && d.phases.every((p) => exits(d, p.id).every((w) => w.to !== id || (gone.has(p.id) && goesAside(p, w.name)))));
}

// lastOf is the phase by which one goes on: the end of a block for that which opens it.
export const lastOf = (p: Phase): string => (opens(p) ? text(p['end']) : p.id);
// firstOf is the phase that opens the block which this one ends, or itself.
const firstOf = (d: Definition, id: string): Phase | undefined => phaseOf(d, membersOf(d, id)[0] ?? '');

// move changes the places of a phase and of the one before or behind it on its line, where a block is as one. Nothing moves past a
// decision, which has no one line, nor into a branch or out of one.
function move(d: Definition, moved: string, by: -1 | 1): Definition {
  const id = firstOf(d, moved)?.id ?? '';
  const before = [...new Set(waysInto(d, id).map((w) => w.from))][0];
  const first = by === 1 ? firstOf(d, id) : before === undefined || opens(phaseOf(d, before)) ? undefined : firstOf(d, before);
  const down = first && mainOf(d, lastOf(first));
  const second = by === 1 ? phaseOf(d, down?.to ?? '') : phaseOf(d, id);
  const on = second && mainOf(d, lastOf(second));
  if (!first || !second || !on || down?.to !== second.id || second.type === 'JOIN' || first.type === 'START' || second.type === 'END' || first === second || on.to === first.id) return d;
  if (first.type === 'DECISION' || second.type === 'DECISION' || waysInto(d, second.id).length !== 1) return d;
  const ways = turned(d, (w) => (w.from === down.from && w.name === down.name ? on.to : w.from === on.from && w.name === on.name ? first.id : w.to === first.id ? second.id : w.to));
  return { ...ways, phases: swapped(d, ways.phases, first.id, second.id) };
}

const waysInto = (d: Definition, id: string) => d.phases.flatMap((p) => exits(d, p.id).filter((w) => w.to === id));

// swapped puts what belongs to a phase in the list where what belongs to another stood.
function swapped(d: Definition, phases: Phase[], first: string, second: string): Phase[] {
  const [upper, lower] = [membersOf(d, first), membersOf(d, second)];
  const both = [...phases.filter((p) => lower.includes(p.id)), ...phases.filter((p) => upper.includes(p.id))];
  const earlier = phases.findIndex((p) => p.id === first) < phases.findIndex((p) => p.id === second);
  const ordered = earlier ? both : [...both.slice(lower.length), ...both.slice(0, lower.length)];
  return phases.map((p) => (upper.includes(p.id) || lower.includes(p.id) ? ordered.shift() ?? p : p));
}

function rename(d: Definition, id: string, to: string): Definition {
  return !phaseOf(d, id) || phaseOf(d, to) || !phaseId.test(to) ? d : renamed(d, new Map([[id, to]]));
}

// phaseId is what the id of a phase looks like.
export const phaseId = /^[a-z][a-z0-9_]{0,62}$/;
