// patch keeps what a command has changed as a stretch of phases and one of ways, so that it can be taken back and done again.
import type { Definition, Phase, Way } from './definition';

interface Stretch<T> { at: number; out: T[]; in: T[] }
export interface Patch { phases: Stretch<Phase>; transitions: Stretch<Way> }

function stretch<T>(from: T[], to: T[]): Stretch<T> {
  let [start, end] = [0, 0];
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  while (end < from.length - start && end < to.length - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end++;
  return { at: start, out: from.slice(start, from.length - end), in: to.slice(start, to.length - end) };
}

const turned = <T>(s: Stretch<T>): Stretch<T> => ({ at: s.at, out: s.in, in: s.out });
const put = <T>(list: T[], s: Stretch<T>): T[] => [...list.slice(0, s.at), ...s.in, ...list.slice(s.at + s.out.length)];

// between is the patch that makes one definition of another; inverse takes it back.
export const between = (from: Definition, to: Definition): Patch => ({ phases: stretch(from.phases, to.phases), transitions: stretch(from.transitions, to.transitions) });
export const inverse = (p: Patch): Patch => ({ phases: turned(p.phases), transitions: turned(p.transitions) });
export const patched = (d: Definition, p: Patch): Definition => ({ ...d, phases: put(d.phases, p.phases), transitions: put(d.transitions, p.transitions) });

// History is what was done and what was taken back, the last one last: 100 steps at most. Steps with one name, as the letters of one
// field, are one step.
export interface Step { patch: Patch; named: string; at: number }
export interface History { done: Step[]; undone: Step[] }

export const none: History = { done: [], undone: [] };
const most = 100;
const together = 2000; // milliseconds

export function noted(h: History, from: Definition, to: Definition, named = '', at = 0): History {
  const last = h.done.at(-1);
  const joined = last && named !== '' && last.named === named && at - last.at < together;
  const start = joined ? patched(from, inverse(last.patch)) : from;
  return { done: [...(joined ? h.done.slice(0, -1) : h.done), { patch: between(start, to), named, at }].slice(-most), undone: [] };
}

// stepped goes a step back or on again; null where there is none.
export function stepped(h: History, d: Definition, back: boolean): { history: History; definition: Definition } | null {
  const step = (back ? h.done : h.undone).at(-1);
  if (!step) return null;
  const closed = { ...step, named: '' };
  return back
    ? { history: { done: h.done.slice(0, -1), undone: [...h.undone, closed] }, definition: patched(d, inverse(step.patch)) }
    : { history: { done: [...h.done, closed], undone: h.undone.slice(0, -1) }, definition: patched(d, step.patch) };
}
