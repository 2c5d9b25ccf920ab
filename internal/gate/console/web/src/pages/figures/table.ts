export type Cell = string | number;
const day = 86_400_000;

// figure is a cell as a chart takes it. An empty one is no number, and so a gap: it is not 0.
export const figure = (c: Cell): number => (c === '' ? NaN : Number(c));

export type Keyed<F> = Omit<F, 'key' | '__typename'> & { key: string };

// filled has a row for every day or week of a time, with none's figures for those in which nothing happened.
export function filled<F extends { key: string | null }>(list: F[], from: string, to: string, by: 'day' | 'week', none: Omit<F, 'key' | '__typename'>): Keyed<F>[] {
  const known = new Map(list.map((f) => [f.key, f as Keyed<F>]));
  const out: Keyed<F>[] = [];
  let at = new Date(from).getTime();
  if (by === 'week') at -= ((new Date(at).getUTCDay() + 6) % 7) * day;
  for (; at < new Date(to).getTime(); at += by === 'week' ? 7 * day : day) {
    const key = new Date(at).toISOString().slice(0, 10);
    out.push(known.get(key) ?? { ...none, key });
  }
  return out;
}

// share is how many of a hundred the part is of the whole; empty of nothing.
export const share = (part: number, whole: number): Cell => (whole > 0 ? Math.round((part / whole) * 100) : '');
