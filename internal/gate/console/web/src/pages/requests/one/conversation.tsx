import type { ReactNode } from 'react';
import { rows, usePages, useRead } from '../../../app/data';
import { useChangesOf, useSoon } from '../../../app/live';
import { can, useViewer } from '../../../app/session';
import { t } from '../../../app/text';
import { RequestComments, RequestHistory } from '../../../gen/documents';
import { usePersonChoices } from '../../../parts/choices';
import { Named } from '../../../parts/markdown';
import { nameOf } from '../../../parts/who';
import { Time } from '../../../ui/bits';
import type { FullRequest } from '../detail';
import { Happened, History, milestone } from './history';
import { Merged } from './merged';
import { Say } from './say';
import { Spoken } from './spoken';

// Conversation is what was said about a request, between the turns of its life. What was changed besides is the history, below.
export function Conversation({ request: r }: { request: FullRequest }) {
  const viewer = useViewer();
  const staff = can(viewer, 'request.update');
  const history = useRead(RequestHistory, { id: r.id }, !staff);
  const older = usePages(RequestComments, { id: r.id }, !r.comments?.pageInfo.hasNextPage);
  const soon = useSoon(history.again);
  useChangesOf(r.id, soon, !staff);
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
      <Named value={named}>
        <Merged request={r} />
        <ol className="timeline">{all.map((x) => <li key={x.key} className={x.turn ? undefined : 'spoken'}>{x.turn && <span className="tick" aria-hidden />}{x.node}</li>)}</ol>
      </Named>
      {can(viewer, 'comment.create') && <Say request={r} />}
      {staff && <History entries={entries} />}
    </>
  );
}

// fromRow are the turns that the row itself tells of: for who sees no history, and until it is there.
function fromRow(r: FullRequest, viewer: { id: string; name: string }): { at: string; key: string; node: ReactNode }[] {
  const steps: [string | null | undefined, string][] = [[r.createdAt, t('{who} submitted the request', { who: nameOf(viewer, r.createdBy, r.creator) ?? t('Somebody') })], [r.acceptedAt, t('The request was accepted')], [r.completedAt, t('The request was completed')], [r.cancelledAt, r.declineReason ? t('The request was declined: {reason}', { reason: r.declineReason }) : t('The request was cancelled')]];
  return steps.flatMap(([at, text]) => (at ? [{ at, key: text, node: <p className="what"><strong dir="auto">{text}</strong> · <Time at={at} /></p> }] : []));
}
