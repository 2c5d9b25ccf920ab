// digits keep numbers as they were written. JavaScript's own lose the digits of 9007199254740993 and of 0.1000000000000000055, and the
// last one of 1.10.

// Digits are such a number. JSON.stringify writes it as it was.
export class Digits {
  readonly #text: string;
  constructor(text: string) { this.#text = text; }
  toString(): string { return this.#text; }
  toJSON(): unknown { return raw(this.#text); }
  [Symbol.toPrimitive](hint: string): string | number { return hint === 'number' ? Number(this.#text) : this.#text; }
}

export type Numeric = number | Digits;
export const isNumeric = (v: unknown): v is Numeric => typeof v === 'number' || v instanceof Digits;

// mark begins what stands for such a number within a JSON string. Nobody who writes data can know it.
const mark = crypto.getRandomValues(new Uint32Array(4)).join(' ');
const raw: (text: string) => unknown = (JSON as { rawJSON?: typeof raw }).rawJSON ?? withMarks();

// withMarks makes JSON.stringify write marked texts as numbers, where the browser has no JSON.rawJSON.
function withMarks(): typeof raw {
  const native = JSON.stringify.bind(JSON) as (...a: unknown[]) => string | undefined;
  const marked = new RegExp(`"${mark}([^"]*)"`, 'g');
  JSON.stringify = ((...a: unknown[]) => native(...a)?.replace(marked, '$1')) as typeof JSON.stringify;
  return (text) => mark + text;
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// kept reports whether a number is written as JavaScript or the server's own floats are: it loses nothing.
function kept(text: string): boolean {
  const n = Number(text);
  return String(n) === text || n.toExponential().replace(/e(.)(\d)$/, 'e$10$2') === text;
}

// parse is JSON.parse, with Digits for numbers that would lose digits.
export function parse(text: string): unknown {
  const marked = text.replace(token, (t) => (t.startsWith('"') || kept(t) ? t : `"${mark}${t}"`));
  const value: unknown = JSON.parse(text);
  if (marked === text) return value;
  return JSON.parse(marked, (_key, v: unknown) => (typeof v === 'string' && v.startsWith(mark) ? new Digits(v.slice(mark.length)) : v));
}

// numberOf is the number that somebody has written; undefined for none.
export function numberOf(written: string): Numeric | undefined {
  const text = written.trim();
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return parse(text) as Numeric;
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

// equal compares numbers by their digits: 1.10 is 1.1, and 9007199254740993 is not 9007199254740992.
export const equal = (a: Numeric, b: Numeric): boolean => plain(String(a)) === plain(String(b));

// plain is a number in the one way of writing it that has neither a point nor zeros at its ends.
function plain(text: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + part).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  return short === '' ? '0' : `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}

// differing are the values of now that was does not have.
export const differing = <T extends object>(now: T, was: object): Partial<T> => Object.fromEntries(
  Object.entries(now).filter(([k, v]) => JSON.stringify(v ?? null) !== JSON.stringify((was as Record<string, unknown>)[k] ?? null))) as Partial<T>;
