import { describe, expect, it } from 'vitest';
import { tableOf } from '../pages/requests/search';

describe('the table of a list', () => {
  it('has the filters and the order of the list', () => {
    expect(tableOf({ status: 'PENDING,COMPLETED', teamId: 'none', q: 'big printer & co', peek: 'req_1', columns: 'title', sort: 'title' }, 'title'))
      .toBe('/v1/requests.csv?status=PENDING,COMPLETED&teamId=none&q=big%20printer%20%26%20co&sort=title');
  });
  it('asks for tags by their keys', () => {
    expect(tableOf({ 'tag.site': 'berlin,bern' }, '-createdAt')).toBe('/v1/requests.csv?tag.site=berlin,bern&sort=-createdAt');
  });
});
