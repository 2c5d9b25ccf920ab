// mention completes the name of a person whom somebody mentions while they write.

// Mentions looks for people by what was typed after the @: each with a name, and what stands behind the @ in the text.
export type Mentions = (q: string) => Promise<{ name: string; text: string }[]>;

// asked is what was typed of a mention before the place where one writes, and where its @ stands; null where none is being typed. A
// name may have one space in it.
export function asked(text: string, at: number): { from: number; q: string } | null {
  const m = /(?:^|[\s(])@([^\s@]*(?: [^\s@]*)?)$/.exec(text.slice(Math.max(0, at - 80), at));
  const q = m?.[1];
  return q === undefined ? null : { from: at - q.length - 1, q };
}

// put is a text in which a mention stands in place of what was typed of it, and where one writes on.
export function put(text: string, from: number, at: number, mention: string): { text: string; at: number } {
  const whole = `@${mention} `;
  return { text: text.slice(0, from) + whole + text.slice(at).replace(/^ /, ''), at: from + whole.length };
}
