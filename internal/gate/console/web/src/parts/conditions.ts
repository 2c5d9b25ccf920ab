// conditions are rows of a condition, and the CEL that stands for them. What a row compares may be null or absent: the CEL asks for that
// first, so that it is false, or true for what is negated, and never a fault. What people type is compared without case and accents, by
// fold(). A comparison that somebody has written without these is a row, too, which stays as it was written until it is changed. Other CEL
// than this stays text.
import { literal, parseCel, printed, sourceOf, type Node } from './cel';

export type Op = 'is' | 'isNot' | 'contains' | 'notContains' | 'starts' | 'oneOf' | 'noneOf' | 'more' | 'less' | 'atLeast' | 'atMost' | 'before' | 'after' | 'empty' | 'notEmpty';

export interface ConditionField { expression: string; label: string; group: string; type: string; optional: boolean; values: { value: string; label: string }[] }

// A Row compares one field. values are texts as they are, numbers with their digits, true or false, days and moments; as many as the
// operator takes. text is how somebody else has written it.
export interface Row { what: string; op: Op; values: string[]; text?: string }

// A Group holds if all of its parts do, or any of them. A part that is a group has no groups itself.
export interface Group { join: 'all' | 'any'; parts: (Row | Group)[] }

export const isGroup = (p: Row | Group): p is Group => 'join' in p;

const some: Op[] = ['empty', 'notEmpty'];
const same: Op[] = ['is', 'isNot', 'oneOf', 'noneOf'];
const sized: Op[] = ['more', 'less', 'atLeast', 'atMost'];
const compared: Op[] = ['is', 'isNot', ...sized];

const byType: Record<string, Op[]> = {
  TEXT: ['is', 'isNot', 'contains', 'notContains', 'starts', 'oneOf', 'noneOf'], NUMBER: compared, BOOLEAN: ['is', 'isNot'], DATE: ['is', 'isNot', 'before', 'after'],
  DATETIME: ['before', 'after'], TIME: ['before', 'after'], LIST: ['contains', 'notContains'], USER: same, TEAM: same, SERVICE: same, OFFERING: same, ANY: [...same, ...sized],
};

// opsOf are the operators of a field. One that always has a value is never empty.
export const opsOf = (f: ConditionField): Op[] => [...new Set([
  ...(f.type === 'LIST' && f.values.length === 0 && f.optional ? some : []), // such as files, which nobody compares by their ids
  ...(f.type === 'TEXT' && f.values.length > 0 ? same : byType[f.type] ?? []), ...(f.optional || f.type === 'TEXT' ? some : []),
])];

// takes is how many values an operator takes; -1 for any number of them from one.
export const takes = (op: Op): number => (some.includes(op) ? 0 : op === 'oneOf' || op === 'noneOf' ? -1 : 1);

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const whole = /^-?\d{19,}$/; // CEL's whole numbers have 18 digits and some

// isValue reports whether a text is a value of the type.
export function isValue(type: string, v: string): boolean {
  switch (type) {
    case 'NUMBER': return number.test(v) && Number.isFinite(Number(v)); // CEL knows no larger ones
    case 'BOOLEAN': return v === 'true' || v === 'false';
    case 'DATE': return /^\d{4}-\d\d-\d\d$/.test(v);
    case 'DATETIME': case 'TIME': return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(v) && !Number.isNaN(Date.parse(v));
    default: return v !== '';
  }
}

// isWhole reports whether a row says something: its field is known, and it has the values that its operator takes.
export function isWhole(r: Row, fields: ConditionField[]): boolean {
  const f = fields.find((x) => x.expression === r.what);
  const n = takes(r.op);
  const type = f?.type === 'ANY' && sized.includes(r.op) ? 'NUMBER' : f?.type ?? '';
  return f !== undefined && opsOf(f).includes(r.op) && (n < 0 ? r.values.length > 0 : r.values.length === n) && r.values.every((v) => isValue(type, v));
}

// negated are the operators that hold where another does not.
const negated: Partial<Record<Op, Op>> = { isNot: 'is', notContains: 'contains', noneOf: 'oneOf', empty: 'notEmpty' };

// guards ask whether there is something to compare. What stands below fields, tags, phases, headers and bodies may be absent, on each step.
function guards(what: string, test: Op, optional: boolean): string[] {
  const out: string[] = [];
  const steps = what.match(/\.?[A-Za-z_]\w*|\["(?:[^"\\]|\\.)*"\]/g) ?? [];
  for (let i = steps[0] === 'phases' ? 1 : 2; i < steps.length; i++) {
    const [before, step] = [steps.slice(0, i).join(''), steps[i] ?? ''];
    out.push(step.startsWith('[') ? `${step.slice(1, -1)} in ${before}` : `has(${before}${step})`);
  }
  if (optional && !['is', 'oneOf'].includes(test)) out.push(`${what} != null`);
  return out;
}

