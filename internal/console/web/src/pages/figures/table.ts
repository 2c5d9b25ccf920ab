import type { FigureFragment } from '../../gen/types';

export type Cell = string | number;
const day = 86_400_000;

// span is the last days, from the beginning of the first to the end of today, UTC.
export function span(days: number, now: Date): { from: string; to: string } {
  const to = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()) + day;
  return { from: new Date(to - days * day).toISOString(), to: new Date(to).toISOString() };
}

const none: Omit<FigureFragment, 'key'> = { filed: 0, finished: 0, cancelled: 0, open: 0, answerP50: null, answerP90: null, completionP50: null, completionP90: null, slaMet: 0, slaMissed: 0 };

// filled has a row for every day or week of a time, also for those in which nothing happened.
export function filled(list: FigureFragment[], from: string, to: string, by: 'day' | 'week'): FigureFragment[] {
  const known = new Map(list.map((f) => [f.key, f]));
  const out: FigureFragment[] = [];
  let at = new Date(from).getTime();
  if (by === 'week') at -= ((new Date(at).getUTCDay() + 6) % 7) * day;
  for (; at < new Date(to).getTime(); at += by === 'week' ? 7 * day : day) {
    const key = new Date(at).toISOString().slice(0, 10);
    out.push(known.get(key) ?? { ...none, key } as FigureFragment);
  }
  return out;
}
