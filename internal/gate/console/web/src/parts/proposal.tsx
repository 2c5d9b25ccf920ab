// proposal shows what an agent proposes or waits to do: field by field, with why and how certain, and the ways to decide.
import { Link } from '@tanstack/react-router';
import { Check, X } from 'lucide-react';
import { useState } from 'react';
import { rows, useWrite } from '../app/data';
import type { Fault } from '../app/fault';
import { can, useViewer } from '../app/session';
import { placed, t } from '../app/text';
import { ApplyProposal, DecideAction, RejectProposal } from '../gen/documents';
import * as enums from '../gen/enums';
import type { ActionFullFragment } from '../gen/types';
import { Badge, percent, Time, words } from '../ui/bits';
import { Dialog } from '../ui/dialog';
import { Field, Rest, faultAt } from '../ui/field';
import { Wait } from '../ui/states';
import { toast } from '../ui/toast';
import { useOfferingChoices, usePersonChoices, useTeamChoices } from './choices';

export const labels: Record<string, string> = { offeringId: t('Offering'), teamId: t('Team'), assigneeId: t('Assignee'), priority: t('Priority'), tags: t('Tags'), body: t('Comment'), reason: t('Reason') };

export function Proposal({ action: a, title }: { action: ActionFullFragment; title?: boolean }) {
  const viewer = useViewer();
  const pending = a.status === 'PENDING' && !a.shadow;
  const proposal = a.kind === 'PROPOSAL';
  const stays = (field: string) => !a.changes.some((c) => c.field === field);
  const named: Record<string, { id: string; name: string }[]> = {
    teamId: useTeamChoices(stays('teamId')), assigneeId: usePersonChoices(stays('assigneeId')),
    offeringId: useOfferingChoices(stays('offeringId')).flatMap((s) => rows(s.offerings).map((o) => ({ id: o.id, name: `${s.name}: ${o.name}` }))),
  };
  const [edits, setEdits] = useState<Record<string, unknown>>({});
  const [fault, setFault] = useState<Fault | null>(null);
  const [asking, setAsking] = useState<'reject' | 'APPROVE' | 'REJECT' | ''>('');
  const [apply, applying] = useWrite(ApplyProposal, true);
  const name = (field: string, value: unknown) => {
    if (value === null || value === undefined || value === '') return t('nothing');
    const found = named[field]?.find((x) => x.id === value)?.name;
    return found ?? (field === 'priority' ? words(String(value)) : typeof value === 'object' ? JSON.stringify(value) : String(value));
  };
  const options = (field: string): [string, string][] => (named[field] ?? [])
    .map((x) => [x.id, x.name] as [string, string]).concat(field === 'priority' ? enums.RequestPriority.map((p) => [p, words(p)] as [string, string]) : []);
  const run = async () => {
    const o = await apply({ input: { id: a.id, ...(Object.keys(edits).length > 0 ? { edits: edits as never } : {}) } });
    setFault(o.fault);
    if (!o.fault) toast({ text: Object.keys(edits).length > 0 ? t('Applied as you edited it.') : t('Applied.') });
  };
  const kept = a.changes.filter((c) => edits[c.field] !== null);
  return (
    <article
      className={`card proposal${pending ? ' waits' : ''}`} // not said
      aria-label={proposal ? t('Proposal: {what}', { what: words(a.operation) }) : t('Action: {what}', { what: words(a.operation) })}
    >
      {a.changes.some((c) => named[c.field]?.length === 0) && <Wait />}
      <header className="line">
        <strong dir="auto">{title && a.request ? a.request.title : proposal ? t('The AI agent proposes') : a.status === 'APPLIED' ? t('The AI agent acted') : t('The AI agent is waiting for approval')}</strong>
        <Badge value={{ PENDING: 'WARNING', APPLIED: 'COMPLETED', REJECTED: 'REJECTED', STALE: 'off', EXPIRED: 'off' }[a.status]}>{a.status === 'PENDING' ? (proposal ? t('Proposed') : t('Waits for approval')) : words(a.status)}</Badge>
        {a.shadow && <Badge value="draft">{t('Shadow mode: only admins see it')}</Badge>}
        <span className="soft small-text"><Time at={a.createdAt} /></span>
      </header>
      {a.changes.length > 0 && (
        <ul className="proposed">
          {a.changes.map((c) => (
            <li key={c.field}>
              <div className="line">
                {pending && proposal && a.changes.length > 1 && (
                  <input type="checkbox" aria-label={t('Apply {field}', { field: labels[c.field] ?? c.field })} checked={edits[c.field] !== null} onChange={(e) => {
                    const { [c.field]: _was, ...others } = edits;
                    setEdits(e.target.checked ? others : { ...others, [c.field]: null });
                  }} />
                )}
                <strong>{labels[c.field] ?? words(c.field)}</strong>
                <del dir="auto">{name(c.field, c.from)}</del><span aria-hidden className="arrow" />
                {pending && proposal && options(c.field).length > 0 ? (
                  <select aria-label={t('{field} to apply', { field: labels[c.field] ?? c.field })} disabled={edits[c.field] === null} value={String(edits[c.field] ?? c.to ?? '')} onChange={(e) => {
                    const { [c.field]: _was, ...others } = edits;
                    setEdits(e.target.value === c.to ? others : { ...others, [c.field]: e.target.value });
                  }}>{options(c.field).some(([v]) => v === c.to) ? null : <option value={String(c.to)}>{name(c.field, c.to)}</option>}{options(c.field).map(([v, label]) => <option key={v} value={v}>{label}</option>)}</select>
                ) : <ins dir="auto">{name(c.field, c.to)}</ins>}
                <span className="soft small-text">{t('{share} certain', { share: percent(c.confidence) })}</span>
              </div>
              {c.rationale && <p className="soft small-text why" dir="auto"><Linked text={c.rationale} /></p>}
            </li>
          ))}
        </ul>
      )}
      {a.changes.length === 0 && <p className="prose">{words(a.operation)}{a.arguments ? <code className="block">{JSON.stringify(a.arguments)}</code> : null}</p>}
      {a.changes.length === 0 && a.rationale && <p className="soft small-text" dir="auto"><Linked text={a.rationale} /> ({t('{share} certain', { share: percent(a.confidence) })})</p>}
      {a.comment && <p className="small-text" dir="auto">{t('“{text}”', { text: a.comment })}</p>}
      <Rest fault={fault} fields={[]} />
      {faultAt(fault, 'edits') && <p className="fault">{faultAt(fault, 'edits')}</p>}
      {pending && (
        <footer className="line">
          {proposal && can(viewer, 'agentaction.apply') && <button type="button" className="small" disabled={applying || kept.length === 0} onClick={() => { void run(); }}><Check size={14} aria-hidden /> {Object.keys(edits).length > 0 ? t('Apply edited') : t('Apply')}</button>}
          {proposal && can(viewer, 'agentaction.reject') && <button type="button" className="plain small" onClick={() => { setAsking('reject'); }}><X size={14} aria-hidden /> {t('Reject')}</button>}
          {!proposal && can(viewer, 'agentaction.decide') && <button type="button" className="small" onClick={() => { setAsking('APPROVE'); }}><Check size={14} aria-hidden /> {t('Approve')}</button>}
          {!proposal && can(viewer, 'agentaction.decide') && <button type="button" className="plain small" onClick={() => { setAsking('REJECT'); }}><X size={14} aria-hidden /> {t('Reject')}</button>}
        </footer>
      )}
      {asking && <Decide action={a} how={asking} close={() => { setAsking(''); }} />}
    </article>
  );
}

