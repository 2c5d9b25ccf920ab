// ticks are at most five round numbers from 0 to what holds the greatest value.
export function ticks(most: number): number[] {
  if (most <= 0) return [0, 1];
  const raw = most / 4;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((f) => f * size).find((s) => s >= raw) ?? raw);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}

// gap is the least room between two labels, in pixels.
const gap = 8;

// placed are the labels that are written beside an axis, each with the place of its middle: every one, or every second, or as few as
// it takes for none to run into the next one or over an end. `at` is where a label belongs, `width` how wide its text is.
export function placed(labels: readonly string[], at: (i: number) => number, width: (label: string) => number, from: number, to: number): { i: number; x: number }[] {
  for (let every = 1; ; every++) {
    const out = labels.flatMap((label, i) => {
      const half = width(label) / 2;
      return i % every === 0 ? [{ i, half, x: Math.max(from + half, Math.min(to - half, at(i))) }] : [];
    });
    if (every >= labels.length || out.every((l, n) => n === 0 || l.x - l.half - gap >= (out[n - 1]?.x ?? 0) + (out[n - 1]?.half ?? 0))) return out.map(({ i, x }) => ({ i, x }));
  }
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
