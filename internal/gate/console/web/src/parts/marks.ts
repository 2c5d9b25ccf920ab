// marks put the marks of Markdown around what is selected, or before its lines.

export interface Mark { wrap?: [string, string]; line?: string }

// marked returns a text in which a selection has got a mark, or has lost it where it had it, and what is selected then.
export function marked(text: string, from: number, to: number, mark: Mark): { text: string; from: number; to: number } {
  if (mark.wrap) {
    const [before, after] = mark.wrap;
    const has = text.slice(from - before.length, from) === before && text.slice(to, to + after.length) === after;
    if (has) return { text: text.slice(0, from - before.length) + text.slice(from, to) + text.slice(to + after.length), from: from - before.length, to: to - before.length };
    return { text: text.slice(0, from) + before + text.slice(from, to) + after + text.slice(to), from: from + before.length, to: to + before.length };
  }
  const sign = mark.line ?? '';
  const start = text.lastIndexOf('\n', from - 1) + 1;
  const lines = text.slice(start, to).split('\n');
  const has = lines.every((l) => l.startsWith(sign));
  const now = lines.map((l) => (has ? l.slice(sign.length) : sign + l)).join('\n');
  return { text: text.slice(0, start) + now + text.slice(to), from: start, to: start + now.length };
}
