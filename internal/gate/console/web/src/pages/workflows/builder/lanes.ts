// lanes puts phases in the order in which people read them: one after another, and where a phase has several ways out, a lane for each
// until they meet again. A block has a lane for each branch, until its end.
import { opens } from '../../../parts/blocks';
import { allExits, phaseOf, type Definition, type Exit, type Phase } from './definition';
import { text } from './shape';

export interface Lane { exit: Exit & { to?: string }; entries: Entry[] }
// An entry is a phase. `on` is the way by which it goes on to what stands below it; lanes are its ways where there are several.
export interface Entry { phase: Phase; lanes: Lane[]; on: (Exit & { to?: string }) | null }

// An Outlined is the whole outline, and the phases to which no way leads.
interface Outlined { entries: Entry[]; loose: Entry[] }
const made = new WeakMap<Definition, Outlined>();

// outlined outlines a definition, once.
export function outlined(d: Definition): Outlined {
  const have = made.get(d) ?? laid(d);
  made.set(d, have);
  return have;
}

function laid(d: Definition): Outlined {
  const out = new Map(d.phases.map((p) => [p.id, allExits(d, p)]));
  const reach = reached(out);
  const seen = new Set<string>();
  const walk = (id: string | undefined, until: Set<string>): Entry[] => {
    const list: Entry[] = [];
    for (let at = id; at !== undefined && !until.has(at) && !seen.has(at);) {
      const phase = phaseOf(d, at);
      if (!phase) break;
      seen.add(at);
      const ways = out.get(at) ?? [];
      if (opens(phase)) {
        const end = text(phase['end']);
        const stop = new Set([...until, ...(seen.has(end) ? [] : behind(end, out, seen))]);
        list.push({ phase, lanes: ways.map((exit) => ({ exit, entries: walk(exit.to, stop) })), on: null });
        at = end;
        continue;
      }
      if (ways.length < 2) {
        list.push({ phase, lanes: [], on: ways[0] ?? null });
        at = ways[0]?.to;
        continue;
      }
      const meet = meeting(ways.map((w) => w.to), reach, (x) => seen.has(x) || until.has(x));
      const stop = meet === undefined ? until : new Set([...until, ...behind(meet, out, seen)]);
      list.push({ phase, lanes: ways.map((exit) => ({ exit, entries: walk(exit.to, stop) })), on: null });
      at = meet;
    }
    return list;
  };
  const entries = walk(d.phases.find((p) => p.type === 'START')?.id, new Set());
  const loose = d.phases.filter((p) => !seen.has(p.id)).flatMap((p) => walk(p.id, new Set()));
  return { entries, loose };
}

type Reach = (id: string) => Set<string>;

// reached are the phases that can be come to from each, with itself, the nearest first.
function reached(out: Map<string, { to?: string }[]>): Reach {
  const known = new Map<string, Set<string>>();
  return (id) => {
    const have = known.get(id);
    if (have) return have;
    const found = new Set([id]);
    for (const at of found) for (const w of out.get(at) ?? []) if (w.to !== undefined) found.add(w.to);
    known.set(id, found);
    return found;
  };
}

// behind are a phase and those that follow it, without going back through what stands above it.
function behind(id: string, out: Map<string, { to?: string }[]>, above: Set<string>): Set<string> {
  const found = new Set([id]);
  for (const at of found) for (const w of out.get(at) ?? []) if (w.to !== undefined && !above.has(w.to)) found.add(w.to);
  return found;
}

// meeting is the first phase in which all ways meet that lead on; undefined where they do not.
function meeting(to: (string | undefined)[], reach: Reach, passed: (id: string) => boolean): string | undefined {
  const ahead = [...new Set(to)].filter((x): x is string => x !== undefined && !passed(x));
  const sets = ahead.map(reach);
  return sets.length < 2 ? (sets.length === 1 && to.length > ahead.length ? undefined : ahead[0]) : [...sets[0] ?? []].find((x) => !passed(x) && sets.every((s) => s.has(x)));
}

// flat are all phases of an outline from top to bottom.
export const flat = (entries: Entry[]): Phase[] => entries.flatMap((e) => [e.phase, ...e.lanes.flatMap((l) => flat(l.entries))]);
export const ordered = (d: Definition): Phase[] => flat([...outlined(d).entries, ...outlined(d).loose]);
