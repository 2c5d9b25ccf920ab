// beside shows a request next to its list: in a part of the page where there is room, in a dialog at the side where there is none.
import { Link } from '@tanstack/react-router';
import { Maximize2, X } from 'lucide-react';
import { Suspense, lazy, useLayoutEffect, useRef, type ReactNode } from 'react';
import { t } from '../../app/text';
import { useKeys } from '../../keys/registry';
import { Dialog } from '../../ui/dialog';
import { useMedia } from '../../ui/media';
import { fromTheTop } from '../../ui/order';
import { marked } from '../../ui/rows';
import { Skeleton } from '../../ui/states';
import type { MayRow } from './search';

const Detail = lazy(() => import('./detail').then((m) => ({ default: m.Detail })));

// useRoom reports whether the window has room for a list and a request.
export const useRoom = () => useMedia('(min-width: 75rem)'); // not said

// Coming has what it holds come in from the top down, as pages do.
function Coming({ children }: { children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => (ref.current ? fromTheTop(ref.current) : undefined), []);
  return <div ref={ref}>{children}</div>;
}

interface BesideProps { id: string | undefined; all: MayRow[]; show: (id: string) => void; children: ReactNode; from?: string }

export function Beside({ id, all, show, children, from }: BesideProps) {
  const wide = useRoom();
  const row = all.find((r) => r.id === id);
  const close = () => {
    const link = id ? globalThis.document.querySelector<HTMLElement>(`[data-row="${id}"] a.name`) : null; // not said
    show('');
    link?.focus();
  };
  useKeys([{ name: 'peek', keys: ' ', does: t('Peek at the request'), group: t('Requests'), run: () => { const at = marked(); if (at === id) close(); else if (at) show(at); } }]);
  useKeys([{ name: 'close-peek', keys: 'Escape', does: t('Close the request beside the list'), group: t('Requests'), run: close }], Boolean(id) && wide); // not said
  const body = id ? <Coming key={id}><Suspense fallback={<Skeleton />}><Detail id={id} peek /></Suspense></Coming> : null;
  return (
    <div className={id && wide ? 'beside' : 'contents'}>
      <div className="beside-list">{children}</div>
      {id && wide && (
        <div className="peek card" role="group" aria-label={t('Request beside the list')}>
          <header>
            <h2>{row ? `#${row.number}` : t('Request')}</h2>
            <Link to="/app/requests/$id" params={{ id }} state={from ? { from } as never : {}} className="icon" aria-label={t('Open the whole page')} title={t('Open the whole page')}><Maximize2 size={14} aria-hidden /></Link>
            <button type="button" className="icon" aria-label={t('Close')} onClick={close}><X size={16} aria-hidden /></button>
          </header>
          {body}
        </div>
      )}
      {id && !wide && <Dialog title={t('Request')} close={() => { show(''); }} side>{body}</Dialog>}
    </div>
  );
}
