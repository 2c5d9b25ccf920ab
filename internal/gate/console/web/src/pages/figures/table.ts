export type Cell = string | number;
const day = 86_400_000;

// figure is a cell as a chart takes it. An empty one is no number, and so a gap: it is not 0.
export const figure = (c: Cell): number => (c === '' ? NaN : Number(c));

// span is the last days, from the beginning of the first to the end of today, UTC; before is the same time ahead of them.
export function span(days: number, now: Date, before = false): { from: string; to: string } {
  const to = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()) + day - (before ? days * day : 0);
  return { from: new Date(to - days * day).toISOString(), to: new Date(to).toISOString() };
}

// within is the day or the week of a row, as the list of requests takes it.
export function within(key: string, by: 'day' | 'week'): { createdAfter: string; createdBefore: string } {
  const from = Date.parse(`${key}T00:00:00Z`);
  return { createdAfter: new Date(from).toISOString(), createdBefore: new Date(from + (by === 'week' ? 7 : 1) * day).toISOString() };
}

// median is that of medians, each of which counts as often as the second number says; null of none.
export function median(list: [value: number | null, weight: number][]): number | null {
  const known = list.filter((x): x is [number, number] => x[0] !== null && x[1] > 0).sort((a, b) => a[0] - b[0]);
  const half = known.reduce((n, [, w]) => n + w, 0) / 2;
  let passed = 0;
  return known.find(([, w]) => (passed += w) >= half)?.[0] ?? null;
}

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
