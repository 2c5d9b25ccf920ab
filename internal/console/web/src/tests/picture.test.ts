import { describe, expect, it } from 'vitest';
import { drawable, place } from '../parts/picture';

describe('the picture of a definition that somebody is still writing', () => {
  it.each([null, [], 'text', 7, {}, { phases: null }, { phases: [null, 1, {}, { id: 3 }], transitions: {} }])('draws nothing of %j', (v) => {
    expect(place(drawable(v))).toEqual([]);
  });
  it('draws what is there, and each id once', () => {
    const d = drawable({ phases: [{ id: 'a', type: 'START' }, { id: 'a', type: 'END' }, { id: 'b', type: 'END' }], transitions: [null, { from: 'a', to: 'b' }] });
    expect(place(d).map((p) => `${p.id} ${p.layer}`)).toEqual(['a 0', 'b 1']);
  });
});
