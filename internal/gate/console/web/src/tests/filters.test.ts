import { expect, test } from 'vitest';
import { filtered, offered, type RequestSearch } from '../pages/requests/search';

test('each filter that is offered has a chip once it is set', () => {
  for (const name of offered) {
    const key = name === 'tag' ? 'tag.env' : name; // a tag stands by its key in the address
    expect(filtered({ [key]: 'x' } as RequestSearch)).toEqual([key]);
  }
});