// written is a value in CEL. Of a field whose type is not known, what reads as a number or a truth value is one.
function written(type: string, v: string): string {
  if (isValue('NUMBER', v) && (type === 'NUMBER' || type === 'ANY')) return whole.test(v) ? `${v}.0` : v;
  return type === 'BOOLEAN' || (type === 'ANY' && isValue('BOOLEAN', v)) ? v : literal(v);
}

// typed reports whether people type the texts of a field, and so differently each time.
const typed = (f: ConditionField) => f.type === 'TEXT' && f.values.length === 0;

// tested is what the operator says of a value that is there; empty for nothing more. exact compares texts to the letter.
function tested(f: ConditionField, op: Op, all: string[], exact = false): string {
  const folds = !exact && typed(f) && !some.includes(op) ? (x: string) => `fold(${x})` : (x: string) => x; // not said
  const w = folds(f.expression);
  const values = all.map((x) => folds(written(f.type, x)));
  const [v = ''] = values;
  const compare = (sign: string) => {
    if (f.type === 'DATETIME') return `timestamp(${w}) ${sign} timestamp(${v})`;
    return f.type === 'TIME' ? `${w} ${sign} timestamp(${v})` : `${w} ${sign} ${v}`;
  };
  switch (op) {
    case 'is': return `${w} == ${v}`;
    case 'contains': return f.type === 'LIST' ? `${v} in ${w}` : `${w}.contains(${v})`;
    case 'starts': return `${w}.startsWith(${v})`;
    case 'oneOf': return `${w} in [${values.join(', ')}]`;
    case 'more': case 'after': return compare('>');
    case 'less': case 'before': return compare('<');
    case 'atLeast': return compare('>=');
    case 'atMost': return compare('<=');
    default: return f.type === 'LIST' ? `size(${w}) > 0` : ['NUMBER', 'BOOLEAN', 'TIME'].includes(f.type) ? '' : `${w} != ""`;
  }
}

// rowOf writes a row, in parentheses where others stand beside it.
function rowOf(r: Row, f: ConditionField, beside: boolean, exact = false): string {
  if (r.text !== undefined) return r.text;
  const test = negated[r.op] ?? r.op;
  const terms = [...guards(r.what, test, f.optional), tested(f, test, r.values, exact)].filter(Boolean);
  const [only = ''] = terms;
  if (!negated[r.op]) return terms.length > 1 && beside ? `(${terms.join(' && ')})` : terms.join(' && ');
  if (terms.length > 1 || (test !== 'is' && test !== 'notEmpty')) return `!(${terms.join(' && ')})`;
  return test === 'is' ? only.replace(' == ', ' != ') : only.replace(' != ', ' == ');
}

// celOf writes the rows that say something; empty for none.
export function celOf(g: Group, fields: ConditionField[], within = false): string {
  const known = new Map(fields.map((f) => [f.expression, f]));
  const parts = g.parts.filter((p) => (isGroup(p) ? p.parts.some((r) => !isGroup(r) && isWhole(r, fields)) : isWhole(p, fields)));
  const beside = within || parts.length > 1;
  const texts = parts.map((p) => {
    const f = isGroup(p) ? undefined : known.get(p.what);
    return isGroup(p) ? celOf(p, fields, parts.length > 1) : f ? rowOf(p, f, beside) : '';
  });
  const text = texts.join(g.join === 'all' ? ' && ' : ' || ');
  return within && texts.length > 1 ? `(${text})` : text;
}

// rowsOf reads a condition as rows; null for one that rows cannot say. No text has no rows.
export function rowsOf(text: string, fields: ConditionField[]): Group | null {
  if (text.trim() === '') return { join: 'all', parts: [] };
  const tree = parseCel(text);
  if (!tree) return null;
  const guess = read(tree, { text, fields }, 0);
  const g: Group | null = guess && !isGroup(guess) ? { join: 'all', parts: [guess] } : guess;
  const again = g && parseCel(celOf(g, fields));
  return again && printed(again) === printed(tree) ? g : null;
}

interface Source { text: string; fields: ConditionField[] }

// read guesses what the tree says; rowsOf writes it again to know.
function read(n: Node, of: Source, depth: number): Row | Group | null {
  const row = readRow(n, of) ?? looseRow(n.kind === 'and' ? n.of : [n], of);
  if (row) return row;
  if (depth > 1 || (n.kind !== 'and' && n.kind !== 'or')) return null;
  const parts = n.kind === 'and' ? readAll(n.of, of, depth + 1) : n.of.map((x) => read(x, of, depth + 1));
  return parts.includes(null) ? null : { join: n.kind === 'and' ? 'all' : 'any', parts: parts as (Row | Group)[] };
}

// readAll reads what all holds: a comparison may stand behind others that ask whether there is something to compare.
function readAll(all: Node[], of: Source, depth: number): (Row | Group | null)[] {
  const out: (Row | Group | null)[] = [];
  for (let i = 0; i < all.length;) {
    let end = Math.min(all.length, i + 6); // of the longest that rows ask
    let row: Row | null = null;
    for (; end > i + 1 && !row; end--) row = looseRow(all.slice(i, end), of);
    out.push(row ?? read(all[i] as Node, of, depth));
    i = row ? end + 1 : i + 1;
  }
  return out;
}

