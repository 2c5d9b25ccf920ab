import { CombinedError } from '@urql/core';
import { describe, expect, it } from 'vitest';
import { inBatches, inverse } from '../pages/requests/batches';
import type { MayRow } from '../pages/requests/search';

const row = (id: string, status = 'PENDING') => ({ id, status, priority: 'LOW', tags: { env: 'prod' } }) as unknown as MayRow;

// server answers a mutation of ten slots, and refuses the rows that it is told to.
function server(refused: string[]) {
  const calls: Record<string, unknown>[] = [];
  const mutation = (_doc: unknown, variables: Record<string, unknown>) => {
    calls.push(variables);
    const slots = [...'abcdefghij'].filter((s) => s === 'a' || variables[`with_${s}`]);
    const id = (s: string) => (variables[s] as { id: string }).id;
    const data = Object.fromEntries(slots.map((s) => [s, refused.includes(id(s)) ? null : { request: { id: id(s) } }]));
    const errors = slots.filter((s) => refused.includes(id(s))).map((s) => ({ message: `${id(s)} is refused`, path: [s], extensions: { code: 'conflict' } }));
    return { toPromise: () => Promise.resolve({ data, error: errors.length > 0 ? new CombinedError({ graphQLErrors: errors }) : undefined }) };
  };
  return { calls, client: { mutation } as never };
}

describe('many requests at once', () => {
  const list = Array.from({ length: 23 }, (_, i) => row(`req_${i}`));
  it('take a call for ten of them, and each has its own outcome, in their order', async () => {
    const { calls, client } = server(['req_4', 'req_22']);
    const outcomes = await inBatches(client, {} as never, list, (r) => ({ id: r.id }));
    expect(calls.length).toBe(3);
    expect(outcomes.map((o) => o.row.id)).toEqual(list.map((r) => r.id));
    expect(outcomes.filter((o) => o.fault).map((o) => o.fault?.message)).toEqual(['req_4 is refused', 'req_22 is refused']);
    expect(outcomes.filter((o) => o.now).length).toBe(21);
  });
  it('ask for no row twice', async () => {
    const { calls, client } = server([]);
    await inBatches(client, {} as never, list.slice(0, 2), (r) => ({ id: r.id }));
    expect(calls.map((c) => [c['with_b'], c['with_c'], c['with_j']])).toEqual([[true, false, false]]);
  });
});

describe('what takes a change back', () => {
  it('sets the fields to what they were', () => {
    expect(inverse(row('a'), { priority: 'URGENT', tags: {}, assigneeId: 'usr_1' })).toEqual({ priority: 'LOW', tags: { env: 'prod' }, assigneeId: null });
  });
  it('reopens what was completed and completes what was reopened; an acceptance and a cancellation stay', () => {
    expect(inverse(row('a', 'IN_PROGRESS'), { status: 'COMPLETED' })).toEqual({ status: 'IN_PROGRESS' });
    expect(inverse(row('a', 'COMPLETED'), { status: 'IN_PROGRESS' })).toEqual({ status: 'COMPLETED' });
    expect(inverse(row('a'), { status: 'IN_PROGRESS' })).toBeNull();
    expect(inverse(row('a'), { status: 'CANCELLED' })).toBeNull();
  });
});
