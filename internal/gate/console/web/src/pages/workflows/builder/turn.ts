// turn lets ways lead elsewhere, whether they are transitions or a phase of a block holds them itself.
import { branchesOf, each, heldWays, holds } from '../../../parts/blocks';
import { phaseOf, wayAt, type Definition, type Exit, type Phase, type Way } from './definition';
import { put } from './shape';

// heldTo is a phase of a block whose way of a name leads elsewhere, or nowhere.
function heldTo(p: Phase, name: string, to: string | undefined): Phase {
  if (p.type === 'PARALLEL') return put(p, 'branches', branchesOf(p).map((b) => (b['name'] === name ? put(b, 'start', to) : b)));
  return put(p, name === each ? 'start' : name, to);
}

// led is a definition in which one way out leads elsewhere, or nowhere.
export function led(d: Definition, at: Exit, to: string | undefined): Definition {
  const p = phaseOf(d, at.from);
  if (p && holds(p)) return { ...d, phases: d.phases.map((x) => (x === p ? heldTo(p, at.name, to) : x)) };
  const way = wayAt(d, at);
  if (to === undefined) return { ...d, transitions: d.transitions.filter((w) => w !== way) };
  return { ...d, transitions: way ? d.transitions.map((w) => (w === way ? { ...w, to } : w)) : [...d.transitions, { from: at.from, name: at.name, to }] };
}

// turned is a definition in which ways lead where a function says, or nowhere. What stays the same is the same object.
export function turned(d: Definition, to: (w: Way) => string | undefined): Definition {
  return {
    ...d,
    phases: d.phases.map((p) => (holds(p) ? heldWays(p).reduce((q, w) => { const now = to(w); return now === w.to ? q : heldTo(q, w.name, now); }, p) : p)),
    transitions: d.transitions.flatMap((w) => { const now = to(w); return now === w.to ? [w] : now === undefined ? [] : [{ ...w, to: now }]; }),
  };
}
