// refer finds what names phases and their ways out within a definition: in expressions, and in those of templates. Texts of people, and
// texts within an expression, name nothing.
import { isObject } from './shape';
import { join, split } from './template';

const plain = new Set(['instructions', 'name', 'message', 'label', 'help', 'id', 'type', 'key', 'event', 'transition']); // no expressions
const codes = new Set(['when', 'check', 'set', 'response', 'until']); // expressions as they stand; others have them in ${…}

// inCode changes all expressions within a value. What is unchanged stays the same object.
function inCode(v: unknown, change: (code: string) => string, isCode = false): unknown {
  if (typeof v === 'string') {
    if (isCode) return change(v);
    const pieces = v.includes('${') ? split(v) : null;
    return pieces ? join(pieces.map((p) => ('code' in p ? { code: change(p.code) } : p))) : v;
  }
  if (Array.isArray(v)) {
    const to = v.map((x) => inCode(x, change, isCode));
    return to.every((x, i) => x === v[i]) ? v : to;
  }
  if (!isObject(v)) return v; // a number with its digits, too
  const to = Object.entries(v).map(([k, x]): [string, unknown] => [k, plain.has(k) && !isCode ? x : inCode(x, change, isCode || codes.has(k))]);
  return to.every(([k, x]) => x === v[k]) ? v : Object.fromEntries(to);
}

const texts = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'`; // of CEL
const phases = `(?<![\\w.])phases(?:\\s*\\.\\s*(?<dotted>[A-Za-z_]\\w*)|\\s*\\[\\s*(?<quote>["'])(?<keyed>\\w+)\\k<quote>\\s*\\])`;

interface Groups { dotted?: string; keyed?: string; asks?: string; mark?: string; way?: string }

// renamedIn is a value in which phases are called otherwise.
export function renamedIn(v: unknown, to: Map<string, string>): unknown {
  const found = new RegExp(`${phases}|${texts}`, 'g');
  return inCode(v, (code) => code.replace(found, (whole, ...rest) => {
    const { dotted, keyed } = rest.at(-1) as Groups;
    const [was, name] = [dotted ?? keyed ?? '', to.get(dotted ?? keyed ?? '')];
    return name === undefined ? whole : whole.replace(new RegExp(`\\b${was}(?=\\W*$)`), name);
  }));
}

// wayRenamedIn is a value in which the outcome of a phase is compared with the new name of a way out of it.
export function wayRenamedIn(v: unknown, id: string, was: string, to: string): unknown {
  const found = new RegExp(`(?<asks>${phases}\\s*\\.\\s*outcome\\s*[!=]=\\s*)(?<mark>["'])(?<way>(?:(?!\\k<mark>)[^\\\\\\n])*)\\k<mark>|${texts}`, 'g');
  return inCode(v, (code) => code.replace(found, (whole, ...rest) => {
    const { dotted, keyed, asks, mark = "'", way } = rest.at(-1) as Groups;
    return asks === undefined || (dotted ?? keyed) !== id || way !== was ? whole : `${asks}${mark}${to.replace(/[\\'"]/g, '\\$&')}${mark}`;
  }));
}
