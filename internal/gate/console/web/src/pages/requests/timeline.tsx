import { useState } from 'react';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import { useChanges, useSoon } from '../../app/live';
import { can, useCan, useViewer } from '../../app/session';
import type { Fault } from '../../app/fault';
import { AddComment, RequestComments, RequestHistory } from '../../gen/documents';
import type { RequestHistoryQuery } from '../../gen/types';
import { usePersonChoices, useTeamChoices } from '../../parts/choices';
import { nameOf } from '../../parts/who';
import { Time } from '../../ui/bits';
import { Changes } from '../../ui/changes';
import { useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { toast } from '../../ui/toast';
import type { FullRequest } from './detail';
import { pieces } from './links';
import { reopenable } from './search';
import { cause, told } from './told';

type Entry = RequestHistoryQuery['requestHistory'][number];

const verbs: Record<string, string> = {
  'request.created': 'filed it', 'request.accepted': 'accepted it', 'request.completed': 'completed it', 'request.cancelled': 'cancelled it',
  'request.reopened': 'opened it again',
  'request.moved': 'moved it to another offering', 'request.updated': 'changed it', 'sla.warning': 'say that a target is near', 'sla.breached': 'say that a target was missed',
};

// reasoned are the verbs of what somebody did and said why.
const reasoned: Record<string, string> = { 'request.cancelled': 'declined it', 'request.reopened': 'opened it again' };

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
      <article className={`card comment${c.visibility === 'internal' ? ' internal' : ''}`}>
        <header><strong>{nameOf(viewer, c.authorId, c.author)}</strong><Time at={c.createdAt} />{c.visibility === 'internal' && <span>Internal: staff alone read it</span>}</header>
        <p className="prose">{c.authorId.startsWith('agt_') ? c.body : <Linked text={c.body} />}</p>
      </article>
    ),
  }));
  const all = [...events, ...comments].sort((a, b) => a.at.localeCompare(b.at));
  return (
    <>
      {said?.pageInfo.hasNextPage && <p><button type="button" className="quiet small" onClick={() => { older.next(said.pageInfo.endCursor ?? null); }}>Show what was before</button></p>}
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
  const steps: [string | null | undefined, string][] = [[r.createdAt, `${nameOf(viewer, r.createdBy, r.creator)} filed it`], [r.acceptedAt, 'It was accepted'], [r.completedAt, 'It was completed'], [r.cancelledAt, r.declineReason ? `It was declined: ${r.declineReason}` : 'It was cancelled']];
  return steps.flatMap(([at, text]) => (at ? [{ at, key: text, node: <p className="what"><strong>{text}</strong> · <Time at={at} /></p> }] : []));
}

// changesOf are the changes that are shown: those of an update, for other actions say theirs.
const changesOf = (e: Entry) => (e.action === 'request.updated' ? e.changes ?? {} : {}) as Record<string, { from: unknown; to: unknown }>;

function Happened({ entry: e, named }: { entry: Entry; named: Map<unknown, string> }) {
  const how = cause((e.changes ?? {}) as Parameters<typeof cause>[0]);
  const reason = e.action in reasoned ? (e.changes as { reason?: { to?: unknown } } | null)?.reason?.to : null;
  return (
    <div className="what">
      <p><strong>{e.actor.name}</strong> {typeof reason === 'string' ? `${reasoned[e.action]}: ${reason}` : verbs[e.action] ?? e.action}{how && `, ${how}`} · <Time at={e.at} /></p>
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
    const o = await run({ input: { requestId: id, body: draft.body, visibility: draft.internal ? 'internal' : 'public' } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    set({ body: '', internal: draft.internal });
    toast({ text: 'Your comment was added.' });
  };
  return (
    <form className="card stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
      <Field label="Comment" hint={`${r.createdBy === viewer.id && reopenable(r) ? 'A public comment opens your request again. ' : ''}An @ before an e-mail address notifies that person.`} fault={faultAt(fault, 'body')}>
        <textarea
          value={draft.body} required maxLength={10_000}
          onChange={(e) => { set({ ...draft, body: e.target.value }); }}
          onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); if (draft.body.trim() && !busy && !e.repeat) void send(); } }}
        />
      </Field>
      <Rest base={draft.body ? base : undefined} fault={fault} fields={['body']} />
      <div className="line">
        {internal && <Check label="Internal" hint="Staff alone read it." checked={draft.internal} set={(to) => { set({ ...draft, internal: to }); }} />}
        <span className="grow" />
        <button type="submit" disabled={busy || !draft.body.trim()}>Add comment</button>
      </div>
    </form>
  );
}
