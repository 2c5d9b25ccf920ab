// visiblewhen are the rows of a question's visibleWhen: the answers to other questions that show it.
import { numberOf } from '../app/digits';
import type { FormField } from '../ui/answer';
import type { ConditionField, Group, Row } from './conditions';

const types: Record<string, string> = { number: 'NUMBER', boolean: 'BOOLEAN', date: 'DATE', multiselect: 'TEXT', user: 'USER', team: 'TEAM' };

// askedOf are the other questions as conditions compare them. A list is compared with one of its values.
export const askedOf = (all: FormField[], index: number): ConditionField[] => all.flatMap((f, i) => (i === index || ['datetime', 'file'].includes(f.type) ? [] : [{
  expression: f.key, label: f.label || f.key, group: '', type: types[f.type] ?? 'TEXT', optional: false, values: (f.options ?? []).map((value) => ({ value, label: value })), // not said
}]));

// whenRows are the rows of a visibleWhen.
export const whenRows = (when: FormField['visibleWhen']): Group => ({ join: 'all', parts: Object.entries(when ?? {}).map(([what, v]): Row =>
  (Array.isArray(v) ? { what, op: 'oneOf', values: (v as unknown[]).map(String) } : { what, op: 'is', values: [String(v)] })) });

// whenOf writes the rows that name a question and a value; null for none. Of two rows of one question the first counts.
export function whenOf(g: Group, asked: ConditionField[]): Record<string, unknown> | null {
  const out: Record<string, unknown> = {};
  for (const r of g.parts as Row[]) {
    const type = asked.find((f) => f.expression === r.what)?.type;
    const values = r.values.filter((v) => v !== '').map((v) => (type === 'BOOLEAN' ? v === 'true' : type === 'NUMBER' ? numberOf(v) ?? v : v));
    if (r.what === '' || values.length === 0 || Object.hasOwn(out, r.what)) continue;
    out[r.what] = r.op === 'oneOf' ? values : values[0];
  }
  return Object.keys(out).length > 0 ? out : null;
}