// Linked is a text in which the ids of requests are links: what a proposal rests on is there to be looked at.
function Linked({ text }: { text: string }) {
  let n = 0;
  return <>{text.split(/(req_[0-9a-z]{20,})/).map((part, i) => (/^req_[0-9a-z]{20,}$/.test(part) ? <Link key={i} to="/app/requests/$id" params={{ id: part }} title={part}>{t('request {n}', { n: ++n })}</Link> : part))}</>;
}

function Decide({ action: a, how, close }: { action: ActionFullFragment; how: 'reject' | 'APPROVE' | 'REJECT'; close: () => void }) {
  const [text, set] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [reject, rejecting] = useWrite(RejectProposal, true);
  const [decide, deciding] = useWrite(DecideAction, true);
  const send = async () => {
    const o = how === 'reject' ? await reject({ input: { id: a.id, reason: text } }) : await decide({ input: { id: a.id, digest: a.digest, decision: how, ...(text ? { comment: text } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    close();
    toast({ text: how === 'APPROVE' ? t('Approved: the AI agent has done it.') : t('Rejected.') });
  };
  return (
    <Dialog title={how === 'APPROVE' ? t('Approve: {what}?', { what: words(a.operation) }) : t('Reject: {what}?', { what: words(a.operation) })} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        {how === 'APPROVE' && <p>{t('The AI agent does exactly this, to the request as it is now. If the request has changed, nothing is done.')} <span className="soft">{placed(t('Digest {digest}'), { digest: <code>{a.digest.slice(0, 16)}</code> })}</span></p>}
        <Field label={how === 'reject' ? t('Reason') : t('Comment')} optional={how !== 'reject'} hint={how === 'reject' ? t('It is kept with the proposal.') : undefined} fault={faultAt(fault, 'reason', 'comment')}>
          <textarea dir="auto" value={text} onChange={(e) => { set(e.target.value); }} />
        </Field>
        <Rest fault={fault} fields={['reason', 'comment']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={rejecting || deciding || (how === 'reject' && !text.trim())}>{how === 'APPROVE' ? t('Approve') : t('Reject')}</button></footer>
      </form>
    </Dialog>
  );
}
