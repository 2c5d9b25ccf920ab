import { expect, test } from 'vitest';
import { tagsOf, textOf } from '../ui/tags';

test('tags are read in both notations, and those that nobody touched stay as they are', () => {
  expect(tagsOf('a=1\nb: 2\nc:3\nd', {})).toEqual({ a: '1', b: '2', c: '3', d: '' });
  const odd = { 'a=b': 'c' };
  expect(tagsOf(textOf(odd), odd)).toBe(odd);
  expect(tagsOf(`${textOf(odd)}\nx=y`, odd)).toEqual({ 'a=b': 'c', x: 'y' });
  expect(tagsOf('k8s:app=web', {})).toEqual({ 'k8s:app': 'web' });
});
