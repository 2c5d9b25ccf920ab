import { describe, expect, it } from 'vitest';
import { asked, put } from '../parts/mention';

describe('a mention that is being written', () => {
  it.each([
    ['@', { from: 0, q: '' }], ['Ask @rob', { from: 4, q: 'rob' }], ['(@rob', { from: 1, q: 'rob' }], ['Ask @Robin L', { from: 4, q: 'Robin L' }], ['one\n@r', { from: 4, q: 'r' }],
  ])('is what stands behind an @: %j', (text, found) => { expect(asked(text, text.length)).toEqual(found); });
  it.each(['', 'rob', 'lead@demo.example', '@lead@demo.example ', 'Ask @Robin Lead now'])('is none in %j', (text) => { expect(asked(text, text.length)).toBeNull(); });
  it('is looked for where one writes, whatever comes after', () => { expect(asked('Ask @rob, please', 8)).toEqual({ from: 4, q: 'rob' }); });
  it('gives way to the one that was chosen', () => {
    expect(put('Ask @rob please', 4, 8, 'lead@demo.example')).toEqual({ text: 'Ask @lead@demo.example please', at: 23 });
    expect(put('@', 0, 1, 'a@b.c')).toEqual({ text: '@a@b.c ', at: 7 });
  });
});
