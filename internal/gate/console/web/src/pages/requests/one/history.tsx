// history tells staff what was done to a request, and by whom: the turns of its life beside what was said, and all of it below.
import { useState } from 'react';
import { placed, plural, t } from '../../../app/text';
import type { RequestHistoryQuery } from '../../../gen/types';
import { usePersonChoices, useTeamChoices } from '../../../parts/choices';
import { Time } from '../../../ui/bits';
import { Changes } from '../../../ui/changes';
import { cause, told } from './told';

export type Entry = RequestHistoryQuery['requestHistory'][number];

const turns: Record<string, string> = {
  'request.created': t('{who} submitted the request'), 'request.accepted': t('{who} accepted the request'), 'request.completed': t('{who} completed the request'),
  'request.cancelled': t('{who} cancelled the request'), 'request.reopened': t('{who} reopened the request'), 'request.moved': t('{who} moved the request to another offering'),
  'sla.breached': t('{who}: a service level was missed'), 'request.merged': t('{who} closed the request as a duplicate'),
};

const others: Record<string, string> = {
  'request.updated': t('{who} changed the request'), 'sla.warning': t('{who}: a service level is due soon'), 'request.watched': t('{who} added a watcher'), 'request.unwatched': t('{who} stopped watching'),
  'request.escalated': t('{who} escalated the request'), 'request.notified': t('{who} notified people'),
  'request.linked': t('{who} linked the request'), 'request.unlinked': t('{who} removed a link'), 'request.rated': t('{who} rated the request'),
};

// reasoned are the verbs of what somebody did and said why.
const reasoned: Record<string, string> = { 'request.cancelled': t('{who} declined the request: {reason}'), 'request.reopened': t('{who} reopened the request: {reason}') };

// milestone reports whether an entry is a turn in the life of a request.
export const milestone = (e: Entry) => e.action in turns;

// changesOf are the changes that are shown: those of an update, for other actions say theirs.
const changesOf = (e: Entry) => (e.action === 'request.updated' ? e.changes ?? {} : {}) as Record<string, { from: unknown; to: unknown }>;

export function Happened({ entry: e, named = new Map() }: { entry: Entry; named?: Map<unknown, string> }) {
  const how = cause((e.changes ?? {}) as Parameters<typeof cause>[0]);
  const reason = e.action in reasoned ? (e.changes as { reason?: { to?: unknown } } | null)?.reason?.to : null;
  const says = (typeof reason === 'string' ? reasoned[e.action] : turns[e.action] ?? others[e.action]) ?? `{who}: ${e.action}`;
  return (
    <div className="what">
      <p dir="auto">{placed(says, { who: <strong>{e.actor.name}</strong>, reason: String(reason) })}{how && `, ${how}`} · <Time at={e.at} /></p>
      <Changes list={told(changesOf(e), named)} />
    </div>
  );
}

// History is everything, folded: the newest first, for one looks for what changed last.
export function History({ entries }: { entries: Entry[] }) {
  const [open, setOpen] = useState(false);
  const changed = (field: string) => open && entries.some((e) => field in changesOf(e));
  const named = new Map([...usePersonChoices(!changed('assigneeId')), ...useTeamChoices(!changed('teamId'))].map((x) => [x.id as unknown, x.name]));
  return (
    <details className="history" onToggle={(e) => { setOpen(e.currentTarget.open); }}>
      <summary>{entries.length > 0 ? plural(entries.length, 'History: {n} entry', 'History: {n} entries') : t('History')}</summary>
      {open && <ol className="timeline">{[...entries].sort((a, b) => b.at.localeCompare(a.at)).map((e) => <li key={e.id}><span className="tick" aria-hidden /><Happened entry={e} named={named} /></li>)}</ol>}
    </details>
  );
}
