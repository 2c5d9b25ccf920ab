import { describe, expect, it } from 'vitest';
import { kindsOf, presetOf, presets, taken } from '../ui/accept';
import { filesOf } from '../ui/answer';
import { opsOf } from '../parts/conditions';
import { askedOf } from '../parts/visiblewhen';

const file = (name: string, type = '') => ({ name, type });

describe('which files a question takes', () => {
  it('knows the kinds that people choose from, and others', () => {
    expect(Object.entries(presets).map(([key, p]) => presetOf(p.accept) === key)).toEqual(Object.keys(presets).map(() => true));
    expect([presetOf(undefined), presetOf([]), presetOf(['.dwg'])]).toEqual(['any', 'own', 'own']);
    expect(kindsOf(['image/*', '.pdf', '.dwg'])).toBe('images, PDF, .dwg');
  });

  it('goes by the ending of the name, and by the type that the browser tells', () => {
    expect([taken(null, file('a')), taken([], file('a'))]).toEqual([true, true]);
    expect([taken(['.PDF'], file('a.pdf')), taken(['.pdf'], file('a.txt', 'application/pdf'))]).toEqual([true, false]);
    expect([taken(['image/*'], file('a', 'image/png')), taken(['image/*'], file('a', 'text/plain')), taken(['image/png'], file('a', 'image/gif'))]).toEqual([true, false, false]);
    expect(taken(['image/*'], file('photo.heic'))).toBe(true); // the browser does not know: the server does
  });
});

it('finds the files among answers', () => {
  const id = 'att_01k9ye4ryzf7stj6dqnm8x2v3b';
  expect([filesOf([id]), filesOf([]), filesOf([id, 'a']), filesOf(id), filesOf(null)]).toEqual([[id], [], [], [], []]);
});

it('compares no files, but whether there are some', () => {
  expect(askedOf([{ key: 'a', type: 'file' }, { key: 'b', type: 'text' }, { key: 'c', type: 'text' }], 2).map((f) => f.expression)).toEqual(['b']);
  expect(opsOf({ expression: 'request.fields.a', label: 'A', group: '', type: 'LIST', optional: true, values: [] }).slice(0, 2)).toEqual(['empty', 'notEmpty']);
});
