import { describe, expect, it } from 'vitest';
import { outlined, type Step } from '../pages/executions/outline';

interface Visit { id: string; type: string; branch: string | null }
const visits = (text: string): Visit[] => text.split('\n').map((line) => {
  const [id = '', type = '', ...branch] = line.trim().split(' ');
  return { id, type, branch: branch.join(' ') || null };
});
// shown writes an outline down: a step as its id, and the branches of a block in brackets.
const shown = (steps: Step<Visit>[]): string => steps.map((s) => s.visit.id + s.lanes.map((l) => ` [${l.name}: ${shown(l.steps)}]`).join('')).join(' ');

describe('the outline of what an execution has done', () => {
  it('puts branches below their block, and blocks into branches', () => {
    expect(shown(outlined(visits(`s START
      prepare PARALLEL
      order PROCESS Laptop
      each FOR_EACH Rooms
      clean PROCESS Rooms / 1
      clean2 PROCESS Rooms / 2
      unpack PROCESS Laptop
      look PROCESS Rooms / 1
      cleaned JOIN Rooms
      prepared JOIN
      e END`)))).toBe('s prepare [Laptop: order unpack] [Rooms: each [1: clean look] [2: clean2] cleaned] prepared e');
  });
  it('keeps each round of a loop apart', () => {
    expect(shown(outlined(visits(`each FOR_EACH
      a PROCESS 1
      end JOIN
      each2 FOR_EACH
      b PROCESS 1
      c PROCESS 2`)))).toBe('each [1: a] end each2 [1: b] [2: c]');
    expect(shown(outlined(visits(`p PARALLEL
      in1 FOR_EACH A
      x PROCESS A / 1
      j1 JOIN A
      in2 FOR_EACH A
      y PROCESS A / 1`)))).toBe('p [A: in1 [1: x] j1 in2 [1: y]]');
  });
  it('shows what belongs to no block that it knows', () => {
    expect(shown(outlined(visits('a PROCESS Lost')))).toBe('a');
  });
});
