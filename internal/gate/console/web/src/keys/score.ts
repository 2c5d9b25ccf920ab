import { fold } from '../app/fold';

// score ranks a label by how the letters of the query stand in it: together and early is better; -1 for not at all.
export function score(label: string, query: string): number {
  const l = fold(label);
  const q = fold(query).trim();
  if (!q) return 0;
  const at = l.indexOf(q);
  if (at >= 0) return 1000 - at;
  let from = 0;
  let spread = 0;
  for (const c of q) {
    const i = l.indexOf(c, from);
    if (i < 0) return -1;
    spread += i - from;
    from = i + 1;
  }
  return 500 - spread;
}
