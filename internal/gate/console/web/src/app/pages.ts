import type { Resolver } from '@urql/exchange-graphcache';

// pages are a list's first page and those that follow on it, as one list. A page that was read before the one ahead of it changed
// follows on nothing, and is left out until it is read again.
export const pages: Resolver = (_parent, args, cache, { parentKey, fieldName }) => {
  const own = cache.resolve(parentKey, fieldName, Object.keys(args).length > 0 ? args : undefined);
  if (typeof own !== 'string' || !('first' in args)) return own as never;
  const { after: asked, ...first } = args;
  const edges = new Map<unknown, string>();
  const passed = new Set<unknown>([undefined]);
  let pageInfo: unknown;
  for (let after: unknown; ;) {
    const page = cache.resolve(parentKey, fieldName, after ? { ...first, after } as never : first);
    if (typeof page !== 'string') break;
    for (const edge of (cache.resolve(page, 'edges') ?? []) as string[]) edges.set(cache.resolve(edge, 'node'), edge);
    pageInfo = cache.resolve(page, 'pageInfo');
    after = typeof pageInfo === 'string' && cache.resolve(pageInfo, 'hasNextPage') ? cache.resolve(pageInfo, 'endCursor') : undefined;
    if (passed.has(after)) break;
    passed.add(after);
  }
  return passed.has(asked) && pageInfo ? { __typename: cache.resolve(own, '__typename'), edges: [...edges.values()], pageInfo } as never : own;
};
