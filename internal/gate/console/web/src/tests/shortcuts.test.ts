import { beforeEach, describe, expect, it, vi } from 'vitest';

const store = new Map<string, string>();
const kept = () => JSON.parse(store.get('shortcuts') ?? '{}') as unknown;

// open is the registry as a page that is opened has it.
async function open() {
  vi.resetModules();
  return import('../keys/registry');
}

describe('a key that a person has chosen', () => {
  beforeEach(() => {
    store.clear();
    vi.stubGlobal('localStorage', { getItem: (k: string) => store.get(k) ?? null, setItem: (k: string, v: string) => { store.set(k, v); }, removeItem: (k: string) => { store.delete(k); } });
  });
  it('is kept by the name of its shortcut, whatever the page says of it', async () => {
    (await open()).choose('accept', 'q');
    expect(kept()).toEqual({ accept: 'q' });
  });
  it('is taken over from where it was kept by what it does, once', async () => {
    store.set('keys', '{"Accept the request":"q","Anfrage ablehnen":"w"}');
    (await open()).adopt([{ name: 'accept', does: 'Accept the request' }, { name: 'decline', does: 'Decline the request' }]);
    expect(kept()).toEqual({ accept: 'q' });
    (await open()).choose('accept', 'e');
    (await open()).adopt([{ name: 'accept', does: 'Accept the request' }, { name: 'decline', does: 'Anfrage ablehnen' }]);
    expect(kept()).toEqual({ accept: 'e', decline: 'w' });
  });
  it('gives way to ours when all are reset, also where it was not taken over yet', async () => {
    store.set('keys', '{"Accept the request":"q"}');
    const registry = await open();
    registry.choose('decline', 'w');
    registry.choose();
    registry.adopt([{ name: 'accept', does: 'Accept the request' }]);
    expect(kept()).toEqual({});
  });
  it('does no harm where the store holds something else', async () => {
    store.set('shortcuts', '{');
    expect((await open()).shortcuts()).toEqual([]);
  });
});
