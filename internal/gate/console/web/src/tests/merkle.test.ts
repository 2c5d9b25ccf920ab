import { describe, expect, it } from 'vitest';
import { rootOf } from '../pages/audit/merkle';

// A log as RFC 6962 describes it, written down a second time.
const base64 = (b: Uint8Array) => btoa(String.fromCharCode(...b));
const sha = async (...parts: Uint8Array[]) => new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(parts.flatMap((p) => [...p]))));
const split = (n: number) => { let k = 1; while (k * 2 < n) k *= 2; return k; };

async function tree(leaves: Uint8Array[]): Promise<Uint8Array> {
  if (leaves.length === 1) return sha(new Uint8Array([0]), leaves[0] as Uint8Array);
  const k = split(leaves.length);
  return sha(new Uint8Array([1]), await tree(leaves.slice(0, k)), await tree(leaves.slice(k)));
}

async function pathOf(i: number, leaves: Uint8Array[]): Promise<Uint8Array[]> {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return i < k ? [...await pathOf(i, leaves.slice(0, k)), await tree(leaves.slice(k))] : [...await pathOf(i - k, leaves.slice(k)), await tree(leaves.slice(0, k))];
}

describe('the audit log’s proof', () => {
  it('leads from every leaf of every log to its root, and from no other', async () => {
    for (let size = 1; size <= 17; size++) {
      const leaves = Array.from({ length: size }, (_, i) => new TextEncoder().encode(`entry ${i}`));
      const root = base64(await tree(leaves));
      for (let i = 0; i < size; i++) {
        const path = (await pathOf(i, leaves)).map(base64);
        expect(await rootOf(base64(leaves[i] as Uint8Array), i, size, path)).toBe(root);
        expect(await rootOf(btoa('another'), i, size, path)).not.toBe(root);
      }
    }
  });
});
