// blockedit changes the phases that open and end a block, and what stands in it with them.
import { branchesOf, opens } from '../../../parts/blocks';
import { branchNames, endIn, insideOf, mostBranches, scopeOf } from './blocks';
import { phaseOf, wayAt, type Definition, type Phase } from './definition';
import { freeId } from './paste';
import { memberRenamedIn } from './refer';
import { list, put, text } from './shape';
import { led, turned } from './turn';

// setBlock changes what a phase of a block says. What stood in a branch that it has no more goes, its end gets a way out where it may be
// given up, and expressions follow the name of an entry.
export function setBlock(d: Definition, was: Phase, phase: Phase): Definition {
  const starts = branchesOf(phase).map((b) => b['start']);
  const gone = new Set(branchesOf(was).flatMap((b, i) => (was.type !== 'PARALLEL' || starts.includes(b['start']) ? [] : insideOf(d, was.id, i))));
  const kept = { ...d, phases: d.phases.filter((p) => !gone.has(p.id)).map((p) => (p === was ? phase : p)), transitions: d.transitions.filter((w) => !gone.has(w.from) && !gone.has(w.to)) };
  const rest = gone.size > 0 ? turned(kept, (w) => (gone.has(w.to) ? undefined : w.to)) : kept;
  return entryNamed(givenUp(rest, d, was, phase), was, phase);
}

function givenUp(to: Definition, d: Definition, was: Phase, phase: Phase): Definition {
  const [before, after] = [was['onFault'] === 'cancel', phase['onFault'] === 'cancel'];
  const end = text(phase['end']);
  if (!opens(phase) || before === after || phaseOf(to, end)?.type !== 'JOIN') return to;
  if (!after) return led(to, { from: end, name: 'failed' }, undefined);
  const scope = scopeOf(d, phase.id);
  const on = scope ? wayAt(d, { from: end, name: 'next' })?.to : endIn(d, null);
  return wayAt(d, { from: end, name: 'failed' }) || on === undefined ? to : led(to, { from: end, name: 'failed' }, on);
}

function entryNamed(d: Definition, was: Phase, phase: Phase): Definition {
  const [before, after] = [text(was['as']), text(phase['as'])];
  if (phase.type !== 'FOR_EACH' || before === '' || after === '' || before === after) return d;
  return { ...d, phases: d.phases.map((p) => memberRenamedIn(p, phase.id, before, after) as Phase) };
}

// addBranch adds a branch of a name that no other one has, with a phase that leads to the end of the block.
export function addBranch(d: Definition, id: string, name: string, phase: Phase): Definition {
  const block = phaseOf(d, id);
  const end = text(block?.['end']);
  if (block?.type !== 'PARALLEL' || branchNames(block).length >= mostBranches || branchNames(block).includes(name) || name === '' || !phaseOf(d, end)) return d;
  const start = freeId((x) => phaseOf(d, x) !== undefined, phase.id);
  const behind = Math.max(...[id, ...insideOf(d, id)].map((x) => d.phases.findIndex((p) => p.id === x))) + 1;
  const to = put(block, 'branches', [...list(block['branches']), { name, start }]);
  const phases = d.phases.map((p) => (p === block ? to : p));
  return { ...d, phases: [...phases.slice(0, behind), { ...phase, id: start }, ...phases.slice(behind)], transitions: [...d.transitions, { from: start, name: 'next', to: end }] };
}
