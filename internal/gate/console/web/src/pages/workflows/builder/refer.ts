// refer finds what names phases and their ways out within a definition: in expressions, and in those of templates. Texts of people, and
// texts within an expression, name nothing.
import { quoted, unquoted } from '../../../parts/cel';
import { isObject } from './shape';
import { join, split } from './template';

const plain = new Set(['instructions', 'name', 'message', 'label', 'help', 'id', 'type', 'key', 'event', 'transition']); // no expressions
const codes = new Set(['when', 'check', 'set', 'response', 'until', 'in']); // expressions as they stand; others have them in ${…}
const own = new Set(['body', 'data', 'headers', 'input']); // names below these are somebody's own, whatever they are

// inCode changes all expressions within a value. What is unchanged stays the same object.
function inCode(v: unknown, change: (code: string) => string, isCode = false, isOwn = false): unknown {
  if (typeof v === 'string') {
    if (isCode) return change(v);
    const pieces = v.includes('${') ? split(v) : null;
    return pieces ? join(pieces.map((p) => ('code' in p ? { code: change(p.code) } : p))) : v;
  }
  if (Array.isArray(v)) {
    const to = v.map((x) => inCode(x, change, isCode, isOwn));
    return to.every((x, i) => x === v[i]) ? v : to;
  }
  if (!isObject(v)) return v; // a number with its digits, too
  const to = Object.entries(v).map(([k, x]): [string, unknown] => [k, plain.has(k) && !isCode && !isOwn ? x : inCode(x, change, isCode || (codes.has(k) && !isOwn), isOwn || own.has(k))]);
  return to.every(([k, x]) => x === v[k]) ? v : Object.fromEntries(to);
}

// phase is where an expression names one, members also where it asks whether one has run, compared where it compares an outcome with one
// value or several, and values those texts, beside the name of the phase. Each takes other texts as a whole, so that nothing is found in them.
const phase = `(?<![\\w.])phases(?:\\s*\\.\\s*(?<dotted>[A-Za-z_]\\w*)|\\s*\\[\\s*(?<keyed>${quoted})\\s*\\])`;
const members = new RegExp(`${phase}|(?<member>${quoted})(?=\\s+in\\s+phases\\b(?!\\s*[.[]))|${quoted}`, 'g');
const compared = new RegExp(`(?:(?:${quoted})\\s*[!=]=\\s*)?${phase}\\s*\\.\\s*outcome\\b(?:\\s*[!=]=\\s*(?:${quoted})|\\s+in\\s*\\[(?:\\s*(?:${quoted})\\s*,?)*\\s*\\])?|${quoted}`, 'g');
const values = new RegExp(`\\[\\s*(?:${quoted})\\s*\\]\\s*\\.|${quoted}`, 'g');

interface Groups { dotted?: string; keyed?: string; member?: string }

const named = ({ dotted, keyed, member }: Groups): string => dotted ?? unquoted(keyed ?? member ?? '""') ?? '';

// renamedIn is a value in which phases are called otherwise.
export function renamedIn(v: unknown, to: Map<string, string>): unknown {
  return inCode(v, (code) => code.replace(members, (whole, ...rest) => {
    const name = to.get(named(rest.at(-1) as Groups));
    return name === undefined ? whole : whole.replace(/\w+(?=\W*$)/, name);
  }));
}

// wayRenamedIn is a value in which the outcome of a phase is compared with the new name of a way out of it.
export function wayRenamedIn(v: unknown, id: string, was: string, to: string): unknown {
  const name = to.replace(/[\\'"]/g, '\\$&');
  return inCode(v, (code) => code.replace(compared, (whole, ...rest) =>
    (named(rest.at(-1) as Groups) === id ? whole.replace(values, (text) => (!text.startsWith('[') && unquoted(text) === was ? `${text.charAt(0)}${name}${text.charAt(0)}` : text)) : whole)));
}

// memberRenamedIn is a value in which one of the values of a phase is called otherwise.
export function memberRenamedIn(v: unknown, id: string, was: string, to: string): unknown {
  const named = new RegExp(`(?<before>(?<![\\w.])phases\\s*\\.\\s*${id}\\s*\\.\\s*)${was}\\b|${quoted}`, 'g');
  return inCode(v, (code) => code.replace(named, (whole, ...rest) => { const { before } = rest.at(-1) as { before?: string }; return before === undefined ? whole : `${before}${to}`; }));
}
