// value reads and writes the expressions that are no more than one value: a known one, a text, a number, yes or no.

// variable is what a name in expressions looks like.
export const variable = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

export type Value =
  | { is: 'known'; code: string }
  | { is: 'text'; text: string }
  | { is: 'number'; text: string } // as written
  | { is: 'boolean'; yes: boolean }
  | { is: 'code'; code: string };

const escapes: Record<string, string> = { '\\': '\\', "'": "'", '"': '"', n: '\n', r: '\r', t: '\t' };
const unescapes: Record<string, string> = { '\\': '\\\\', "'": "\\'", '\n': '\\n', '\r': '\\r', '\t': '\\t' };

// quote writes a text as CEL has it.
export const quote = (text: string): string => `'${text.replace(/[\\'\n\r\t]/g, (c) => unescapes[c] ?? c)}'`;

// unquote reads such a text; null for any other expression.
export function unquote(code: string): string | null {
  if (!/^'(?!'')(?:[^'\\\n\r]|\\[\\'"nrt])*'$/.test(code)) return null;
  return code.slice(1, -1).replace(/\\(.)/g, (_m, c: string) => escapes[c] ?? c);
}

// readValue says what an expression is. known reports whether it is a value that has a name. What would be written otherwise than it
// stands is left as code.
export function readValue(code: string, known: (code: string) => boolean): Value {
  if (known(code)) return { is: 'known', code };
  const text = unquote(code);
  if (text !== null && quote(text) === code) return { is: 'text', text };
  if (/^-?\d+(\.\d+)?$/.test(code)) return { is: 'number', text: code };
  if (code === 'true' || code === 'false') return { is: 'boolean', yes: code === 'true' };
  return { is: 'code', code };
}

export function writeValue(v: Value): string {
  switch (v.is) {
    case 'text': return quote(v.text);
    case 'number': return v.text;
    case 'boolean': return String(v.yes);
    default: return v.code;
  }
}
