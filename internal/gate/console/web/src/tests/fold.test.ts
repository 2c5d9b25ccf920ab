import { expect, test } from 'vitest';
import { finds } from '../app/fold';
import { score } from '../keys/score';

// What is typed is found without case, accents and the way in which they are written, in every script, by words in any order.
test.each([
  ['Οδυσσευς', 'ΟΔΥΣ'], ['Οδυσσεύς', 'οδυσσευσ'], ['Cafe\u0301', 'café'], ['Zürich', 'zurich'], ['Straße 7', 'STRASSE'], ['ПРИВЕТ', 'привет'], ['Laptop is slow', 'slow lap'], ['Anything', ''],
])('%s is found by %s', (text, query) => { expect(finds(text, query)).toBe(true); });

test('what is not there is not found', () => {
  expect(finds('Laptop is slow', 'slow printer')).toBe(false);
  expect(score('Zürich', 'zurich')).toBe(1000);
  expect(score('Zürich', 'x')).toBe(-1);
});
