// mention completes what somebody begins with a sign while they write: the name of a person behind an @, a saved reply behind a /.

// Offered is one that may be taken. `put` is what then stands in place of what was typed; null for nothing.
export interface Offered { id: string; name: string; soft?: string | undefined; put: () => Promise<string | null> }

// Completion offers what is looked for by the words behind its sign.
export interface Completion { sign: '@' | '/'; label: string; find: (q: string) => Promise<Offered[]> }

// begun is what stands before the place where one writes: a name of at most two words behind an @, or a few words behind a / that begins
// a line or a word of its own. Addresses of mails and pages, and paths, begin neither.
const begun = { '@': /(?:^|[\s(])@([^\s@]*(?: [^\s@]*)?)$/, '/': /(?:^|\s)\/((?:[^\s/]+(?: [^\s/]+){0,4} ?)?)$/ };

// asked is what was typed of it, behind which sign, and where that stands; null where nothing is begun.
export function asked(text: string, at: number, signs: readonly Completion['sign'][]): { sign: Completion['sign']; from: number; q: string } | null {
  for (const sign of signs) {
    const q = begun[sign].exec(text.slice(Math.max(0, at - 80), at))?.[1];
    if (q !== undefined) return { sign, from: at - q.length - 1, q };
  }
  return null;
}

// put is a text in which something stands in place of a part of it, and where one writes on. What would stick to a word gets a space.
export function put(text: string, from: number, to: number, piece: string): { text: string; at: number } {
  const before = text.slice(0, from);
  const whole = (/\S$/.test(before) && !/[([{“„"]$/.test(before) ? ' ' : '') + piece;
  const after = text.slice(to);
  const joined = /\s$/.test(whole) ? after.replace(/^ /, '') : /^[\p{L}\p{N}]/u.test(after) ? ` ${after}` : after;
  return { text: before + whole + joined, at: from + whole.length };
}
