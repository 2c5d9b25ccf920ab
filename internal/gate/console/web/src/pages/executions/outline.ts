// outline puts what an execution has done in the order in which one reads it: what was done in a branch stands below the block that has
// opened it, and what followed the block after that. The history has all of it in the order of time, branches among one another.
import { opens } from '../../parts/blocks';

interface Visit { type: string; branch?: string | null }

export interface Lane<V> { name: string; steps: Step<V>[] }
export interface Step<V> { visit: V; lanes: Lane<V>[] }

// outlined takes visits in the order of time. A branch is written with those around it, as in “Rooms / 2”.
export function outlined<V extends Visit>(visits: readonly V[]): Step<V>[] {
  const all: Step<V>[] = [];
  const blocks: { within: string; step: Step<V> }[] = []; // the last one first
  for (const visit of visits) {
    const step: Step<V> = { visit, lanes: [] };
    const of = visit.branch ?? '';
    let block: typeof blocks[number] | undefined;
    if (of !== '') for (const b of blocks) if (of.startsWith(b.within) && (!block || b.within.length > block.within.length)) block = b;
    if (block) laneOf(block.step, of.slice(block.within.length)).steps.push(step);
    else all.push(step);
    if (opens(visit)) blocks.unshift({ within: of === '' ? '' : `${of} / `, step });
  }
  return all;
}

function laneOf<V>(step: Step<V>, name: string): Lane<V> {
  const there = step.lanes.find((l) => l.name === name);
  if (there) return there;
  const made: Lane<V> = { name, steps: [] };
  step.lanes.push(made);
  return made;
}
