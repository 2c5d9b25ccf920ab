// rows moves the focus along the rows of a page by j and k. The mark is the focus itself, so that Enter opens and screen readers
// follow.
import { useEffect } from 'react';
import { t } from '../app/text';
import { useKeys } from '../keys/registry';
import { give } from './focus';

const row = '[data-row], .row, tr, li'; // not said
const links = () => [...globalThis.document.querySelectorAll<HTMLElement>('#main :is([data-row], .row, tbody, .board) a.name, #main .offers a')].filter((l) => !l.closest('dialog, .peek')); // not said
const rowOf = (l: HTMLElement | undefined) => l?.closest<HTMLElement>('[data-row]')?.dataset['row'];
const current = () => links().findIndex((l) => l.closest(row)?.contains(globalThis.document.activeElement));

function go(by: number): void {
  const all = links();
  const at = current();
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

// opened holds the row that was last opened from each address, so that one who comes back goes on from there.
const opened = new Map<string, string | null>();
const address = () => location.pathname + location.search;
let back = ''; // where one came back to
globalThis.addEventListener('popstate', () => { back = address(); });
globalThis.document.addEventListener('click', (e) => {
  const link = links().find((l) => l.contains(e.target as Node));
  if (link) opened.set(address(), link.getAttribute('href'));
}, true);

// useReturn puts the focus on the row that was opened from this page, once the rows are there, unless the focus is somewhere already.
function useReturn(): void {
  useEffect(() => {
    const href = back === address() ? opened.get(back) : undefined;
    back = '';
    if (!href) return undefined;
    let tries = 40;
    const timer = setInterval(() => {
      const link = links().find((l) => l.getAttribute('href') === href && l.checkVisibility({ visibilityProperty: true }));
      if (link && (globalThis.document.activeElement?.matches('body, main') ?? true)) give(link); // not said
      if (link || --tries <= 0) clearInterval(timer);
    }, 50);
    return () => { clearInterval(timer); };
  }, []);
}

// useRows are the keys for the rows of a page; what the page itself does by these keys counts.
export function useRows(): void {
  useReturn();
  useKeys([
    { name: 'next-row', keys: 'j', does: t('Next row'), group: t('Rows'), run: () => { go(1); } },
    { name: 'previous-row', keys: 'k', does: t('Previous row'), group: t('Rows'), run: () => { go(-1); } },
    { name: 'open-row', keys: 'Enter', does: t('Open the row'), group: t('Rows'), run: () => { links()[current()]?.click(); } }, // not said
  ]);
}

// someRows reports whether the page has rows to go along.
export const someRows = (): boolean => links().length > 0;

// marked is the id of the row that the focus is in. Where there is none the first row is marked, and nothing else is done: a key must
// not act on what nobody has pointed at.
export function marked(): string | undefined {
  const at = current();
  if (at < 0) go(1);
  return at < 0 ? undefined : rowOf(links()[at]);
}

// step moves on from a row that is about to leave the list, so that the same key can be pressed for the next one at once.
export function step(id: string): void {
  const all = links();
  const at = all.findIndex((l) => rowOf(l) === id);
  (all[at + 1] ?? all[at - 1])?.focus();
}
