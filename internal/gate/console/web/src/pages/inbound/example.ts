// example is a call that a webhook takes: the sender's own sample where it was made for one, and in any case what its mapping and its
// condition read.
import { member } from '../../parts/cel';
import type { ConditionField } from '../../parts/conditions';

type Body = Record<string, unknown>;
const isBody = (v: unknown): v is Body => typeof v === 'object' && v !== null && !Array.isArray(v) && Object.getPrototypeOf(v) === Object.prototype;

// read finds what an expression reads of the body, and the text that it is compared with.
const read = /\bwebhook\.body((?:\.[A-Za-z_]\w*)+)(?![\w(.])(?:\s*==\s*("[^"\\]*"|'[^'\\]*'))?/g;

// exampleBody is the body of an example call, compact. What the sample lacks stands there as the text that an expression asks for, else as
// the name of what it is.
export function exampleBody(sample: unknown, expressions: readonly string[]): string {
  const body: Body = isBody(sample) ? structuredClone(plain(sample)) as Body : {};
  for (const expression of expressions) {
    for (const [, path = '', asked] of expression.matchAll(read)) put(body, path.slice(1).split('.'), asked?.slice(1, -1));
  }
  return JSON.stringify(Object.keys(body).length > 0 ? body : { title: 'Printer is empty' }); // not said
}

// plain is a value without the numbers that keep their digits: an example has none that matter.
const plain = (v: unknown): unknown => JSON.parse(JSON.stringify(v));

function put(at: Body, [key = '', ...further]: string[], asked: string | undefined): void {
  if (further.length === 0) {
    if (at[key] === undefined) at[key] = asked ?? key.replaceAll('_', ' ');
  } else if (at[key] === undefined) {
    put(at[key] = {}, further, asked);
  } else if (isBody(at[key])) put(at[key], further, asked);
}

const deepest = 5;
const most = 200;

// sampleFields are the values of a sample, as they can be chosen for a mapping: those of the body by the names that lead to them. The server
// lists those of a webhook's last call in the same way.
export function sampleFields(sample: unknown, group: string): ConditionField[] {
  const out: ConditionField[] = [];
  const add = (expression: string, label: string, v: unknown, depth: number) => {
    if (out.length >= most || depth > deepest) return;
    if (isBody(v)) for (const key of Object.keys(v).sort()) add(member(expression, key), label ? `${label}.${key}` : key, v[key], depth + 1);
    else out.push({ expression, label, group, type: typeof v === 'boolean' ? 'BOOLEAN' : typeof v === 'string' ? 'TEXT' : Array.isArray(v) ? 'LIST' : v === null ? 'ANY' : 'NUMBER', optional: true, values: [] });
  };
  if (isBody(sample)) add('webhook.body', '', sample, 0);
  return out;
}
