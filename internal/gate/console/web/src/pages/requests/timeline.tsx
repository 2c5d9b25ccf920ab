import { useState } from 'react';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import { useChanges, useSoon } from '../../app/live';
import { can, useCan, useViewer } from '../../app/session';
import type { Fault } from '../../app/fault';
import { placed, t } from '../../app/text';
import { AddComment, RequestComments, RequestHistory } from '../../gen/documents';
import type { RequestHistoryQuery } from '../../gen/types';
import { usePersonChoices, useTeamChoices } from '../../parts/choices';
import { Prose } from '../../parts/markdown';
import { nameOf } from '../../parts/who';
import { Writer } from '../../parts/writer';
import { Time } from '../../ui/bits';
import { Changes } from '../../ui/changes';
import { useDraft } from '../../ui/draft';
import { Check, Rest, faultAt } from '../../ui/field';
import { toast } from '../../ui/toast';
import type { FullRequest } from './detail';
import { pieces } from './links';
import { reopenable } from './search';
import { cause, told } from './told';

type Entry = RequestHistoryQuery['requestHistory'][number];

const verbs: Record<string, string> = {
  'request.created': t('{who} submitted the request'), 'request.accepted': t('{who} accepted the request'), 'request.completed': t('{who} completed the request'),
  'request.cancelled': t('{who} cancelled the request'), 'request.reopened': t('{who} reopened the request'), 'request.moved': t('{who} moved the request to another offering'),
  'request.updated': t('{who} changed the request'), 'sla.warning': t('{who}: a target is due soon'), 'sla.breached': t('{who}: a target was missed'),
};

// reasoned are the verbs of what somebody did and said why.
const reasoned: Record<string, string> = { 'request.cancelled': t('{who} declined the request: {reason}'), 'request.reopened': t('{who} reopened the request: {reason}') };

// Timeline tells what happened to a request, and what was said about it. Staff see who did what; others what the row says.
export function Timeline({ request: r }: { request: FullRequest }) {
  const viewer = useViewer();
  const staff = can(viewer, 'request.update');
  const history = useRead(RequestHistory, { id: r.id }, !staff);
  const older = usePages(RequestComments, { id: r.id }, !r.comments?.pageInfo.hasNextPage);
  const soon = useSoon(history.again);
  const entries = history.data?.requestHistory ?? [];
  const changed = (field: string) => entries.some((e) => field in changesOf(e));
  const named = new Map([...usePersonChoices(!changed('assigneeId')), ...useTeamChoices(!changed('teamId'))].map((x) => [x.id, x.name]));
  useChanges((c) => { if (staff && c.request.id === r.id) soon(); });
  const events = staff ? entries.map((e) => ({ at: e.at, key: e.id, node: <Happened entry={e} named={named} /> })) : fromRow(r, viewer);
  const said = older.data?.request?.comments ?? r.comments;
  const comments = rows(said).map((c) => ({
    at: c.createdAt, key: c.id,
    node: (
      <article
        className={`card comment${c.visibility === 'internal' ? ' internal' : ''}`} // not said
      >
        <header><strong dir="auto">{nameOf(viewer, c.authorId, c.author)}</strong><Time at={c.createdAt} />{c.visibility === 'internal' && <span>{t('Internal: only staff see it')}</span>}</header>
        <Prose content={c.content}>{c.authorId.startsWith('agt_') ? c.body : <Linked text={c.body} />}</Prose>
      </article>
    ),
  }));
  const all = [...events, ...comments].sort((a, b) => a.at.localeCompare(b.at));
  return (
    <>
      {said?.pageInfo.hasNextPage && <p><button type="button" className="quiet small" onClick={() => { older.next(said.pageInfo.endCursor ?? null); }}>{t('Show earlier comments')}</button></p>}
      <ol className="timeline">{all.map((x) => <li key={x.key}><span className="tick" aria-hidden />{x.node}</li>)}</ol>
      {can(viewer, 'comment.create') && <Say request={r} />}
    </>
  );
}

// Linked is what a person wrote, with the addresses of web pages as links. What agents write stays text: others may have put it there.
function Linked({ text }: { text: string }) {
  return <>{pieces(text).map((p, i) => (p.href ? <a key={i} href={p.href} target="_blank" rel="noopener noreferrer nofollow">{p.text}</a> : p.text))}</>;
}

function fromRow(r: FullRequest, viewer: { id: string; name: string }) {
  const steps: [string | null | undefined, string][] = [[r.createdAt, t('{who} submitted the request', { who: nameOf(viewer, r.createdBy, r.creator) ?? t('Somebody') })], [r.acceptedAt, t('The request was accepted')], [r.completedAt, t('The request was completed')], [r.cancelledAt, r.declineReason ? t('The request was declined: {reason}', { reason: r.declineReason }) : t('The request was cancelled')]];
  return steps.flatMap(([at, text]) => (at ? [{ at, key: text, node: <p className="what"><strong dir="auto">{text}</strong> · <Time at={at} /></p> }] : []));
}

// changesOf are the changes that are shown: those of an update, for other actions say theirs.
const changesOf = (e: Entry) => (e.action === 'request.updated' ? e.changes ?? {} : {}) as Record<string, { from: unknown; to: unknown }>;

function Happened({ entry: e, named }: { entry: Entry; named: Map<unknown, string> }) {
  const how = cause((e.changes ?? {}) as Parameters<typeof cause>[0]);
  const reason = e.action in reasoned ? (e.changes as { reason?: { to?: unknown } } | null)?.reason?.to : null;
  const says = (typeof reason === 'string' ? reasoned[e.action] : verbs[e.action]) ?? `{who}: ${e.action}`;
  return (
    <div className="what">
      <p dir="auto">{placed(says, { who: <strong>{e.actor.name}</strong>, reason: String(reason) })}{how && `, ${how}`} · <Time at={e.at} /></p>
      <Changes list={told(changesOf(e), named)} />
    </div>
  );
}

function Say({ request: r }: { request: FullRequest }) {
  const id = r.id;
  const viewer = useViewer();
  const internal = useCan('comment.internal');
  const [draft, set, forget, base] = useDraft(`comment ${id}`, { body: '', internal: false });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(AddComment, true);
  const send = async () => {
    const o = await run({ input: { requestId: id, body: draft.body, format: 'markdown', visibility: draft.internal ? 'internal' : 'public' } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    set({ body: '', internal: draft.internal });
    toast({ text: t('Your comment was added.') });
  };
  return (
    <form className="card stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
      <Writer
        label={t('Comment')} hint={[r.requesterId === viewer.id && reopenable(r) && t('A public comment reopens your request.'), t('An @ before an e-mail address notifies that person.')].filter(Boolean).join(' ')}
        fault={faultAt(fault, 'body')} value={draft.body} set={(body) => { set({ ...draft, body }); }} required send={() => { if (draft.body.trim() && !busy) void send(); }}
      />
      <Rest base={draft.body ? base : undefined} fault={fault} fields={['body']} />
      <div className="line">
        {internal && <Check label={t('Internal')} hint={t('Only staff see it.')} checked={draft.internal} set={(to) => { set({ ...draft, internal: to }); }} />}
        <span className="grow" />
        <button type="submit" disabled={busy || !draft.body.trim()}>{t('Add comment')}</button>
      </div>
    </form>
  );
}
