// marking moves the focus along the rows of a list by j and k. The mark is the focus itself, so that Enter opens and screen readers
// follow.
import { useRef } from 'react';
import { useKeys } from '../../keys/registry';
import { focusSoon } from '../../ui/dialog';

export function useMarking(group = 'List') {
  const list = useRef<HTMLElement | null>(null);
  const links = () => [...(list.current?.querySelectorAll<HTMLElement>('[data-row] a.name') ?? [])];
  const rowOf = (l: HTMLElement | undefined) => (l?.closest('[data-row]') as HTMLElement | null | undefined)?.dataset['row'];
  const current = () => links().findIndex((l) => l.closest('[data-row]')?.contains(globalThis.document.activeElement));
  const go = (by: number) => {
    const all = links();
    const at = current();
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  };
  useKeys([
    { keys: 'j', does: 'Next row', group, run: () => { go(1); } },
    { keys: 'k', does: 'Row before', group, run: () => { go(-1); } },
    { keys: 'Enter', does: 'Open the row', group, run: () => { (links()[Math.max(0, current())])?.click(); } },
  ]);
  // marked is the id of the row that the focus is in, or of the first one.
  const marked = (): string | undefined => rowOf(links()[Math.max(0, current())]);
  // beside is the row to go on with once this one has left the list.
  const beside = (id: string): string | undefined => {
    const all = links();
    const at = all.findIndex((l) => rowOf(l) === id);
    return rowOf(all[at + 1] ?? all[at - 1]);
  };
  // step moves on before a row leaves the list, so that the focus is never lost.
  const step = (id: string) => {
    const next = links().find((l) => rowOf(l) === beside(id));
    if (next) next.focus();
    else (globalThis.document.getElementById('main') as HTMLElement | null)?.focus();
  };
  // land puts the focus on a row that may have left the list meanwhile: on the first one then.
  const land = (id: string | undefined) => {
    focusSoon(() => links().find((l) => rowOf(l) === id) ?? links()[0]);
  };
  return { list, marked, step, beside, land };
}
