// notices are what a person was told: mentions, assignments, what waits for a decision.
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { Notices as NoticesDocument, ReadNotices } from '../gen/documents';
import { Time } from '../ui/bits';
import { Empty } from '../ui/states';
import { Loaded } from '../ui/page';
import { rows, useRead, useWrite } from './data';

export function Notices({ open, set, icon }: { open: boolean; set: (open: boolean) => void; icon: ReactNode }) {
  const read = useRead(NoticesDocument, { first: 20 });
  const [mark] = useWrite(ReadNotices);
  const box = useRef<HTMLDivElement>(null);
  const list = rows(read.data?.notifications);
  const unread = list.filter((n) => !n.readAt);
  const waiting = read.data?.unread?.totalCount ?? unread.length;
  useEffect(() => {
    if (!open) return undefined;
    const away = (e: Event) => {
      if (e instanceof KeyboardEvent ? e.key === 'Escape' : !box.current?.contains(e.target as Node)) {
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
      <button type="button" className="icon bell" aria-expanded={open} aria-label={waiting > 0 ? `Notifications, ${waiting} unread` : 'Notifications'} onClick={() => { set(!open); }}>
        {icon}{waiting > 0 && <span className="dot" aria-hidden>{waiting}</span>}
      </button>
      {open && (
        <section className="popover" aria-label="Notifications">
          <header>
            <h2>Notifications</h2>
            {unread.length > 0 && <button type="button" className="quiet small" onClick={() => { void mark({ input: { ids: unread.map((n) => n.id) } }); }}>Mark all as read</button>}
          </header>
          <Loaded read={read} skeleton={3}>
            {() => (list.length === 0 ? <Empty title="Nothing yet"><p>Mentions, assignments and decisions that wait for you show up here.</p></Empty> : (
              <ul>
                {list.map((n) => (
                  <li key={n.id} className={n.readAt ? '' : 'unread'}>
                    {n.request ? <Link to="/app/requests/$id" params={{ id: n.request.id }} onClick={() => { if (!n.readAt) void mark({ input: { ids: [n.id] } }); }}>{n.subject}</Link> : <span>{n.subject}</span>}
                    <span className="soft small-text"><Time at={n.at} /></span>
                  </li>
                ))}
              </ul>
            ))}
          </Loaded>
          <p className="popover-foot"><Link to="/app/notifications">All notifications</Link></p>
        </section>
      )}
    </div>
  );
}
