import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { rows, usePages, useRead } from '../../../app/data';
import { useChanges, useSoon } from '../../../app/live';
import { can, useViewer } from '../../../app/session';
import { t } from '../../../app/text';
import { RequestComments, RequestHistory } from '../../../gen/documents';
import { usePersonChoices } from '../../../parts/choices';
import { Mentions, Named, Prose } from '../../../parts/markdown';
import { nameOf } from '../../../parts/who';
import { Time } from '../../../ui/bits';
import type { FullRequest } from '../detail';
import { pieces } from '../links';
import { Happened, History, milestone } from './history';
import { Say } from './say';

type Comment = NonNullable<FullRequest['comments']>['edges'][number]['node'];

// Conversation is what was said about a request, between the turns of its life. What was changed besides is the history, below.
export function Conversation({ request: r }: { request: FullRequest }) {
  const viewer = useViewer();
  const staff = can(viewer, 'request.update');
  const history = useRead(RequestHistory, { id: r.id }, !staff);
  const older = usePages(RequestComments, { id: r.id }, !r.comments?.pageInfo.hasNextPage);
  const soon = useSoon(history.again);
  useChanges((c) => { if (staff && c.request.id === r.id) soon(); });
  const entries = history.data?.requestHistory ?? [];
  const turns = entries.length > 0 ? entries.filter(milestone).map((e) => ({ at: e.at, key: e.id, node: <Happened entry={e} /> })) : fromRow(r, viewer);
  const mentioned = rows(r.comments).some((c) => c.body.includes('@'));
  const known = [viewer, ...usePersonChoices(!mentioned)];
  const named = new Map([...known.map((u) => [(u.email ?? '').toLowerCase(), u.name] as const), ...[...known, ...r.watchers ?? [], r.requester, r.creator, r.assignee, ...rows(r.comments).map((c) => c.author)].flatMap((u) => (u ? [[u.id, u.name] as const] : []))]);
  const said = older.data?.request?.comments ?? r.comments;
  const comments = rows(said).map((c) => ({ at: c.createdAt, key: c.id, node: <Spoken comment={c} mine={c.authorId === r.requesterId} /> }));
  const all = [...turns.map((x) => ({ ...x, turn: true })), ...comments.map((x) => ({ ...x, turn: false }))].sort((a, b) => a.at.localeCompare(b.at));
  return (
    <>
      {said?.pageInfo.hasNextPage && <p><button type="button" className="quiet small" onClick={() => { older.next(said.pageInfo.endCursor ?? null); }}>{t('Show earlier comments')}</button></p>}
      <Named value={named}><ol className="timeline">{all.map((x) => <li key={x.key} className={x.turn ? undefined : 'spoken'}>{x.turn && <span className="tick" aria-hidden />}{x.node}</li>)}</ol></Named>
      {can(viewer, 'comment.create') && <Say request={r} />}
      {staff && <History entries={entries} />}
    </>
  );
}

function Spoken({ comment: c, mine }: { comment: Comment; mine: boolean }) {
  const name = nameOf(useViewer(), c.authorId, c.author) ?? t('Somebody');
  const internal = c.visibility === 'internal';
  const letters = name.split(/[\s._@-]+/).filter(Boolean).slice(0, 2).map((p) => p[0]?.toUpperCase()).join('');
  return (
    <>
      <span className="avatar" aria-hidden>{letters}</span>
      <article
        className={`card comment${internal ? ' internal' : mine ? ' asker' : ''}`} // not said
      >
        <header><strong dir="auto">{name}</strong>{mine && <span>{t('person|Requester')}</span>}<Time at={c.createdAt} />{internal && <span className="line"><Lock size={12} aria-hidden /> {t('Internal: only staff see it')}</span>}</header>
        <Prose content={c.content}>{c.authorId.startsWith('agt_') ? c.body : <Linked text={c.body} />}</Prose>
      </article>
    </>
  );
}

// Linked is what a person wrote, with the addresses of web pages as links. What agents write stays text: others may have put it there.
function Linked({ text }: { text: string }) {
  return <>{pieces(text).map((p, i) => (p.href ? <a key={i} href={p.href} target="_blank" rel="noopener noreferrer nofollow">{p.text}</a> : <Mentions key={i} text={p.text} />))}</>;
}

// fromRow are the turns that the row itself tells of: for who sees no history, and until it is there.
function fromRow(r: FullRequest, viewer: { id: string; name: string }): { at: string; key: string; node: ReactNode }[] {
  const steps: [string | null | undefined, string][] = [[r.createdAt, t('{who} submitted the request', { who: nameOf(viewer, r.createdBy, r.creator) ?? t('Somebody') })], [r.acceptedAt, t('The request was accepted')], [r.completedAt, t('The request was completed')], [r.cancelledAt, r.declineReason ? t('The request was declined: {reason}', { reason: r.declineReason }) : t('The request was cancelled')]];
  return steps.flatMap(([at, text]) => (at ? [{ at, key: text, node: <p className="what"><strong dir="auto">{text}</strong> · <Time at={at} /></p> }] : []));
}
