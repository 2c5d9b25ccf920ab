// expressions finds every expression of a definition, with where it stands: what it may read there, and what it must give.
import type { ConditionPlace } from '../../../gen/types';
import { isObject, object, objects, text, type Json } from './shape';
import { split } from './template';

// Expression is one of them. path is the place in its phase, as the server names it.
export interface Expression { id: string; path: string; place: ConditionPlace; code: string }

const places: Record<string, ConditionPlace> = { when: 'DECISION', check: 'DATA', set: 'VALUE', until: 'MOMENT', in: 'LIST', response: 'RESPONSE' };
const plain = new Set(['instructions', 'name', 'message', 'label', 'help', 'id', 'type', 'key', 'event', 'transition', 'form', 'participants', 'approvers', 'branches', 'signingSecret']); // no expressions
const own = new Set(['body', 'data', 'headers', 'input']); // names below these are somebody's own, whatever they are

export function expressionsIn(definition: unknown): Expression[] {
  return objects(object(definition)['phases']).flatMap((p) => {
    const out: Expression[] = [];
    const calls = p['type'] === 'API_CALL' || p['type'] === 'WEBHOOK_CALLOUT';
    const walk = (v: unknown, path: string, place: ConditionPlace | null, isOwn: boolean) => {
      if (typeof v === 'string' && place) out.push({ id: text(p['id']), path, place, code: v });
      else if (typeof v === 'string') for (const piece of v.includes('${') ? split(v) ?? [] : []) { if ('code' in piece) out.push({ id: text(p['id']), path, place: calls ? 'CALL' : 'VALUE', code: piece.code }); }
      else if (Array.isArray(v)) v.forEach((x, i) => { walk(x, `${path}[${i}]`, place, isOwn); });
      else if (isObject(v)) for (const [k, x] of Object.entries(v)) if (isOwn || place || !plain.has(k)) walk(x, path ? `${path}.${k}` : k, place ?? (isOwn ? null : places[k] ?? null), isOwn || own.has(k));
    };
    walk({ config: p['config'], ...(p['type'] === 'FOR_EACH' ? { in: p['in'] } : {}) }, '', null, false);
    return out.filter((e) => e.code.trim() !== '');
  });
}

const reads = /(?<![\w.])phases\s*\.\s*([A-Za-z_]\w*)/g;

// keyOf is the same for expressions of which the server would say the same: by their place, their text, and the phases that they name and
// that are gone.
export function keyOf(e: Expression, phases: ReadonlySet<string>): string {
  const gone = [...e.code.matchAll(reads)].map(([, id]) => id ?? '').filter((id) => !phases.has(id));
  return JSON.stringify([e.place, e.code, gone]);
}

// phasesOf are the ids of a definition.
export const phasesOf = (definition: unknown): Set<string> => new Set(objects(object(definition)['phases']).map((p: Json) => text(p['id'])));
