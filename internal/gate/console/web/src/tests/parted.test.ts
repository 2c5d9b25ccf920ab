import { expect, it, vi } from 'vitest';
import { keepShown, shownBy } from '../pages/workflows/builder/parted';

it('what the builder shows is each person’s own choice, both parts until they choose', () => {
  const store = new Map<string, string>();
  vi.stubGlobal('localStorage', { getItem: (k: string) => store.get(k) ?? null, setItem: (k: string, v: string) => { store.set(k, v); } });
  keepShown('usr_1', 'outline');
  expect([shownBy('usr_1'), shownBy('usr_2')]).toEqual(['outline', 'both']);
  for (const key of store.keys()) store.set(key, 'of a later version');
  expect(shownBy('usr_1')).toBe('both');
  vi.unstubAllGlobals();
});
