import { describe, expect, it } from 'vitest';
import { drawable, laid, ofPhase, phaseAt, place, placeOf, wayMost, type Definition } from '../parts/picture';

describe('the picture of a definition that somebody is still writing', () => {
  it.each([null, [], 'text', 7, {}, { phases: null }, { phases: [null, 1, {}, { id: 3 }], transitions: {} }])('draws nothing of %j', (v) => {
    expect(place(drawable(v))).toEqual([]);
  });
  it('draws what is there, and each id once', () => {
    const d = drawable({ phases: [{ id: 'a', type: 'START' }, { id: 'a', type: 'END' }, { id: 'b', type: 'END' }], transitions: [null, { from: 'a', to: 'b' }] });
    expect(place(d).map((p) => `${p.id} ${p.layer}`)).toEqual(['a 0', 'b 1']);
  });
});

describe('the places of phases', () => {
  const chain = (n: number, more: { from: string; to: string }[] = []) => ({
    phases: Array.from({ length: n }, (_x, i) => ({ id: `p${i}`, type: i === 0 ? 'START' : i === n - 1 ? 'END' : 'PROCESS' })), transitions: [...Array.from({ length: n - 1 }, (_x, i) => ({ from: `p${i}`, to: `p${i + 1}` })), ...more],
  });
  const layers = (d: Definition) => place(d).map((p) => p.layer);
  it('are in the order of 200 of them', () => { expect(layers(chain(200))).toEqual(Array.from({ length: 200 }, (_x, i) => i)); });
  it('are behind the longest way, also where one leads back', () => {
    expect(layers(chain(5, [{ from: 'p0', to: 'p3' }, { from: 'p3', to: 'p1' }, { from: 'p2', to: 'p2' }]))).toEqual([0, 1, 2, 3, 4]);
  });
  it('are found at once where many ways branch and meet', () => {
    const wide = chain(180, Array.from({ length: 178 }, (_x, i) => ({ from: `p${i}`, to: `p${i + 2}` })));
    const begun = performance.now();
    expect(layers(wide).at(-1)).toBe(179);
    expect(performance.now() - begun).toBeLessThan(500);
  });
});

describe('the + of a way', () => {
  const d = drawable({
    phases: [{ id: 'a', type: 'START' }, { id: 'b', type: 'APPROVAL' }, { id: 'c', type: 'END' }, { id: 'd', type: 'END' }],
    transitions: [{ from: 'a', name: 'next', to: 'b' }, { from: 'b', name: 'approved', to: 'c' }, { from: 'b', name: 'rejected', to: 'd' }, { from: 'b', name: 'expired', to: 'd' }],
  });
  it('covers no name of a way and no other +', () => {
    const { lines } = laid(d);
    for (const l of lines) {
      for (const o of lines) {
        if (o !== l) expect(Math.hypot(l.x - o.x, l.y - o.y), `${l.key}, ${o.key}`).toBeGreaterThan(16);
        const ends = o.saysX + 6 * Math.min(o.says.length, wayMost); // a letter is about 6 pixels wide
        if (o.says) expect(l.x + 8 < o.saysX || l.x - 8 > ends || l.y - 8 > o.saysY + 3 || l.y + 8 < o.saysY - 9, `${l.key} on ${o.says}`).toBe(true);
      }
    }
  });
});

describe('a fault of a definition', () => {
  const sent = { phases: [{ id: 'review', type: 'APPROVAL', name: '' }, { id: 'work', type: 'PROCESS', name: 'Work' }], transitions: [null, { from: 'work', to: 'nowhere' }] };
  const d = drawable(sent);
  it.each([
    ['definition.phases[review]', 'review', 'review', 'No.'],
    ['definition.phases[work].config.title', 'work', 'Work, config.title', 'config.title: No.'],
    ['definition.transitions[1].to', 'work', 'transitions[1].to', 'transition to: No.'],
    ['definition.transitions[0]', '', 'transitions[0]', 'transition: No.'],
    ['definition', '', 'definition', 'No.'],
  ])('at %s is of the phase “%s”, and says where', (field, phase, place_, beside) => {
    expect(phaseAt(sent, field)).toBe(phase);
    expect(placeOf(d, field)).toBe(place_);
    expect(ofPhase({ field, message: 'No.' })).toBe(beside);
  });
});
