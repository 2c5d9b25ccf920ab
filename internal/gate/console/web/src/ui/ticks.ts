// ticks are at most five round numbers from 0 to what holds the greatest value.
export function ticks(most: number): number[] {
  if (most <= 0) return [0, 1];
  const raw = most / 4;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((f) => f * size).find((s) => s >= raw) ?? raw);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}

// labelled says of how many labels one is written so that none runs into the next one, in so many pixels.
export function labelled(labels: readonly string[], width: number): number {
  const room = Math.max(0, ...labels.map((l) => l.length)) * 6.5 + 10;
  return Math.max(1, Math.ceil((labels.length * room) / Math.max(1, width)));
}

// stretches are the places of the numbers that stand beside each other: what is no number parts them.
export function stretches(values: readonly number[]): number[][] {
  const out: number[][] = [];
  values.forEach((v, i) => {
    if (!Number.isFinite(v)) return;
    if (i > 0 && Number.isFinite(values[i - 1])) out.at(-1)?.push(i);
    else out.push([i]);
  });
  return out;
}
