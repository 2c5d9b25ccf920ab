// cel reads as much of CEL as conditions are written in: &&, || and !, comparisons, calls, paths, lists of values. Parentheses group; the
// tree keeps what stands in them apart.
export type Node =
  | { kind: 'and' | 'or'; of: Node[] } | { kind: 'not'; of: Node } | { kind: 'rel'; op: string; left: Node; right: Node }
  | { kind: 'call'; on?: Node | undefined; name: string; args: Node[] } | { kind: 'list'; of: Node[] } | { kind: 'path' | 'string' | 'number' | 'bool'; text: string } | { kind: 'null' };

// literal writes a text. Half of a surrogate pair is no character, and CEL takes none.
export const literal = (s: string): string => JSON.stringify(s.replace(/\p{Surrogate}/gu, '\uFFFD')).replace(/[\u2028\u2029\u007F-\u009F]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

// quoted is the pattern of a text as CEL writes it.
export const quoted = String.raw`"(?:[^"\\\n\r]|\\[^])*"|'(?:[^'\\\n\r]|\\[^])*'`;

const token = new RegExp(String.raw`\s*(?:(${quoted})|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|([A-Za-z_]\w*)|(&&|\|\||[=!<>]=|[!<>()[\].,]))`, 'y');

// A Token stands from one place of the source to another.
type Token = { kind: 'string' | 'number' | 'word' | 'sign'; text: string; from: number; to: number };

const spans = new WeakMap<Node, [number, number]>();

// sourceOf is the text of an operand of && or ||, or of several that stand beside each other, with the parentheses around each.
export const sourceOf = (source: string, of: Node[]): string => source.slice(spans.get(of[0] as Node)?.[0], spans.get(of.at(-1) as Node)?.[1]);

function tokens(source: string): Token[] | null {
  const out: Token[] = [];
  const end = source.trimEnd().length;
  for (token.lastIndex = 0; token.lastIndex < end;) {
    const m = token.exec(source);
    if (!m) return null;
    const kinds = ['string', 'number', 'word', 'sign'] as const;
    const at = [1, 2, 3, 4].find((i) => m[i] !== undefined) ?? 4;
    const text = m[at] ?? '';
    out.push({ kind: kinds[at - 1] ?? 'sign', text, from: token.lastIndex - text.length, to: token.lastIndex });
  }
  return out;
}

const reserved = ['true', 'false', 'null', 'in']; // which cannot follow a dot

// member is a field of an object, as CEL reads it.
export const member = (of: string, key: string): string => (/^[A-Za-z_]\w*$/.test(key) && !reserved.includes(key) ? `${of}.${key}` : `${of}[${JSON.stringify(key)}]`);

const escapes: Record<string, string> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\', '\'': '\'', '"': '"', '`': '`', '?': '?' };

// unquoted is the text of a literal; null for one with an escape that CEL does not have.
export function unquoted(written: string): string | null {
  let bad = false;
  const text = written.slice(1, -1).replace(/\\(u[\da-fA-F]{4}|U[\da-fA-F]{8}|x[\da-fA-F]{2}|[0-3][0-7]{2}|[^])/g, (_m, e: string) => {
    const code = /^[uUx]/.test(e) && e.length > 1 ? parseInt(e.slice(1), 16) : /^[0-3]/.test(e) && e.length === 3 ? parseInt(e, 8) : -1;
    if (code < 0 && escapes[e] === undefined || code > 0x10FFFF) bad = true;
    return bad ? '' : code < 0 ? escapes[e] ?? '' : String.fromCodePoint(code);
  });
  return bad ? null : text;
}

class Reader {
  private at = 0;
  constructor(private readonly all: Token[]) {}
  get done() { return this.at === this.all.length; }
  private is(text: string) { const t = this.all[this.at]; return t !== undefined && t.kind !== 'string' && t.text === text; }
  private take(text: string) { if (!this.is(text)) return false; this.at++; return true; }
  private need(text: string) { if (!this.take(text)) throw new SyntaxError(); }

  // placed notes where what is read next stands.
  private placed(read: () => Node): Node {
    const from = this.all[this.at]?.from ?? 0;
    const n = read();
    spans.set(n, [from, this.all[this.at - 1]?.to ?? from]);
    return n;
  }

  or(): Node { return this.joined('or', '||', () => this.joined('and', '&&', () => this.placed(() => this.rel()))); }

  private joined(kind: 'and' | 'or', sign: string, part: () => Node): Node {
    const first = part();
    const of = [first];
    while (this.take(sign)) of.push(part());
    return of.length > 1 ? { kind, of } : first;
  }

  private rel(): Node {
    const left = this.unary();
    for (const op of ['==', '!=', '<=', '>=', '<', '>', 'in']) if (this.take(op)) return { kind: 'rel', op, left, right: this.unary() };
    return left;
  }

  private unary(): Node {
    if (this.take('!')) return { kind: 'not', of: this.unary() };
    let n = this.primary();
    for (;;) {
      if (this.take('.')) {
        const name = this.all[this.at++];
        if (name?.kind !== 'word') throw new SyntaxError();
        if (this.take('(')) n = { kind: 'call', on: n, name: name.text, args: this.rest(')') };
        else if (n.kind === 'path') n = { kind: 'path', text: `${n.text}.${name.text}` };
        else throw new SyntaxError();
      } else if (n.kind === 'path' && this.take('[')) {
        const key = this.primary();
        if (key.kind !== 'string') throw new SyntaxError();
        this.need(']');
        n = { kind: 'path', text: `${n.text}[${literal(key.text)}]` };
      } else return n;
    }
  }

  private rest(end: string): Node[] {
    const out: Node[] = [];
    if (this.take(end)) return out;
    do out.push(this.or()); while (this.take(','));
    this.need(end);
    return out;
  }

  private primary(): Node {
    const t = this.all[this.at++];
    if (!t) throw new SyntaxError();
    if (t.kind === 'number') return { kind: 'number', text: t.text };
    if (t.kind === 'string') {
      const text = unquoted(t.text);
      if (text === null) throw new SyntaxError();
      return { kind: 'string', text };
    }
    if (t.kind === 'sign') {
      if (t.text === '[') return { kind: 'list', of: this.rest(']') };
      if (t.text !== '(') throw new SyntaxError();
      const n = this.or();
      this.need(')');
      return n;
    }
    if (t.text === 'true' || t.text === 'false') return { kind: 'bool', text: t.text };
    if (t.text === 'null') return { kind: 'null' };
    return this.take('(') ? { kind: 'call', name: t.text, args: this.rest(')') } : { kind: 'path', text: t.text };
  }
}

// parseCel reads a text; null for what it does not know.
export function parseCel(source: string): Node | null {
  const all = tokens(source);
  if (!all || all.length > 2000) return null;
  try {
    const r = new Reader(all);
    const n = r.or();
    return r.done ? n : null;
  } catch { return null; } // a SyntaxError, or too deep
}

// printed writes a tree so that equal trees give equal texts.
export function printed(n: Node): string {
  switch (n.kind) {
    case 'and': case 'or': return `(${n.of.map(printed).join(n.kind === 'and' ? ' && ' : ' || ')})`;
    case 'not': return `!${printed(n.of)}`;
    case 'rel': return `(${printed(n.left)} ${n.op} ${printed(n.right)})`;
    case 'call': return `${n.on ? `${printed(n.on)}.` : ''}${n.name}(${n.args.map(printed).join(', ')})`;
    case 'list': return `[${n.of.map(printed).join(', ')}]`;
    case 'string': return literal(n.text);
    case 'null': return 'null';
    default: return n.text;
  }
}
