// client is urql's, with a normalised cache: a change of a row, by whomever, is seen wherever the row is shown.
import { Client, makeOperation, mapExchange, type Exchange } from '@urql/core';
import { cacheExchange, type Cache, type UpdateResolver } from '@urql/exchange-graphcache';
import { embedded, paged, stale } from '../gen/cache';
import { texts } from './document';
import { network, operationName } from './network';
import { pages } from './pages';

// updates are what becomes stale beside the rows that an answer brings: fields of Query, and of the row that the input names by a key.
const updates = (fieldsOf: Record<string, string>): Record<string, UpdateResolver> => Object.fromEntries(Object.entries(fieldsOf).map(([name, fields]) => [
  name, (_result, args, cache) => {
    for (const f of fields.split(' ')) {
      const [type, key, field] = f.split('.') as [string, string?, string?];
      if (key && field) invalidate(cache, { __typename: type, id: (args as Input).input[key] as string }, field);
      else invalidate(cache, 'Query', f); // not said
    }
  },
]));

function invalidate(cache: Cache, of: 'Query' | { __typename: string; id: string }, field: string) {
  for (const f of cache.inspectFields(of)) {
    if (f.fieldName === field) cache.invalidate(of, field, f.arguments ?? undefined);
  }
}

// each gives all names of a text the same value.
const each = <T>(names: string, value: T): Record<string, T> => Object.fromEntries(names.split(' ').map((name) => [name, value]));

type Input = { input: { id: string; [field: string]: unknown } };

// staff is whether the person reads all requests and executions. What members are refused beside a row, their documents do not ask
// for. Before the session is known, it is what the last one was.
let staff = localStorage.getItem('staff') !== 'no';

export const wasStaff = () => staff;

export function isStaff(is: boolean): void {
  if (staff === is) return;
  staff = is;
  localStorage.setItem('staff', is ? 'yes' : 'no');
}

const withStaff: Exchange = mapExchange({
  onOperation: (o) => (texts.get(operationName(o))?.includes('$staff') ? makeOperation(o.kind, { ...o, variables: { ...o.variables, staff } }) : o),
});

export const client = new Client({
  url: '/graphql', preferGetMethod: false, requestPolicy: 'cache-and-network',
  exchanges: [
    withStaff,
    cacheExchange({
      keys: each(embedded, () => null),
      resolvers: Object.fromEntries(Object.entries(paged).map(([type, fields]) => [type, each(fields, pages)])),
      updates: { Mutation: updates(stale.Mutation), Subscription: updates(stale.Subscription) },
      // Only what is cheap to take back is shown before the server has answered.
      optimistic: {
        acceptRequest: (args) => row(args as Input, { status: 'IN_PROGRESS' }),
        declineRequest: (args) => row(args as Input, { status: 'CANCELLED' }),
        updateRequest: (args) => {
          const { id: _id, ifMatch: _etag, assigneeId, teamId, ...rest } = (args as Input).input;
          return row(args as Input, { ...rest, ...(assigneeId === undefined ? {} : { assigneeId }), ...(teamId === undefined ? {} : { teamId }) });
        },
      },
    }),
    network,
  ],
});

// uncached reads what leaves the page, such as a file of many pages of a list: the cache would join them to what is shown.
export const uncached = new Client({ url: '/graphql', preferGetMethod: false, exchanges: [network] });

function row(args: Input, fields: Record<string, unknown>) {
  return { __typename: 'UpdateRequestPayload', request: { __typename: 'Request', id: args.input.id, ...fields } }; // not said
}
