// blocks reads the blocks of a definition: a PARALLEL or FOR_EACH opens one, which the JOIN ends that it names. These phases hold their
// ways out themselves; those of all others are among the transitions.

export type Way = { from: string; name: string; to: string };
type Raw = Record<string, unknown>;

const text = (v: unknown) => (typeof v === 'string' ? v : '');
const record = (v: unknown): v is Raw => typeof v === 'object' && v !== null && !Array.isArray(v);

export const opens = (p: { type?: unknown } | undefined): boolean => p?.type === 'PARALLEL' || p?.type === 'FOR_EACH';
export const holds = (p: { type?: unknown } | undefined): boolean => opens(p) || p?.type === 'JOIN';

// each is the name of the way into what runs for each entry of a list: that of a branch is the branch's.
export const each = 'each';

export const branchesOf = (p: object): Raw[] => { const all = (p as Raw)['branches']; return Array.isArray(all) ? all.filter(record) : []; };

// heldWays are the ways out that a phase holds itself, without those that lead nowhere.
export function heldWays(of: object): Way[] {
  const p = of as Raw;
  const from = text(p['id']);
  const all = p['type'] === 'PARALLEL' ? branchesOf(p).map((b) => [text(b['name']), b['start']])
    : p['type'] === 'FOR_EACH' ? [[each, p['start']]]
    : p['type'] === 'JOIN' ? [['next', p['next']], ['failed', p['failed']]] : [];
  return all.map(([name, to]) => ({ from, name: text(name), to: text(to) })).filter((w) => w.to !== '');
}

// structure is what of a phase its picture needs besides its id, type and name.
export const structure = (p: Raw): Raw => (holds(p) ? Object.fromEntries(['branches', 'start', 'end', 'next', 'failed'].filter((k) => k in p).map((k) => [k, p[k]])) : {});

// insides are the phases within each block, by the phase that opens it: a list for each branch. A block is all that can be reached from
// the starts of its branches without its end. What comes after the end belongs to none.
export function insides<P extends { id: string; type: string }>(phases: P[], to: (id: string) => string[]): Map<string, string[][]> {
  const reach = (from: string, stop: string[]) => {
    const seen = new Set(from === '' || stop.includes(from) ? [] : [from]);
    for (const at of seen) for (const next of to(at)) if (!stop.includes(next)) seen.add(next);
    return seen;
  };
  const openedBy = new Map(phases.filter(opens).map((p) => [text((p as unknown as Raw)['end']), p.id]));
  const ends = new Set(phases.filter((p) => p.type === 'END').map((p) => p.id));
  // leaks reports whether a branch goes on past the end of its block: to the end of the workflow or of another block around it.
  const leaks = (all: Set<string>) => [...all].some((id) => ends.has(id) || (openedBy.has(id) && !all.has(openedBy.get(id) ?? '')));
  return new Map(phases.filter(opens).map((p) => {
    const end = text((p as unknown as Raw)['end']);
    const starts = p.type === 'PARALLEL' ? branchesOf(p).map((b) => text(b['start'])) : [text((p as unknown as Raw)['start'])];
    const found = starts.map((s) => reach(s, [p.id, end]));
    const after = found.some((all) => leaks(all)) ? reach(end, [p.id]) : null;
    const taken = new Set<string>();
    return [p.id, found.map((all) => [...all].filter((id) => !after?.has(id) && !taken.has(id) && taken.add(id)))];
  }));
}
