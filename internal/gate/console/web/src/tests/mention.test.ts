import { describe, expect, it } from 'vitest';
import { asked, put } from '../parts/mention';

const both = ['@', '/'] as const;
const at = (text: string) => asked(text, text.length, both);

describe('a mention that is being written', () => {
  it.each([
    ['@', { from: 0, q: '' }], ['Ask @rob', { from: 4, q: 'rob' }], ['(@rob', { from: 1, q: 'rob' }], ['Ask @Robin L', { from: 4, q: 'Robin L' }], ['one\n@r', { from: 4, q: 'r' }],
  ])('is what stands behind an @: %j', (text, found) => { expect(at(text)).toEqual({ sign: '@', ...found }); });
  it.each(['', 'rob', 'lead@demo.example', '@lead@demo.example ', 'Ask @Robin Lead now'])('is none in %j', (text) => { expect(at(text)).toBeNull(); });
  it('is looked for where one writes, whatever comes after', () => { expect(asked('Ask @rob, please', 8, both)).toEqual({ sign: '@', from: 4, q: 'rob' }); });
  it('gives way to the one that was chosen', () => {
    expect(put('Ask @rob please', 4, 8, '@lead@demo.example ')).toEqual({ text: 'Ask @lead@demo.example please', at: 23 });
    expect(put('@', 0, 1, '@a@b.c ')).toEqual({ text: '@a@b.c ', at: 7 });
  });
});

describe('a saved reply that is asked for', () => {
  it.each([
    ['/', { from: 0, q: '' }], ['Hello\n/ship', { from: 6, q: 'ship' }], ['Hello /ask for', { from: 6, q: 'ask for' }], ['/ask for ', { from: 0, q: 'ask for ' }],
  ])('is what stands behind a slash: %j', (text, found) => { expect(at(text)).toEqual({ sign: '/', ...found }); });
  it.each(['and/or', 'https://x', '1 / 2', 'see /etc/hosts', '/one two three four five six', 'a//'])('is none in %j', (text) => { expect(at(text)).toBeNull(); });
  it('is not looked for by who may read none', () => { expect(asked('/', 1, ['@'])).toBeNull(); });
  it('stands where it was asked for, or at the cursor', () => {
    expect(put('Hello\n/ship\nBye', 6, 11, 'It is on its way.')).toEqual({ text: 'Hello\nIt is on its way.\nBye', at: 23 });
    expect(put('Hello Bye', 5, 5, 'there,')).toEqual({ text: 'Hello there, Bye', at: 12 });
    expect(put('a b', 2, 3, 'c')).toEqual({ text: 'a c', at: 3 });
  });
  it('sticks to no word', () => { expect(put('oneTWO', 3, 3, 'and')).toEqual({ text: 'one and TWO', at: 7 }); });
});
