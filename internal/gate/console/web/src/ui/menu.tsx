// menu holds what opens at a button: a menu of verbs, or a panel to choose in. Both are the browser's popovers, above everything and cut off
// by nothing; Escape, a press beside them and leaving them by Tab close them.
import { useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';

const edge = 8; // pixels that are left to the window's edges

// place puts a popover below its button, or above it where there is no room, with its end at the button's end where it is asked for.
function place(at: HTMLElement, layer: HTMLElement, end: boolean) {
  const [from, box] = [at.getBoundingClientRect(), layer.getBoundingClientRect()];
  const below = from.bottom + 4 + box.height <= innerHeight - edge || from.top < box.height;
  const left = end === (getComputedStyle(at).direction === 'ltr') ? from.right - box.width : from.left;
  layer.style.left = `${Math.max(edge, Math.min(left, innerWidth - box.width - edge))}px`;
  layer.style.top = `${Math.max(edge, below ? Math.min(from.bottom + 4, innerHeight - box.height - edge) : from.top - 4 - box.height)}px`;
}

interface LayerProps { at: HTMLElement; label: string; role: 'menu' | 'dialog'; close: () => void; end?: boolean; children: ReactNode; onKeyDown?: (e: KeyboardEvent<HTMLDivElement>) => void }

function Layer({ at, label, role, close, end = false, children, onKeyDown }: LayerProps) {
  const ref = useRef<HTMLDivElement>(null);
  const latest = useRef(close);
  latest.current = close;
  useLayoutEffect(() => {
    const layer = ref.current;
    if (!layer) return undefined;
    layer.showPopover();
    const again = () => { place(at, layer, end); };
    const seen = new ResizeObserver(again);
    seen.observe(layer);
    again();
    layer.querySelector<HTMLElement>('[role=menuitem], [role=menuitemradio], input, button')?.focus(); // not said
    const beside = (e: Event) => { if (!layer.contains(e.target as Node) && !at.contains(e.target as Node)) latest.current(); };
    globalThis.document.addEventListener('pointerdown', beside, true);
    globalThis.addEventListener('scroll', again, true);
    globalThis.addEventListener('resize', again);
    return () => {
      seen.disconnect();
      globalThis.document.removeEventListener('pointerdown', beside, true);
      globalThis.removeEventListener('scroll', again, true);
      globalThis.removeEventListener('resize', again);
    };
  }, [at, end]);
  const press = (e: KeyboardEvent<HTMLDivElement>) => {
    onKeyDown?.(e);
    if (e.key === 'Escape') { // not said
      e.preventDefault();
      close();
      at.focus();
    }
    e.stopPropagation(); // what is pressed in here is no key of the page
  };
  return (
    <div
      ref={ref} popover={'manual'} role={role} aria-label={label} className={`${role === 'menu' ? 'verbs-menu' : 'panel'} layer`} onKeyDown={press} onClick={(e) => { e.stopPropagation(); }}
      onBlur={(e) => { if (e.relatedTarget && !e.currentTarget.contains(e.relatedTarget) && e.relatedTarget !== at) close(); }}
    >
      {children}
    </div>
  );
}

export interface Item { label: string; run: () => void; keys?: string; bad?: boolean; checked?: boolean }

interface MenuProps { label: string; items: () => Item[]; children?: ReactNode; className?: string; end?: boolean; hint?: string }

// Menu is a button that opens a menu of verbs. What destroys something stands last, apart, and alone is red.
export function Menu({ label, items, children, className = 'icon', end = true, hint }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [open, set] = useState(false);
  const close = () => { set(false); };
  const keys = (e: KeyboardEvent<HTMLDivElement>) => {
    const all = [...e.currentTarget.querySelectorAll<HTMLElement>('button')];
    const here = all.indexOf(globalThis.document.activeElement as HTMLElement);
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 }[e.key];
    if (e.key === 'Tab') close(); // not said
    else if (to !== undefined) e.preventDefault();
    const typed = e.key.length === 1 && e.key !== ' ' ? [...all.slice(here + 1), ...all].find((b) => b.textContent?.toLowerCase().startsWith(e.key.toLowerCase())) : undefined;
    (to === undefined ? typed : all.at(to % all.length))?.focus();
  };
  return (
    <>
      <button ref={button} type="button" className={className} aria-label={children && !hint ? undefined : label} title={hint} aria-haspopup="menu" aria-expanded={open} onClick={() => { set(!open); }}>
        {children ?? <Dots />}
      </button>
      {open && button.current && (
        <Layer at={button.current} label={label} role="menu" close={close} end={end} onKeyDown={keys}>
          {items().map((i) => (
            <button
              key={i.label} type="button" role={i.checked === undefined ? 'menuitem' : 'menuitemradio'} aria-checked={i.checked} tabIndex={-1} className={i.bad ? 'bad' : undefined}
              onClick={() => { button.current?.focus(); close(); i.run(); }}
            >
              <span>{i.label}</span>{i.keys && <kbd aria-hidden>{i.keys}</kbd>}
            </button>
          ))}
        </Layer>
      )}
    </>
  );
}

interface PanelProps { label: string; at: HTMLElement; close: () => void; children: ReactNode; end?: boolean }

// Panel is what one chooses in, at the button that opened it. What is chosen counts at once.
export const Panel = ({ label, at, close, children, end }: PanelProps) => <Layer at={at} label={label} role="dialog" close={close} end={end ?? false}>{children}</Layer>;

const Dots = () => <svg width="16" height="16" viewBox="0 0 16 16" fill="currentColor" aria-hidden="true"><circle cx="3" cy="8" r="1.4" /><circle cx="8" cy="8" r="1.4" /><circle cx="13" cy="8" r="1.4" /></svg>;