// says reports whether one of the texts is what the tree says.
function says(n: Node, texts: string[]): boolean {
  const said = printed(n);
  return texts.some((x) => { const tree = parseCel(x); return tree !== null && printed(tree) === said; });
}

// readRow reads a row as it is written now, or as it was when texts were compared to the letter.
function readRow(n: Node, { text, fields }: Source): Row | null {
  for (const r of guesses(n, false)) {
    const f = fields.find((x) => x.expression === r.what);
    if (!f || !isWhole(r, fields)) continue;
    if (says(n, [rowOf(r, f, false)])) return r;
    if (says(n, [rowOf(r, f, false, true)])) return { ...r, text: sourceOf(text, [n]) };
  }
  return null;
}

// looseRow reads a comparison that asks for less than rows do, or for nothing, before it compares: where there is something to compare,
// both say the same. What is negated behind a question holds for nothing absent, where rows hold: that is none.
function looseRow(terms: Node[], { text, fields }: Source): Row | null {
  const [test] = terms.slice(-1);
  if (!test) return null;
  for (const r of guesses(test, false)) {
    if (negated[r.op] && terms.length > 1) continue;
    const f = fields.find((x) => x.expression === r.what);
    const asked = guards(r.what, negated[r.op] ?? r.op, true);
    if (f && isWhole(r, fields) && says(test, bare(r, f)) && terms.slice(0, -1).every((x) => says(x, asked))) return { ...r, text: sourceOf(text, terms) };
  }
  return null;
}

// bare are the texts of a row without what it asks for first. Whether something is empty cannot be said without.
function bare(r: Row, f: ConditionField): string[] {
  const test = negated[r.op] ?? r.op;
  const texts = [tested(f, test, r.values), tested(f, test, r.values, true)];
  if (some.includes(r.op) || texts.includes('')) return [];
  const short = test === 'is' && r.values[0] === 'true' ? [f.expression] : [];
  if (!negated[r.op]) return [...texts, ...short];
  return [...texts.map((x) => `!(${x})`), ...(test === 'is' ? texts.map((x) => x.replace(' == ', ' != ')) : []), ...short.map((x) => `!${x}`)];
}

const signs: Record<string, Op[]> = { '==': ['is'], '!=': ['isNot', 'notEmpty'], '>': ['more', 'after', 'notEmpty'], '<': ['less', 'before'], '>=': ['atLeast'], '<=': ['atMost'] };
const calls: Record<string, Op> = { contains: 'contains', startsWith: 'starts' };

// guesses are rows that the last term of the tree may stand for.
function guesses(n: Node, not: boolean): Row[] {
  if (n.kind === 'not') return guesses(n.of, true);
  if (n.kind === 'and') return n.of.length > 0 ? guesses(n.of[n.of.length - 1] as Node, not) : [];
  const as = (what: Node | undefined, ops: Op[], values: Node[]): Row[] => {
    const path = pathOf(what);
    const texts = values.map(valueOf);
    if (path === null || texts.includes(null)) return [];
    const all = ops.flatMap((op): Op[] => (not ? (Object.keys(negated) as Op[]).filter((k) => negated[k] === op) : [op]));
    return all.map((op) => ({ what: path, op, values: takes(op) === 0 ? [] : texts as string[] }));
  };
  if (n.kind === 'path') return as(n, ['is'], [{ kind: 'bool', text: 'true' }]);
  if (n.kind === 'call' && n.name in calls) return as(n.on, [calls[n.name] as Op], n.args);
  if (n.kind !== 'rel') return [];
  if (n.op === 'in') return n.right.kind === 'list' ? as(n.left, ['oneOf'], n.right.of) : as(n.right, ['contains'], [n.left]);
  if (n.right.kind === 'null') return as(n.left, n.op === '!=' ? ['notEmpty'] : [], []).concat(n.op === '==' && !not ? as(n.left, ['empty'], []) : []);
  const ops = signs[n.op] ?? [];
  return [...as(n.left, ops, [n.right]), ...(n.op === '==' && !not ? as(n.left, ['empty'], [n.right]) : [])];
}

// pathOf is what is read: request.title, or what stands in timestamp(), size() and fold().
function pathOf(n: Node | undefined): string | null {
  if (n?.kind === 'path') return n.text;
  return n?.kind === 'call' && !n.on && ['timestamp', 'size', 'fold'].includes(n.name) && n.args.length === 1 ? pathOf(n.args[0]) : null;
}

function valueOf(n: Node): string | null {
  if (n.kind === 'string' || n.kind === 'bool') return n.text;
  if (n.kind === 'number') return whole.test(n.text.replace(/\.0$/, '')) ? n.text.replace(/\.0$/, '') : n.text;
  return n.kind === 'call' && ['timestamp', 'fold'].includes(n.name) && n.args[0] ? valueOf(n.args[0]) : null; // not said
}
