// toast says outcomes, in a live region, and offers to take them back.
import { X } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';

export interface Toast { text: string; bad?: boolean; undo?: () => void }
interface Shown extends Toast { id: number }

let shown: Shown[] = [];
let next = 1;
const listeners = new Set<() => void>();
const change = (to: Shown[]) => { shown = to; listeners.forEach((l) => { l(); }); };

export function toast(t: Toast): void {
  change([...shown.filter((s) => s.undo || s.text !== t.text).slice(-2), { ...t, id: next++ }]); // what is said twice stands there once
}

const close = (id: number) => { change(shown.filter((t) => t.id !== id)); };

function One({ toast: t }: { toast: Shown }) {
  useEffect(() => {
    const timer = setTimeout(() => { close(t.id); }, t.bad ? 12_000 : 6_000);
    return () => { clearTimeout(timer); };
  }, [t.id, t.bad]);
  return (
    <li className={t.bad ? 'toast bad' : 'toast'}>
      <span>{t.text}</span>
      {t.undo && <button type="button" className="quiet small" onClick={() => { t.undo?.(); close(t.id); }}>Undo</button>}
      <button type="button" className="icon" aria-label="Dismiss" onClick={() => { close(t.id); }}><X size={14} aria-hidden /></button>
    </li>
  );
}

export function Toasts() {
  const list = useSyncExternalStore((l) => { listeners.add(l); return () => { listeners.delete(l); }; }, () => shown);
  return (
    <div className="toasts" role="status" aria-live="polite">
      <ul>{list.map((t) => <One key={t.id} toast={t} />)}</ul>
    </div>
  );
}
