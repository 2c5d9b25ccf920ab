// payload is what a call sends, as people write it: nothing, names and values, a text, or any JSON.
import { numberOf } from '../../../app/digits';
import { isNumeric } from '../../../app/digits';
import { isObject } from './shape';

export type Form = 'none' | 'pairs' | 'text' | 'json';
export type Scalar = 'text' | 'number' | 'boolean' | 'null';

export const scalarOf = (v: unknown): Scalar | null => (typeof v === 'string' ? 'text' : isNumeric(v) ? 'number' : typeof v === 'boolean' ? 'boolean' : v === null ? 'null' : null);

// formOf is the simplest form that shows all of it.
export function formOf(v: unknown): Form {
  if (v === undefined || v === null) return 'none';
  if (typeof v === 'string') return 'text';
  return isObject(v) && Object.values(v).every((x) => scalarOf(x)) ? 'pairs' : 'json';
}

// turned is a payload in another form: what can be shown there is kept.
export function turned(v: unknown, to: Form): unknown {
  if (to === 'none') return undefined;
  if (to === 'json') return v ?? {};
  if (to === 'text') return typeof v === 'string' ? v : v === undefined || v === null ? '' : JSON.stringify(v);
  return formOf(v) === 'pairs' ? v : {};
}

// scalar is a value of a type that somebody has chosen for it.
export function scalar(v: unknown, to: Scalar): unknown {
  if (to === 'text') return v === null ? '' : String(v);
  if (to === 'number') return numberOf(String(v)) ?? 0;
  return to === 'boolean' ? v === true || v === 'true' : null;
}
