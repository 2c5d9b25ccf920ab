// answer holds the rules by which a form's fields are shown and its answers sent. The server checks them again.
import { equal, isNumeric, numberOf, type Numeric } from '../app/digits';
import { fieldOf, instantOf } from './zone';

export interface FormField {
  key: string; label?: string | null; type: string; required?: boolean; help?: string | null; options?: string[] | null;
  min?: Numeric | null; max?: Numeric | null; pattern?: string | null; accept?: string[] | null; maxFiles?: Numeric | null; visibleWhen?: Record<string, unknown> | null;
}
export type Answers = Record<string, unknown>;

// visible reports whether a field is shown: each field that its condition names is shown itself and has, or includes, one of the values.
export function visible(field: FormField, all: FormField[], answers: Answers, depth = 0): boolean {
  if (depth > all.length) return false;
  return Object.entries(field.visibleWhen ?? {}).every(([key, wanted]) => {
    const on = all.find((f) => f.key === key);
    if (!on || !visible(on, all, answers, depth + 1)) return false;
    const values = Array.isArray(wanted) ? wanted : [wanted];
    const answer = typed(on, answers[key]);
    const is = (a: unknown) => values.some((v) => v === a || (isNumeric(v) && isNumeric(a) && equal(v, a)));
    return Array.isArray(answer) ? answer.some(is) : is(answer);
  });
}

// typed is an answer as the API takes it; undefined for none.
export function typed(field: FormField, value: unknown): unknown {
  if (field.type === 'boolean') return value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined;
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) return undefined;
  if (field.type === 'number') return isNumeric(value) ? value : numberOf(String(value)) ?? value;
  if (field.type === 'datetime') {
    const at = momentOf(String(value)) ?? instantOf(String(value));
    return Number.isNaN(at.getTime()) ? value : at.toISOString();
  }
  return value;
}

// filesOf are the ids of files, if a value is a list of such; none for others.
export const filesOf = (value: unknown): string[] => (Array.isArray(value) && value.every((v) => /^att_\w{26}$/.test(String(v))) ? value.map(String) : []);

// momentOf reads a date-time as forms take it, with small letters and leap seconds too; null for what has no offset.
export function momentOf(text: string): Date | null {
  const at = new Date(text.toUpperCase().replace(/:60(?=\D)/, ':59'));
  return /([Zz]|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(at.getTime()) ? at : null;
}

// fieldTime is an answer as a field for date and time takes it: in the person's time zone, if it has an offset.
export function fieldTime(text: string): string {
  const at = momentOf(text);
  return at ? fieldOf(at) : text;
}

// written is a value of no known type in words: an object as JSON.
export const written = (value: unknown): string => (Array.isArray(value) ? value.map(one).join(', ') : one(value));
const one = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

// toSend are the answers to the fields that are shown. One that stands as it was is sent as it was.
export function toSend(fields: FormField[], answers: Answers, was: Answers = {}): Answers {
  const sent = (f: FormField) => {
    const answer = typed(f, answers[f.key]);
    return answer !== undefined && JSON.stringify(answers[f.key]) === JSON.stringify(was[f.key]) ? was[f.key] : answer;
  };
  return Object.fromEntries(fields.filter((f) => visible(f, fields, answers)).map((f) => [f.key, sent(f)]).filter(([, v]) => v !== undefined));
}
