// template takes a text with ${CEL} in it apart and puts it together again, as package definition of the server does.

export type Piece = { text: string } | { code: string };

// split returns the pieces of a template in their order; null when an expression in it never ends. A } inside of a CEL text, comment,
// map or nested braces ends no expression.
export function split(source: string): Piece[] | null {
  const pieces: Piece[] = [];
  let rest = source;
  while (rest !== '') {
    const begin = rest.indexOf('${');
    const text = begin < 0 ? rest : rest.slice(0, begin);
    if (text) pieces.push({ text });
    if (begin < 0) break;
    rest = rest.slice(begin + 2);
    const end = closing(rest);
    if (end < 0) return null;
    pieces.push({ code: rest.slice(0, end) });
    rest = rest.slice(end + 1);
  }
  return pieces;
}

// join writes the pieces as the template that they are.
export const join = (pieces: Piece[]): string => pieces.map((p) => ('code' in p ? `\${${p.code}}` : p.text)).join('');

// closing is where the } stands that ends the CEL at the beginning of s; -1 for nowhere.
function closing(s: string): number {
  let depth = 0;
  for (let i = 0; i < s.length; i++) {
    const c = s[i];
    if (c === '"' || c === "'") {
      i = afterString(s, i) - 1;
    } else if (s.startsWith('//', i)) {
      i = s.indexOf('\n', i);
      if (i < 0) return -1;
    } else if (c === '{') {
      depth++;
    } else if (c === '}') {
      if (depth === 0) return i;
      depth--;
    }
  }
  return -1;
}

// afterString is where the CEL text ends that opens at i: '…', "…", their tripled forms, and raw ones, in which a backslash escapes nothing.
function afterString(s: string, i: number): number {
  const one = s.charAt(i);
  const quotes = s.startsWith(one.repeat(3), i) ? one.repeat(3) : one;
  const raw = /(^|\W)b?r$/i.test(s.slice(0, i));
  for (let at = i + quotes.length; at < s.length; at++) {
    if (s[at] === '\\' && !raw) at++;
    else if (s.startsWith(quotes, at)) return at + quotes.length;
  }
  return s.length;
}
