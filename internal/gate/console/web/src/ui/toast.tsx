// toast says outcomes, in a live region, and offers to take them back. While a dialog is open they stand inside of it: everything else is
// inert then. The page's own region stays, so that what comes into it is read out.
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { t } from '../app/text';
import { keyLabel, useKeys } from '../keys/registry';
import { useTopDialog } from './dialog';

// Toast is an outcome. link leads to what came of it.
interface Toast { text: string; bad?: boolean; undo?: () => void; link?: { to: string; says: string } }
interface Shown extends Toast { id: number }

let shown: Shown[] = [];
let next = 1;
const listeners = new Set<() => void>();
const change = (to: Shown[]) => { shown = to; listeners.forEach((l) => { l(); }); };

export function toast(one: Toast): void {
  change([...shown.filter((s) => s.undo || s.text !== one.text).slice(-2), { ...one, id: next++ }]); // what is said twice stands there once
}

// since is the first toast that came of what was pressed last. What was said before belongs to the page that is left then.
let since = 1;
const pressed = () => { since = next; };
for (const kind of ['pointerdown', 'keydown', 'popstate']) globalThis.addEventListener(kind, pressed, true);

// passed ends what was said on a page that was left. What its leaving says stays, and so does what can be taken back.
export function passed(): void {
  if (shown.some((one) => one.id < since && !one.undo)) change(shown.filter((one) => one.id >= since || one.undo));
}

// lasts is for how long something stands there once nobody points at it or is in it, in milliseconds: what went wrong takes longer to read.
export const lasts = (one: Toast) => (one.bad ? 12_000 : 6_000);

const close = (id: number) => { change(shown.filter((one) => one.id !== id)); };

const back = (one: Shown) => { one.undo?.(); close(one.id); };

function One({ toast: one, held }: { toast: Shown; held: boolean }) {
  useEffect(() => {
    if (held) return undefined;
    const timer = setTimeout(() => { close(one.id); }, lasts(one));
    return () => { clearTimeout(timer); };
  }, [one, held]);
  return (
    <li className={`toast${one.bad ? ' bad' : ''}`}>
      <span>{one.text}</span>
      {one.link && <Link to={one.link.to as never}>{one.link.says}</Link>}
      {one.undo && <button type="button" className="quiet small" aria-keyshortcuts="Control+Z Meta+Z" title={keyLabel('mod+z')} onClick={() => { back(one); }}>{t('Undo')}</button>}
      <button type="button" className="icon" aria-label={t('Dismiss')} onClick={() => { close(one.id); }}><X size={14} aria-hidden /></button>
    </li>
  );
}

export function Toasts() {
  const list = useSyncExternalStore((l) => { listeners.add(l); return () => { listeners.delete(l); }; }, () => shown);
  const [held, hold] = useState(false); // what one points at or is in does not run out
  const latest = list.findLast((one) => one.undo);
  useKeys([{ name: 'undo', keys: 'mod+z', does: t('Undo the last change'), group: t('Everywhere'), run: () => { if (latest) back(latest); } }], latest !== undefined);
  const from = useRef<HTMLElement | null>(null);
  const inside = useRef(false);
  useEffect(() => {
    if (list.length === 0) hold(false);
    const gone = inside.current && globalThis.document.activeElement === globalThis.document.body;
    if (!gone) return;
    inside.current = false;
    hold(false);
    (from.current?.isConnected ? from.current : globalThis.document.getElementById('main'))?.focus({ preventScroll: true });
  }, [list]);
  const dialog = useTopDialog();
  useEffect(() => { hold(false); inside.current = false; }, [dialog]); // what moves with a dialog is left without a word
  const region = (of: Shown[]) => (
    <div
      className="toasts" role="status" aria-live="polite" onPointerEnter={() => { hold(true); }} onPointerLeave={() => { hold(false); }}
      onFocus={(e) => { inside.current = true; hold(true); if (!e.currentTarget.contains(e.relatedTarget)) from.current = e.relatedTarget as HTMLElement | null; }}
      onBlur={(e) => { if (!e.currentTarget.contains(e.relatedTarget)) { inside.current = false; hold(false); } }}
    >
      <ul>{of.map((one) => <One key={one.id} toast={one} held={held} />)}</ul>
    </div>
  );
  return <>{region(dialog ? [] : list)}{dialog && createPortal(region(list), dialog)}</>;
}
