// states are what a page shows when it has no rows to show: not yet, none, not allowed, not there, not now.
import { Link } from '@tanstack/react-router';
import { CircleSlash, Inbox, Lock, RefreshCw, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useRead } from '../app/data';
import { sentence, type Fault } from '../app/fault';
import { useCan } from '../app/session';
import { placed, t } from '../app/text';
import { NameOf } from '../gen/documents';

// Skeleton stands where rows will be; its lines are as high as those of a dense list.
export function Skeleton({ rows = 6, lines }: { rows?: number; lines?: boolean | undefined }) {
  return (
    <div className={`skeleton${lines ? ' lines' : ''}`} role="status" aria-label={t('Loading')}>
      {Array.from({ length: rows }, (_, i) => <span key={i} className={`w${i % 3} bar`} />)}
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
  if (!sees) return <>{t('an access policy')}</>;
  return <>{placed(t('the access policy {name}'), { name: <Link to="/app/policies" search={{ open: reason } as never}>{node && 'name' in node ? t('“{name}”', { name: node.name }) : reason}</Link> })}</>;
}

interface RefusedProps { reason?: string | undefined; decisionId?: string | undefined; says?: string }

export function Refused({ reason, decisionId, says = t('Your role has no access to this page.') }: RefusedProps) {
  const explains = useCan('accesspolicy.read');
  return (
    <State icon={<Lock size={22} />} title={t('You may not see this')}>
      <p>{reason ? placed(t('Decided by {who}.'), { who: <Decider reason={reason} /> }) : says} {t('An admin of your company can change that.')}</p>
      {decisionId && <p className="soft">{placed(t('Decision {id}'), { id: explains ? <Link to="/app/policies" search={{ decision: decisionId } as never}>{decisionId}</Link> : <code>{decisionId}</code> })}</p>}
      <p><Link to="/app" className="button plain">{t('Go to the home page')}</Link></p>
    </State>
  );
}

export function NotFound({ says = t('This page was not found') }: { says?: string }) {
  return (
    <State icon={<SearchX size={22} />} title={says}>
      <p>{t('It may have been deleted, or the address has a mistake.')}</p>
      <p><Link to="/app" className="button plain">{t('Go to the home page')}</Link></p>
    </State>
  );
}

// Failed says why something cannot be shown, and what to do.
export function Failed({ fault, again, title }: { fault: Fault; again: () => void; title?: string }) {
  if (fault.code === 'forbidden') return <Refused reason={fault.reason} decisionId={fault.decisionId} />;
  if (fault.code === 'not_found') return <NotFound says={t('This was not found')} />;
  const lost = fault.code === 'connection_lost';
  return (
    <State icon={<CircleSlash size={22} />} title={lost ? t('The connection was lost') : t('This could not be loaded')}>
      {title && <h1 className="hidden">{title}</h1>}
      <p>{lost ? t('The server does not answer. Your drafts are kept.') : fault.code === 'validation_error' ? sentence(fault) : fault.message}</p>
      {fault.requestId && <p className="soft">{placed(t('Request ID: {id}'), { id: <code>{fault.requestId}</code> })}</p>}
      <p><button type="button" onClick={again}><RefreshCw size={14} aria-hidden /> {t('Retry')}</button></p>
    </State>
  );
}
