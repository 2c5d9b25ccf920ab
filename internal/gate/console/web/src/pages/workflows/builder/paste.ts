// paste copies phases within a definition and between several: under ids that are free, with the ways between them.
import { opens } from '../../../parts/blocks';
import { endIn, refusalIn, scopeAt, scopeOf } from './blocks';
import { exits, goesAside, outsOf, phaseOf, shaped, wayAt, type Definition, type Exit, type Phase, type Way } from './definition';
import { renamedIn } from './refer';
import { object, put, text } from './shape';
import { led, turned } from './turn';

// withShows is a phase with other ids of those whose results it shows.
export function withShows(p: Phase, change: (ids: string[]) => string[]): Phase {
  const config = object(p['config']);
  if (!Array.isArray(config['shows'])) return p;
  const was = config['shows'].map(String);
  const to = change(was);
  return to.length === was.length && to.every((id, i) => id === was[i]) ? p : { ...p, config: { ...config, shows: to } };
}

// withTasks is a phase with other ids of the tasks whose answers name people in it.
function withTasks(p: Phase, name: (id: string) => string): Phase {
  const told = (v: unknown) => (Array.isArray(v) && v.some((x) => name(text(object(x)['phaseId'])) !== text(object(x)['phaseId'])) ? v.map((x: unknown) => (text(object(x)['phaseId']) ? { ...object(x), phaseId: name(text(object(x)['phaseId'])) } : x)) : v);
  const [participants, approvers] = [told(p['participants']), told(object(p['config'])['approvers'])];
  const to = participants === p['participants'] ? p : { ...p, participants } as Phase;
  return approvers === object(p['config'])['approvers'] ? to : { ...to, config: { ...object(p['config']), approvers } };
}

export function renamed(d: Definition, to: Map<string, string>): Definition {
  const name = (id: string) => to.get(id) ?? id;
  const ended = (p: Phase) => (to.has(text(p['end'])) && opens(p) ? put(p, 'end', name(text(p['end']))) : p);
  const named = {
    ...d,
    phases: d.phases.map((p) => { const told = withTasks(withShows(ended(renamedIn(p, to) as Phase), (ids) => ids.map(name)), name); return to.has(p.id) ? { ...told, id: name(p.id) } : told; }),
    transitions: d.transitions.map((w) => (to.has(w.from) ? { ...w, from: name(w.from) } : w)),
  };
  return turned(named, (w) => name(w.to));
}

// freeId is an id that no phase has: the wanted one, or it with a number.
export function freeId(taken: (id: string) => boolean, wanted: string): string {
  const stem = wanted.replace(/_\d+$/, '').slice(0, 56);
  for (let n = 1; ; n++) {
    const id = n === 1 ? wanted : `${stem}_${n}`;
    if (!taken(id)) return id;
  }
}

// copied are phases with the ways between them, in their order. A phase that opens a block comes ahead of what is in it.
export function copied(d: Definition, ids: string[]): Definition {
  const within = (w: Way) => (ids.includes(w.to) ? w.to : undefined);
  const all = d.phases.filter((p) => ids.includes(p.id));
  const first = all.find((p) => opens(p) && p.id === ids[0]);
  return turned({ phases: first ? [first, ...all.filter((p) => p !== first)] : all, transitions: d.transitions.filter((w) => ids.includes(w.from)) }, within);
}

// pasteable is what somebody has copied, here or in another workflow, or a whole definition; null for anything else. The START stays there.
export function pasteable(v: unknown): Definition | null {
  const d = shaped(v);
  const part = d && copied(d, d.phases.filter((p) => p.type !== 'START').map((p) => p.id));
  return part && part.phases.length > 0 && part.phases.length <= 200 ? part : null;
}

// paste puts phases on a way: what led along it leads to the first of them, and where they lead nowhere they lead to where it did, or to
// the end of their own block.
export function paste(d: Definition, part: Definition, at: Exit): Definition {
  const from = phaseOf(d, at.from);
  const first = part.phases[0];
  if (!from || !first || from.type === 'END' || first.type === 'JOIN' || (at.name === '' && opens(from))) return d;
  const used = new Set(d.phases.map((p) => p.id));
  const to = new Map<string, string>();
  for (const p of part.phases) {
    const id = freeId((x) => used.has(x), p.id);
    used.add(id);
    if (id !== p.id) to.set(p.id, id);
  }
  const scope = scopeAt(d, at);
  const on = wayAt(d, at)?.to ?? endIn(d, scope);
  const named = renamed(part, to);
  const closed = named.phases.reduce((x, p) => missing(named, p).reduce((y, name) => {
    const inner = scopeOf(named, p.id);
    const end = inner ? endIn(named, inner) : on;
    if (!goesAside(p, name)) return led(y, { from: p.id, name }, end);
    const refused = name === 'expired' ? wayAt(y, { from: p.id, name: 'rejected' })?.to : undefined;
    return led(y, { from: p.id, name }, refused ?? (name === 'rejected' && !inner && !scope ? refusalIn(d) : undefined) ?? endIn(inner ? named : d, inner ?? scope, p.id));
  }, x), named);
  const behind = d.phases.indexOf(from) + 1;
  const apart = closed.phases.filter((p, i) => i > 0 && p.type === 'END'); // an end stands below what goes on
  const joined = { ...d, phases: [...d.phases.slice(0, behind), ...closed.phases.filter((p) => !apart.includes(p)), ...d.phases.slice(behind), ...apart] };
  const begun = led(joined, at, to.get(first.id) ?? first.id);
  return { ...begun, transitions: [...begun.transitions, ...closed.transitions] };
}

// missing are the ways out of a phase of a part that lead nowhere in it.
function missing(part: Definition, p: Phase): string[] {
  const there = exits(part, p.id);
  const { names, free } = outsOf(p);
  return (free && there.length === 0 ? ['next'] : names).filter((n) => !there.some((w) => w.name === n));
}
