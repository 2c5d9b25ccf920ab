// dialog holds the modal dialogs. They are the browser's own: it keeps the focus inside, and gives it back. A form is at its first
// field when it opens; React's autoFocus would come before the browser shows the dialog, in vain.
import { Check, Copy, X } from 'lucide-react';
import { useId, useLayoutEffect, useRef, useState, useSyncExternalStore, type FormEvent, type ReactNode } from 'react';
import { t } from '../app/text';
import { focusSoon, give, hold } from './focus';

interface DialogProps { title: string; close: () => void; children: ReactNode; wide?: boolean; side?: boolean; fixed?: boolean }

let shown: readonly HTMLDialogElement[] = []; // the last one lies on top
const listeners = new Set<() => void>();
const show = (to: readonly HTMLDialogElement[]) => { shown = to; listeners.forEach((l) => { l(); }); };

// useTopDialog is the dialog outside of which nothing can be reached at the moment.
export const useTopDialog = (): HTMLDialogElement | undefined => useSyncExternalStore((l) => { listeners.add(l); return () => { listeners.delete(l); }; }, () => shown.at(-1));

export function Dialog({ title, close, children, wide, side, fixed }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // With the drawing, not after it: what is focused in the next frame, as the row to go on with, comes last and keeps the focus.
  useLayoutEffect(() => {
    const d = ref.current;
    if (!d) return undefined;
    const { place, release } = hold(); // what opened the dialog may go meanwhile, as the row of a declined request
    d.showModal();
    show([...shown, d]);
    d.querySelector<HTMLElement>('.dialog-body > form :is(input, select, textarea)')?.focus(); // not said
    return () => {
      show(shown.filter((other) => other !== d));
      d.close();
      release();
      give(place.at);
      focusSoon(() => (globalThis.document.activeElement !== globalThis.document.body ? globalThis.document.activeElement as HTMLElement : null));
    };
  }, []);
  return (
    <dialog
      ref={ref} aria-labelledby={id} className={`dialog${wide ? ' wide' : ''}${side ? ' drawer' : ''}`}
      onCancel={(e) => { e.preventDefault(); if (!fixed) close(); }}
      onClose={() => { if (fixed) ref.current?.showModal(); /* browsers close on a second Escape whatever the page says */ }}
      onMouseDown={(e) => { if (e.target === ref.current && !fixed) close(); }}
    >
      <div className="dialog-body">
        <header>
          <h2 id={id} dir="auto">{title}</h2>
          {!fixed && <button type="button" className="icon" aria-label={t('Close')} onClick={close}><X size={16} aria-hidden /></button>}
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps { title: string; verb: string; children?: ReactNode; close: () => void; act: () => void | Promise<void>; ready?: boolean; keep?: string }

// Confirm asks before something that cannot be taken back; its button has the verb's name.
export function Confirm({ title, verb, children, close, act, ready = true, keep = t('Cancel') }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const submit = (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    void Promise.resolve(act()).finally(() => { setBusy(false); });
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submit} className="stack">
        {children}
        <footer>
          <button type="button" className="plain" onClick={close}>{keep}</button>
          <button type="submit" className="danger" disabled={busy || !ready}>{verb}</button>
        </footer>
      </form>
    </Dialog>
  );
}

// Once shows a value that nobody can show again. It is in no cache and leaves memory with the dialog.
export function Once({ title, label, value, close, children }: { title: string; label: string; value: string; close: () => void; children?: ReactNode }) {
  return (
    <Dialog title={title} close={close} fixed>
      <div className="stack">
        <p>{t('Copy it now: it is shown only once.')}</p>
        <Copyable label={label} value={value} />
        {children}
        <footer><button type="button" onClick={close}>{t('I have stored it')}</button></footer>
      </div>
    </Dialog>
  );
}

export function Copyable({ label, value }: { label: string; value: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div className="copyable">
      <code aria-label={label} tabIndex={0}>{value}</code>
      <button
        type="button" className="plain small"
        onClick={() => { void navigator.clipboard.writeText(value).then(() => { setCopied(true); }, () => undefined); }}
      >
        {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />} {copied ? t('Copied') : t('Copy')}
      </button>
    </div>
  );
}
