// states are what a page shows when it has no rows to show: not yet, none, not allowed, not there, not now.
import { Link } from '@tanstack/react-router';
import { CircleSlash, Inbox, Lock, RefreshCw, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useRead } from '../app/data';
import { sentence, type Fault } from '../app/fault';
import { useCan } from '../app/session';
import { NameOf } from '../gen/documents';

export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => <span key={i} className={`bar w${i % 3}`} />)}
    </div>
  );
}

// Wait stands where something may come, or nothing: it takes no room, and what stands below it waits with it.
export const Wait = () => <span className="awaited" hidden />;

function State({ icon, title, children }: { icon: ReactNode; title: string; children?: ReactNode }) {
  return <div className="state"><span className="state-icon" aria-hidden>{icon}</span><p className="state-title">{title}</p>{children}</div>;
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return <State icon={<Inbox size={22} />} title={title}>{children}</State>;
}

// Decider is what a refusal rests on: a scope, a role, or an access policy by its name where the viewer may read it.
export function Decider({ reason }: { reason: string }) {
  const policy = reason.startsWith('pol_');
  const sees = useCan('accesspolicy.read') && policy;
  const node = useRead(NameOf, { id: reason }, !sees).data?.node;
  if (!policy) return <>{reason}</>;
  return sees ? <>the access policy <Link to="/app/policies" search={{ open: reason } as never}>{node && 'name' in node ? `“${node.name}”` : reason}</Link></> : <>an access policy</>;
}

interface RefusedProps { reason?: string | undefined; decisionId?: string | undefined; says?: string }

export function Refused({ reason, decisionId, says = 'Your role does not reach this page.' }: RefusedProps) {
  const explains = useCan('accesspolicy.read');
  return (
    <State icon={<Lock size={22} />} title="You may not see this">
      <p>{reason ? <>Decided by <Decider reason={reason} />.</> : says} An admin of your company can change that.</p>
      {decisionId && <p className="soft">Decision {explains ? <Link to="/app/policies" search={{ decision: decisionId } as never}>{decisionId}</Link> : <code>{decisionId}</code>}</p>}
      <p><Link to="/app" className="button plain">Go to the first page</Link></p>
    </State>
  );
}

export function NotFound({ what = 'page' }: { what?: string }) {
  return (
    <State icon={<SearchX size={22} />} title={what ? `This ${what} was not found` : 'This was not found'}>
      <p>It may have been deleted, or the address has a mistake.</p>
      <p><Link to="/app" className="button plain">Go to the first page</Link></p>
    </State>
  );
}

// Failed says why something cannot be shown, and what to do.
export function Failed({ fault, again, title }: { fault: Fault; again: () => void; title?: string }) {
  if (fault.code === 'forbidden') return <Refused reason={fault.reason} decisionId={fault.decisionId} />;
  if (fault.code === 'not_found') return <NotFound what="" />;
  const lost = fault.code === 'connection_lost';
  return (
    <State icon={<CircleSlash size={22} />} title={lost ? 'The connection was lost' : 'This could not be loaded'}>
      {title && <h1 className="hidden">{title}</h1>}
      <p>{lost ? 'The server does not answer. Your drafts are kept.' : fault.code === 'validation_error' ? sentence(fault) : fault.message}</p>
      {fault.requestId && <p className="soft">Request <code>{fault.requestId}</code></p>}
      <p><button type="button" onClick={again}><RefreshCw size={14} aria-hidden /> Retry</button></p>
    </State>
  );
}
