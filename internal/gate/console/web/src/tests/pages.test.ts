import { Client, createRequest, type Exchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { delay, filter, map, pipe, subscribe } from 'wonka';
import { describe, expect, it } from 'vitest';
import { pages } from '../app/pages';

const query = 'query ($first: Int, $after: String) { rows(first: $first, after: $after) { __typename totalCount pageInfo { __typename hasNextPage endCursor } edges { __typename node { __typename id } } } }';

// server has rows that are read three at a time, each page after the row that its cursor names.
function server(ids: () => string[]): Exchange {
  return () => (operations) => pipe(operations, filter((o) => o.kind === 'query'), delay(0), map((operation) => {
    const all = ids();
    const from = operation.variables?.['after'] ? all.indexOf(operation.variables['after'] as string) + 1 : 0;
    const page = all.slice(from, from + 3);
    return { operation, stale: false, hasNext: false, error: undefined, data: { __typename: 'Query', rows: {
      __typename: 'RowConnection', totalCount: all.length, pageInfo: { __typename: 'PageInfo', hasNextPage: from + 3 < all.length, endCursor: page.at(-1) ?? null },
      edges: page.map((id) => ({ __typename: 'RowEdge', node: { __typename: 'Row', id } })),
    } } };
  }));
}

describe('the pages of a list', () => {
  it('are one list, also for who has read the first, and stop where one does not follow', async () => {
    let ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const client = new Client({ url: '/', preferGetMethod: false, exchanges: [cacheExchange({ keys: { PageInfo: () => null }, resolvers: { Query: { rows: pages } } }), server(() => ids)] });
    let shown = '';
    const { unsubscribe } = pipe(client.executeQuery(createRequest(query, { first: 3 })), subscribe((r) => {
      const rows = (r.data as { rows: { pageInfo: { endCursor: string }; edges: { node: { id: string } }[] } } | undefined)?.rows;
      if (rows) shown = `${rows.edges.map((e) => e.node.id).join('')} ${rows.pageInfo.endCursor}`;
    }));
    const read = async (after?: string) => { await client.query(query, { first: 3, ...(after ? { after } : {}) }, { requestPolicy: 'network-only' }).toPromise(); return shown; };
    expect(await read()).toBe('abc c');
    expect(await read('c')).toBe('abcdef f');
    expect(await read('f')).toBe('abcdefg g');
    ids = ['x', ...ids];
    expect(await read()).toBe('xab b');
    expect(await read('b')).toBe('xabcde e');
    unsubscribe();
  });
});
