// ticks are at most five round numbers from 0 to what holds the greatest value.
export function ticks(most: number): number[] {
  if (most <= 0) return [0, 1];
  const raw = most / 4;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((f) => f * size).find((s) => s >= raw) ?? raw);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}
