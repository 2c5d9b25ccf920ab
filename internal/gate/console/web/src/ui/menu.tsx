// menu holds what is done less often, behind one button. It is the browser's own popover: nothing cuts it off, and a press beside it
// closes it.
import { MoreHorizontal, type LucideIcon } from 'lucide-react';
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';

export interface Entry { says: string; run: () => void; icon?: LucideIcon; danger?: boolean }

// Menu lists entries in order; those that destroy something stand last, in red.
export function Menu({ label, entries, small }: { label: string; entries: Entry[]; small?: boolean }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const closed = useRef(0); // when a press beside the menu closed it: the same press on its button would open it again
  const items = () => [...menu.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? []]; // not said
  useEffect(() => {
    const [m, b] = [menu.current, button.current];
    if (!open || !m || !b) return undefined;
    const at = b.getBoundingClientRect();
    m.showPopover();
    const [width, height] = [m.offsetWidth, m.offsetHeight];
    const left = getComputedStyle(b).direction === 'rtl' ? at.left : at.right - width; // not said
    m.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    m.style.top = `${at.bottom + height + 8 > innerHeight ? Math.max(8, at.top - height - 4) : at.bottom + 4}px`;
    m.querySelector<HTMLElement>('[role=menuitem]')?.focus({ preventScroll: true }); // not said
    const away = () => { setOpen(false); };
    addEventListener('scroll', away, true);
    addEventListener('resize', away);
    return () => { removeEventListener('scroll', away, true); removeEventListener('resize', away); };
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus({ preventScroll: true });
  };
  const press = (e: KeyboardEvent) => {
    const all = items();
    const at = all.indexOf(globalThis.document.activeElement as HTMLElement);
    const go = (i: number) => { all.at(i % all.length)?.focus(); };
    const steps: Partial<Record<string, () => void>> = {
      ArrowDown: () => { go(at + 1); }, ArrowUp: () => { go(at - 1); }, Home: () => { go(0); }, End: () => { go(-1); }, Escape: close, Tab: close,
    };
    e.stopPropagation(); // the page's own keys wait
    const step = steps[e.key];
    if (step) e.preventDefault();
    if (step) step();
    else if (e.key.length === 1 && e.key !== ' ') [...all.slice(at + 1), ...all].find((i) => i.textContent?.trim().toLowerCase().startsWith(e.key.toLowerCase()))?.focus();
  };
  if (entries.length === 0) return null;
  return (
    <>
      <button
        ref={button} type="button" className={`icon menu-opener${small ? ' small' : ''}`} // not said
        aria-label={label} title={label} aria-haspopup="menu" aria-expanded={open} {...(open ? { 'aria-controls': id } : {})}
        onClick={() => { setOpen(!open && Date.now() - closed.current > 300); }} onKeyDown={(e) => { if (e.key === 'ArrowDown') { e.preventDefault(); e.stopPropagation(); setOpen(true); } }}
      ><MoreHorizontal size={16} aria-hidden /></button>
      {open && (
        <div
          ref={menu} id={id} role="menu" aria-label={label} className="menu" popover="auto" // not said
          onKeyDown={press} onToggle={(e) => { if (e.newState === 'closed') { closed.current = Date.now(); setOpen(false); } }}
        >
          {entries.map((e) => (
            <button key={e.says} type="button" role="menuitem" tabIndex={-1} className={`quiet${e.danger ? ' red' : ''}`} onClick={() => { close(); e.run(); }}>
              {e.icon && <e.icon size={15} aria-hidden />} {e.says}
            </button>
          ))}
        </div>
      )}
    </>
  );
}
