// duration reads and writes lengths of time as definitions have them: 90s, 2h30m, 3d4h.

export const units = ['d', 'h', 'm', 's'] as const;
export type Unit = (typeof units)[number];
export type Span = Record<Unit, string>; // each a whole number as somebody has written it; '' for none

const grammar = /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/;

// spanOf reads a length of time; null for a text that is none.
export function spanOf(text: string): Span | null {
  const m = grammar.exec(text);
  return m ? { d: m[1] ?? '', h: m[2] ?? '', m: m[3] ?? '', s: m[4] ?? '' } : null;
}

// spanText writes a length of time; '' for none at all.
export const spanText = (span: Span): string => units.filter((u) => span[u] !== '').map((u) => span[u] + u).join('');
