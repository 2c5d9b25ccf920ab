import { CombinedError } from '@urql/core';
import { describe, expect, it } from 'vitest';
import { inBatches, inverse } from '../pages/requests/batches';
import type { MayRow } from '../pages/requests/search';

const row = (id: string, status = 'PENDING') => ({ id, etag: `tag of ${id}`, status, priority: 'LOW', tags: { env: 'prod' } }) as unknown as MayRow;

interface Input { ids: string[]; etags?: string[]; change?: object; transition?: string }

// server answers the mutation of several rows, and refuses the rows that it is told to.
function server(refused: string[], down = false) {
  const calls: Input[] = [];
  const mutation = (_doc: unknown, { input }: { input: Input }) => {
    calls.push(input);
    if (down) return { toPromise: () => Promise.resolve({ error: new CombinedError({ networkError: new Error('away') }) }) };
    const results = input.ids.map((id) => (refused.includes(id) ? { id, request: null, error: { code: 'conflict', message: `${id} is refused`, details: [] } } : { id, request: { id }, error: null }));
    return { toPromise: () => Promise.resolve({ data: { updateRequests: { results } } }) };
  };
  return { calls, client: { mutation } as never };
}

describe('many requests at once', () => {
  const list = Array.from({ length: 23 }, (_, i) => row(`req_${i}`));
  it('take one call where the same is done to all, and each has its own outcome, in their order', async () => {
    const { calls, client } = server(['req_4', 'req_22']);
    const outcomes = await inBatches(client, list, () => ({ change: { priority: 'HIGH' } }));
    expect(calls.map((c) => [c.ids.length, c.etags?.[3], c.change])).toEqual([[23, 'tag of req_3', { priority: 'HIGH' }]]);
    expect(outcomes.map((o) => o.row.id)).toEqual(list.map((r) => r.id));
    expect(outcomes.filter((o) => o.fault).map((o) => o.fault?.message)).toEqual(['req_4 is refused', 'req_22 is refused']);
    expect(outcomes.filter((o) => o.now).length).toBe(21);
  });
  it('take a call for each thing that is done, and of no more than a hundred', async () => {
    const { calls, client } = server([]);
    const many = Array.from({ length: 230 }, (_, i) => row(`req_${i}`));
    const outcomes = await inBatches(client, many, (r) => ({ change: { tags: { env: r.id === 'req_7' ? 'test' : 'prod' } } }));
    expect(calls.map((c) => c.ids.length)).toEqual([100, 100, 29, 1]);
    expect(outcomes.map((o) => o.row.id)).toEqual(many.map((r) => r.id));
  });
  it('are declined whatever they are by now', async () => {
    const { calls, client } = server([]);
    await inBatches(client, list.slice(0, 2), () => ({ transition: 'decline', reason: 'We have none.' }));
    expect(calls).toEqual([{ ids: ['req_0', 'req_1'], transition: 'decline', reason: 'We have none.' }]);
  });
  it('are all refused where the call was', async () => {
    const { client } = server([], true);
    expect((await inBatches(client, list, () => ({ transition: 'accept' }))).every((o) => o.fault && !o.now)).toBe(true);
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
