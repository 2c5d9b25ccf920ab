// focus keeps the focus in the page. The browser drops it with what has it: with a row that leaves its list, with a button while it
// cannot be pressed, with a page that is left. It goes to what stands in that place then, or back to the button.

// Place is an element to which the focus will come, or what stands there once the element is gone.
interface Place { at: HTMLElement | null }

const here: Place = { at: null }; // what had the focus last
const held = new Set<Place>([here]);

// hold follows the element that has the focus now, for a dialog that gives it back. Call release once it did.
export function hold(): { place: Place; release: () => void } {
  const place: Place = { at: here.at };
  held.add(place);
  return { place, release: () => { held.delete(place); } };
}

// Wanted is what shall have the focus once it is drawn; milliseconds, as performance.now has them.
interface Wanted { find: () => HTMLElement | null | undefined; scroll: boolean; until: number }

let wanted: Wanted | null = null;

// focusSoon gives the focus to what find finds, and shows it there if scroll says so. What somebody asked for may be drawn later than the
// next frame, on a busy machine: until it is there, two seconds at most, the page itself has the focus. Whoever presses a key or a button
// meanwhile goes on from there.
export function focusSoon(find: Wanted['find'], scroll = false): void {
  requestAnimationFrame(() => {
    wanted = { find, scroll, until: performance.now() + 2000 };
    if (!found()) give(globalThis.document.getElementById('main'));
  });
}

function found(): boolean {
  const e = wanted?.find();
  if (e) {
    give(e, wanted?.scroll);
    wanted = null;
  }
  return !!e;
}

// give focuses an element, also one that cannot be reached by Tab.
export function give(e: HTMLElement | null, scroll = false): void {
  if (!e) return;
  if (!e.matches('a[href], button, input, select, textarea, summary, [tabindex]')) e.tabIndex = -1; // not said
  e.focus({ preventScroll: !scroll });
}

// heir is what stands where an element was: the next row of a list, or the row or the page around it.
function heir(gone: HTMLElement, records: MutationRecord[]): HTMLElement | null {
  const record = records.find((r) => r.target.isConnected && [...r.removedNodes].some((n) => n.contains(gone)));
  const around = record?.target instanceof HTMLElement ? record.target : null;
  const beside = [record?.nextSibling, record?.previousSibling].find((n): n is HTMLElement => n instanceof HTMLElement && n.isConnected);
  const row = around?.matches('ul, ol, tbody') ? beside : around?.closest<HTMLElement>('[data-row], .row, li, tr'); // not said
  return row ? row.querySelector<HTMLElement>('a.name') ?? row : around?.closest('dialog') ?? globalThis.document.getElementById('main');
}

export function keepFocus(): void {
  const { document } = globalThis;
  let next: Element | null = null; // where the focus is about to go: what is left may change the page before it is there
  document.addEventListener('focusout', (e) => { next = e.relatedTarget as Element | null; }, true);
  document.addEventListener('focusin', (e) => { here.at = e.target as HTMLElement; next = null; });
  // Whoever presses beside everything wants no focus.
  document.addEventListener('mouseup', () => { if (document.activeElement === document.body) here.at = null; });
  for (const press of ['keydown', 'mousedown']) document.addEventListener(press, () => { wanted = null; }, true);
  new MutationObserver((records) => {
    if (wanted && (performance.now() > wanted.until || found())) wanted = null;
    for (const place of held) if (place.at && !place.at.isConnected) place.at = heir(place.at, records);
    if (document.activeElement === document.body && document.hasFocus() && !(next?.isConnected && !next.matches(':disabled')) && !here.at?.matches(':disabled')) give(here.at);
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}
