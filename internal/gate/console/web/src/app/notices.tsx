// notices are what a person was told: mentions, assignments, what waits for a decision.
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { Notices as NoticesDocument, ReadNotices, UnreadNotices } from '../gen/documents';
import { Time } from '../ui/bits';
import { Empty } from '../ui/states';
import { Loaded } from '../ui/page';
import { toast } from '../ui/toast';
import { uncached } from './client';
import { rows, useRead, useWrite } from './data';
import { faultOf, sentence } from './fault';
import { useCan } from './session';
import { plural, t } from './text';

// useMarkAll returns what marks everything as read, also what no page has loaded.
export function useMarkAll(): () => Promise<void> {
  const [mark] = useWrite(ReadNotices);
  const marking = useRef(false);
  return async () => {
    if (marking.current) return;
    marking.current = true;
    for (let more = true; more;) {
      const r = await uncached.query(UnreadNotices, {}).toPromise();
      const fault = faultOf(r.error);
      if (fault) toast({ text: sentence(fault), bad: true });
      const ids = rows(r.data?.notifications).map((n) => n.id);
      more = ids.length > 0 && ((await mark({ input: { ids } })).data?.markNotificationsRead.marked ?? 0) > 0;
    }
    marking.current = false;
  };
}

interface Told { id: string; subject: string; readAt?: string | null | undefined; executionId?: string | null | undefined; request?: { id: string } | null | undefined }

// About is what a notice says, and leads to what it is about: to its request, or else to the execution that it comes from.
export function About({ of: n, className, read }: { of: Told; className?: string; read: () => void }) {
  const sees = useCan('execution.read');
  const onClick = () => { if (!n.readAt) read(); };
  if (n.request) return <Link className={className} dir="auto" to="/app/requests/$id" params={{ id: n.request.id }} onClick={onClick}>{n.subject}</Link>;
  if (n.executionId && sees) return <Link className={className} dir="auto" to="/app/executions/$id" params={{ id: n.executionId }} onClick={onClick}>{n.subject}</Link>;
  return <span className={className} dir="auto">{n.subject}</span>;
}

export function Notices({ open, set, icon }: { open: boolean; set: (open: boolean) => void; icon: ReactNode }) {
  const read = useRead(NoticesDocument, { first: 20 });
  const [mark] = useWrite(ReadNotices);
  const markAll = useMarkAll();
  const box = useRef<HTMLDivElement>(null);
  const list = rows(read.data?.notifications);
  const waiting = read.data?.unread?.totalCount ?? list.filter((n) => !n.readAt).length;
  useEffect(() => {
    if (!open) return undefined;
    const away = (e: Event) => {
      if (e instanceof KeyboardEvent ? e.key === 'Escape' : !box.current?.contains(e.target as Node)) { // not said
        e.stopPropagation();
        set(false);
        if (e instanceof KeyboardEvent) box.current?.querySelector<HTMLElement>('.bell')?.focus();
      }
    };
    globalThis.document.addEventListener('pointerdown', away);
    globalThis.document.addEventListener('keydown', away, true);
    return () => {
      globalThis.document.removeEventListener('pointerdown', away);
      globalThis.document.removeEventListener('keydown', away, true);
    };
  }, [open, set]);
  return (
    <div className="notices" ref={box}>
      <button type="button" className="icon bell" aria-expanded={open} aria-label={waiting > 0 ? plural(waiting, 'Notifications, {n} unread', 'Notifications, {n} unread') : t('Notifications')} onClick={() => { set(!open); }}>
        {icon}{waiting > 0 && <span className="dot" aria-hidden>{waiting}</span>}
      </button>
      {open && (
        <section className="popover" aria-label={t('Notifications')}>
          <header>
            <h2>{t('Notifications')}</h2>
            {waiting > 0 && <button type="button" className="quiet small" onClick={() => { void markAll(); }}>{t('Mark all as read')}</button>}
          </header>
          <Loaded read={read} skeleton={3}>
            {() => (list.length === 0 ? <Empty title={t('Nothing yet')}><p>{t('Mentions, assignments and decisions that wait for you appear here.')}</p></Empty> : (
              <ul>
                {list.map((n) => (
                  <li key={n.id} className={n.readAt ? '' : 'unread'}>
                    <About of={n} read={() => { void mark({ input: { ids: [n.id] } }); }} />
                    <span className="soft small-text"><Time at={n.at} /></span>
                  </li>
                ))}
              </ul>
            ))}
          </Loaded>
          <p className="popover-foot"><Link to="/app/notifications">{t('All notifications')}</Link></p>
        </section>
      )}
    </div>
  );
}
