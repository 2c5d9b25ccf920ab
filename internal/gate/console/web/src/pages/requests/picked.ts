import { useEffect, useRef, useState } from 'react';
import { plural, t } from '../../app/text';
import { useKeys } from '../../keys/registry';
import { marked } from '../../ui/rows';
import { toast } from '../../ui/toast';
import type { MayRow } from './search';

// most is how many requests are changed at once.
export const most = 100;

export interface Picking { picked: ReadonlySet<string>; chosen: MayRow[]; pick: (id: string, range?: boolean) => void; pickAll: (on: boolean) => void; clear: () => void }

// usePicked keeps which rows of a list are selected, until something else is asked for, and adds the keys for it. A range is from the row
// that was selected last.
export function usePicked(all: MayRow[], asked: string): Picking {
  const [picked, set] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => { set(new Set()); }, [asked]);
  const last = useRef('');
  const take = (ids: string[]) => {
    if (ids.length > most) toast({ text: plural(most, 'Only the first {n} is selected: no more can be changed at once.', 'Only the first {n} are selected: no more can be changed at once.') });
    set(new Set(ids.slice(0, most)));
  };
  const pick = (id: string, range = false) => {
    const [from, to] = [all.findIndex((r) => r.id === last.current), all.findIndex((r) => r.id === id)].sort((a, b) => a - b) as [number, number];
    last.current = id;
    if (range && from >= 0) take([...new Set([...picked, ...all.slice(from, to + 1).map((r) => r.id)])]);
    else take(picked.has(id) ? [...picked].filter((p) => p !== id) : [...picked, id]);
  };
  const pickAll = (on: boolean) => { take(on ? all.map((r) => r.id) : []); };
  const clear = () => { set(new Set()); };
  const chosen = all.filter((r) => picked.has(r.id));
  const here = (range: boolean) => () => { const r = all.find((x) => x.id === marked()); if (r) pick(r.id, range); };
  useKeys([
    { name: 'select', keys: 'x', does: t('Select the row'), group: t('Requests'), run: here(false) },
    { name: 'select-to', keys: 'X', does: t('Select all rows up to this one'), group: t('Requests'), run: here(true) },
    { name: 'select-all', keys: 'mod+a', does: t('Select all rows shown'), group: t('Requests'), run: () => { pickAll(true); } },
  ]);
  useKeys([{ name: 'clear-selection', keys: 'Escape', does: t('Clear selection'), group: t('Requests'), run: clear }], chosen.length > 0); // not said
  return { picked, chosen, pick, pickAll, clear };
}
