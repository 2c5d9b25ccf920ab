import { expect, it } from 'vitest';
import { copyOf } from '../pages/workflows/copies';

it('the copies of a workflow are numbered, also in the slugs of long names', () => {
  expect([1, 2, 11].map((n) => copyOf({ name: 'Buy', slug: 'buy' }, n))).toEqual([
    { name: 'Buy (copy)', slug: 'buy-copy' }, { name: 'Buy (copy 2)', slug: 'buy-copy-2' }, { name: 'Buy (copy 11)', slug: 'buy-copy-11' },
  ]);
  const slugs = [1, 2].map((n) => copyOf({ name: 'x', slug: `${'a'.repeat(49)}-${'b'.repeat(13)}` }, n).slug);
  expect(slugs).toEqual([`${'a'.repeat(49)}-copy`, `${'a'.repeat(49)}-copy-2`]);
});
