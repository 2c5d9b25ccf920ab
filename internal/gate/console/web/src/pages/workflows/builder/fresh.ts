// fresh are the names of what is new: it keeps the keys of a form's fields in step with their labels until somebody else may know them.
import { t } from '../../../app/text';
import { keyed } from '../../../parts/formkeys';
import type { FormField } from '../../../ui/answer';

export interface Keyed { fields: FormField[]; fresh: Set<string> }

// rekeyed gives new fields a key, and those that are fresh one of their present label. A fresh key that another field's condition or an
// expression names is fresh no more. What the builder has emptied is left out.
export function rekeyed(to: FormField[], was: FormField[], fresh: Set<string>, named: (key: string) => boolean): Keyed {
  const asked = new Set(to.flatMap((f) => Object.keys(f.visibleWhen ?? {})));
  const free = (f: FormField) => f.key === '' || (fresh.has(f.key) && !asked.has(f.key) && !named(f.key));
  const again = new Set(to.flatMap((f, i) => (free(f) ? [i] : [])));
  const fields = keyed(to.map((f, i) => (again.has(i) ? { ...f, key: '' } : f)));
  return {
    fields: fields.map((f, i) => (was.includes(to[i] as FormField) && f.key === to[i]?.key ? to[i] as FormField : Object.fromEntries(Object.entries(f).filter(([, v]) => v !== null)) as unknown as FormField)),
    fresh: new Set(fields.flatMap((f, i) => (again.has(i) ? [f.key] : []))),
  };
}

// freeName is the name of a new rule: one that no other way out has.
export function freeName(taken: string[]): string {
  for (let n = 1; ; n++) {
    const name = t('Rule {n}', { n });
    if (!taken.includes(name)) return name;
  }
}
