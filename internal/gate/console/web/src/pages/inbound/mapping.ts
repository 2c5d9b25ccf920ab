// mapping is what a request of an inbound webhook is made of: an expression by each name, those of questions as fields.KEY.
import { t } from '../../app/text';
import { literal, quoted, unquoted } from '../../parts/cel';
import { isValue } from '../../parts/conditions';

export type Mapping = Readonly<Record<string, string>>;

// flat reads a mapping of the API.
export function flat(stored: unknown): Mapping {
  const out: Record<string, string> = {};
  if (!stored || typeof stored !== 'object') return out;
  for (const [name, value] of Object.entries(stored)) {
    if (name !== 'fields') out[name] = String(value);
    else for (const [key, x] of Object.entries((value ?? {}) as Record<string, unknown>)) out[`fields.${key}`] = String(x);
  }
  return out;
}

// nested writes it for the API; null when nothing is said.
export function nested(m: Mapping): Record<string, unknown> | null {
  const said = Object.entries(m).filter(([, x]) => x.trim() !== '');
  if (said.length === 0) return null;
  const fields = said.filter(([name]) => name.startsWith('fields.')).map(([name, x]) => [name.slice(7), x]);
  return { ...Object.fromEntries(said.filter(([name]) => !name.startsWith('fields.'))), ...(fields.length > 0 ? { fields: Object.fromEntries(fields) as unknown } : {}) };
}

// A Question of an offering's form, as far as a mapping needs it.
export interface Question { key: string; label?: string; type?: string; required?: boolean; options?: string[] | null; visibleWhen?: object | null }

// fixedChoices are the expressions of the answers that a question can have, by what they say; null where it takes any.
export function fixedChoices(q: { type?: string; options?: readonly string[] | null }): [string, string][] | null {
  if (q.type === 'boolean') return [['true', t('Yes')], ['false', t('No')]];
  if (!q.options?.length) return null;
  return q.options.map((o) => [q.type === 'multiselect' ? `[${literal(o)}]` : literal(o), o]);
}

const whole = new RegExp(`^(?:${quoted})$`);

// fixedOf is the answer that an expression always gives; null where it reads something.
export function fixedOf(expression: string): string | null {
  const x = expression.trim();
  if (/^-?\d+(\.\d+)?$/.test(x)) return x;
  return whole.test(x) ? unquoted(x) : null;
}

// fixedAs is the expression that always gives an answer to a question.
export const fixedAs = (answer: string, type?: string): string => (type === 'number' && isValue('NUMBER', answer) ? answer : literal(answer));

// isOpen reports whether each request must answer a question: one that others show may not be asked.
export const isOpen = (q: Question): boolean => q.required === true && Object.keys(q.visibleWhen ?? {}).length === 0;

// said is a value as people read it.
export function said(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return value.map(said).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
}
