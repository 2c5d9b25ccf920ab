// rows moves the focus along the rows of a page by j and k. The mark is the focus itself, so that Enter opens and screen readers
// follow.
import { focusSoon } from './dialog';
import { useKeys } from '../keys/registry';

const row = '[data-row], .row, tr, li';
const links = () => [...globalThis.document.querySelectorAll<HTMLElement>('#main :is([data-row], .row, tbody, .board) a.name, #main .offers a')].filter((l) => !l.closest('dialog'));
const rowOf = (l: HTMLElement | undefined) => l?.closest<HTMLElement>('[data-row]')?.dataset['row'];
const current = () => links().findIndex((l) => l.closest(row)?.contains(globalThis.document.activeElement));

function go(by: number): void {
  const all = links();
  const at = current();
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

// useRows are the keys for the rows of a page; what the page itself does by these keys counts.
export function useRows(): void {
  useKeys([
    { keys: 'j', does: 'Next row', group: 'Rows', run: () => { go(1); } },
    { keys: 'k', does: 'Row before', group: 'Rows', run: () => { go(-1); } },
    { keys: 'Enter', does: 'Open the row', group: 'Rows', run: () => { links()[current()]?.click(); } },
  ]);
}

// marked is the id of the row that the focus is in, or of the first one.
export const marked = (): string | undefined => rowOf(links()[Math.max(0, current())]);

// beside is the row to go on with once this one has left the list.
export function beside(id: string): string | undefined {
  const all = links();
  const at = all.findIndex((l) => rowOf(l) === id);
  return rowOf(all[at + 1] ?? all[at - 1]);
}

// step moves on before a row leaves the list, so that the focus is never lost.
export function step(id: string): void {
  const next = beside(id);
  (links().find((l) => next && rowOf(l) === next) ?? globalThis.document.getElementById('main'))?.focus();
}

// land puts the focus on a row that may have left the list meanwhile: on the first one then.
export function land(id: string | undefined): void {
  focusSoon(() => links().find((l) => rowOf(l) === id) ?? links()[0]);
}
