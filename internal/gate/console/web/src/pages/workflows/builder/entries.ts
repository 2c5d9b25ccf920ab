// entries are the members of an object as rows, while somebody writes their names.
import { useRef, useState } from 'react';
import type { Json } from './shape';

export interface Entry { name: string; value: unknown }

export const entriesOf = (o: Json): Entry[] => Object.entries(o).map(([name, value]) => ({ name, value }));

// written is the object of the rows; null where two have one name. A row without a name is none yet.
export function written(all: Entry[]): Json | null {
  const named = all.filter((e) => e.name !== '');
  return new Set(named.map((e) => e.name)).size === named.length ? Object.fromEntries(named.map((e) => [e.name, e.value])) : null;
}

// useEntries keeps the rows: what cannot be written yet, as two rows of one name, stays as it is shown until it can. An object that was
// written elsewhere, as by undoing, replaces them.
export function useEntries(o: Json, change: (to: Json) => void): [Entry[], (to: Entry[]) => void] {
  const now = JSON.stringify(o);
  const [draft, setDraft] = useState(() => ({ rows: entriesOf(o), of: now }));
  const latest = useRef(draft);
  if (latest.current.of !== now) latest.current = { rows: entriesOf(o), of: now };
  return [latest.current.rows, (rows) => {
    const to = written(rows);
    const of = to ? JSON.stringify(to) : now;
    latest.current = { rows, of };
    setDraft(latest.current);
    if (to && of !== now) change(to);
  }];
}

// twice reports whether another row above has the name of this one.
export const twice = (all: Entry[], i: number): boolean => all[i]?.name !== '' && all.findIndex((e) => e.name === all[i]?.name) < i;
