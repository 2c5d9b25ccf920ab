// formkeys are the keys by which the fields of a form are answered.
import type { FormField } from '../ui/answer';

// keyOf is the key that a label makes: “Größe des Raums” is grosseDesRaums.
export const keyOf = (label: string) => label.trim().normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').replace(/[^A-Za-z0-9]+(.)?/g, (_m, c: string | undefined) => c?.toUpperCase() ?? '').replace(/^[^A-Za-z]+/, '').replace(/^./, (c) => c.toLowerCase()).slice(0, 60);

// keyed gives each field the key by which it is answered, which no other one has: once given it stays, whatever the label becomes.
export const keyed = (fields: FormField[]) => {
  const taken = new Set(fields.map((f) => f.key));
  return fields.map((f, i) => {
    if (f.key) return f;
    const stem = keyOf(f.label ?? '') || `field${i + 1}`;
    let key = stem;
    for (let n = 2; taken.has(key); n++) key = `${stem}${n}`;
    taken.add(key);
    return { ...f, key };
  });
};
