// merkle computes a log's root from a leaf and its path, as RFC 6962 and RFC 9162 have it: a leaf's hash is over 0x00 and its bytes, a
// node's over 0x01 and its children.
const bytes = (base64: string) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const text = (b: Uint8Array) => btoa(String.fromCharCode(...b));

async function hash(prefix: number, ...parts: Uint8Array[]): Promise<Uint8Array> {
  const all = new Uint8Array(1 + parts.reduce((n, p) => n + p.length, 0));
  all[0] = prefix;
  let at = 1;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', all));
}

// rootOf is the root, in base64, that a leaf at an index leads to in a log of a size; empty where the path cannot be of it.
export async function rootOf(leaf: string, index: number, size: number, path: string[]): Promise<string> {
  let fn = index;
  let sn = size - 1;
  let r = await hash(0, bytes(leaf));
  for (const step of path) {
    if (sn === 0) return '';
    const p = bytes(step);
    if (fn % 2 === 1 || fn === sn) {
      r = await hash(1, p, r);
      while (fn % 2 === 0 && fn !== 0) {
        fn = Math.floor(fn / 2);
        sn = Math.floor(sn / 2);
      }
    } else r = await hash(1, r, p);
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  return sn === 0 ? text(r) : '';
}
