import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { useArrivals, useOpening } from '../../app/live';
import { rows, useOnward, usePages, useRead } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { Requests, WaitingProposals } from '../../gen/documents';
import type { RequestRowFragment } from '../../gen/types';
import { useChosen, useKeys } from '../../keys/registry';
import { usePersonChoices, useTeamChoices } from '../../parts/choices';
import { labels } from '../../parts/proposal';
import { percent, words } from '../../ui/bits';
import { marked, step } from '../../ui/rows';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty, Skeleton } from '../../ui/states';
import { Tabs } from '../../ui/tabs';
import { sum, useCounts } from './counts';
import { Row } from './row';
import { asleep, inboxVariables, near, type MayRow } from './search';
import { Decline, useAccept, useChange } from './verbs';

// Inbox is where staff take requests in: what nobody has accepted or put off, all of it or that of a team.
export default function Inbox() {
  const { teamId = '' } = useSearch({ strict: false }) as { teamId?: string };
  const read = usePages(Requests, inboxVariables(teamId));
  const viewer = useViewer();
  const ofTeam = (r: RequestRowFragment) => !teamId || (teamId === 'none' ? !r.teamId : r.teamId === teamId);
  useOpening(read.again);
  const [shown, setShown] = useState<RequestRowFragment[]>([]);
  const [declining, setDeclining] = useAsked<RequestRowFragment | null>('decline', null);
  const accept = useAccept();
  const change = useChange();
  const advised = can(viewer, 'agentaction.read');
  const waiting = useRead(WaitingProposals, {}, !advised);
  const noted = !advised || waiting.data !== undefined || waiting.fault !== null; // a row comes with its note: it would push those below it down
  const proposed = new Map(rows(waiting.data?.agentActions).filter((a) => a.kind === 'PROPOSAL' && a.status === 'PENDING' && !a.shadow).reverse().map((a) => [a.requestId, a]));
  const sets = (field: string) => [...proposed.values()].some((a) => a.changes.some((c) => c.field === field));
  const named = new Map<unknown, string>([...useTeamChoices(!sets('teamId')), ...usePersonChoices(!sets('assigneeId'))].map((x) => [x.id, x.name]));
  const proposal = (r: RequestRowFragment) => {
    const a = proposed.get(r.id);
    const what = a?.changes.map((c) => {
      const to = named.get(c.to) ?? (c.field === 'priority' ? words(String(c.to)) : '');
      return `${labels[c.field] ?? c.field}${to && ` ${to}`}`;
    });
    return a && what && t('An AI agent proposes: {what} ({share} certain)', { what: what.join(', '), share: percent(a.confidence) });
  };

  const known: MayRow[] = rows(read.data?.requests);
  const waits = (r: RequestRowFragment) => r.status === 'PENDING' && ofTeam(r) && !asleep(r);
  const [arrived, seen] = useArrivals((r, filed) => waits(r) && (filed || near(r, known, read.data?.requests?.pageInfo.hasNextPage ?? false, undefined)));
  const all: MayRow[] = [...shown.filter((r) => !known.some((k) => k.id === r.id)), ...known]
    .filter(waits);
  const news = arrived.filter((a) => !all.some((r) => r.id === a.id));
  // Of those that were read, all may be accepted or put off while more wait behind them.
  const page = read.data?.requests?.pageInfo;
  useOnward(all.length === 0 && page?.hasNextPage && !read.behind ? page.endCursor : null, read.next);
  // The server counted what was accepted or moved away since, and not what came; what is put off it counts, as the tabs do.
  const left = known.filter((r) => r.status !== 'PENDING' || !ofTeam(r)).length;
  const came = all.filter((r) => !known.some((k) => k.id === r.id)).length;
  const off = known.filter((r) => r.status === 'PENDING' && ofTeam(r) && asleep(r)).length;
  const total = read.data?.requests ? read.data.requests.totalCount - left + came : undefined;
  const more = <More shown={all.length} total={total} page={page} next={read.next}>{off > 0 && <span>{plural(off, '{n} snoozed', '{n} snoozed')}</span>}</More>;
  const mayAccept = (r: MayRow) => can(viewer, 'request.accept', r);
  const mayDecline = (r: MayRow) => can(viewer, 'request.cancel', r);
  const take = (r: MayRow) => { if (mayAccept(r)) { step(r.id); void accept(r); } };
  const decline = (r: MayRow | undefined) => {
    if (r && mayDecline(r)) setDeclining(r);
  };
  const current = () => all.find((r) => r.id === marked());
  const chosen = useChosen();
  const key = { accept: chosen[t('Accept the request')] ?? 'a', decline: chosen[t('Decline the request')] ?? 'd' };
  useKeys([
    { keys: 'a', does: t('Accept the request'), group: t('Inbox'), run: () => { const r = current(); if (r) take(r); } },
    { keys: 'd', does: t('Decline the request'), group: t('Inbox'), run: () => { decline(current()); } },
    { keys: 'm', does: t('Assign the request to me'), group: t('Inbox'), run: () => { const r: MayRow | undefined = current(); if (r && can(viewer, 'request.update', r)) void change(r, { assigneeId: viewer.id }, t('“{title}” is assigned to you.', { title: r.title })); } },
  ]);
  return (
    <Page title={t('Inbox')} verb="request.accept" intro={t('What nobody has accepted yet, the newest first.')} tabs={<Teams teamId={teamId} />}>
      <div aria-live="polite">
        {news.length > 0 && <button type="button" className="plain small pill" onClick={() => { setShown((was) => [...news, ...was]); seen(); }}>{plural(news.length, '{n} new', '{n} new')}</button>}
      </div>
      <Loaded read={read}>
        {() => (!noted ? <Skeleton /> : all.length === 0 && (page?.hasNextPage || read.behind) ? <><Skeleton />{more}</> : all.length === 0
          ? <Empty title={t('The inbox is empty')}><p>{t('New requests appear here by themselves.')}</p><p><Link to="/app/requests" className="button plain">{t('See all requests')}</Link></p></Empty>
          : (
            <>
              <ul className="rows" aria-label={t('Pending requests')}>
                {all.map((r) => (
                  <Row
                    key={r.id} request={r} from="inbox" note={proposal(r)}
                    verbs={<>
                      {mayAccept(r) && <button type="button" className="plain small" aria-label={t('Accept {title}', { title: r.title })} aria-keyshortcuts={key.accept} title={t('Accept ({key})', { key: key.accept })} onClick={() => { take(r); }}>{t('Accept')}</button>}
                      {mayDecline(r) && <button type="button" className="quiet small" aria-label={t('Decline {title}', { title: r.title })} aria-keyshortcuts={key.decline} title={t('Decline ({key})', { key: key.decline })} onClick={() => { decline(r); }}>{t('Decline')}</button>}
                    </>}
                  />
                ))}
              </ul>
              {more}
            </>
          ))}
      </Loaded>
      {declining && <Decline request={declining} close={() => { setDeclining(null); }} />}
    </Page>
  );
}

// Teams are the inbox's tabs: each team that requests wait for, and how many.
function Teams({ teamId }: { teamId: string }) {
  const counts = useCounts('teamId', { status: ['PENDING'] });
  const teams = useTeamChoices((counts?.size ?? 0) < 2).filter((team) => counts?.get(team.id) || team.id === teamId);
  const tab = (label: string, value: string, count: number | undefined) => ({ label, to: '/app/inbox', search: value ? { teamId: value } : {}, count, current: teamId === value });
  return <Tabs label={t('Teams')} tabs={[tab(t('All'), '', sum(counts)), ...teams.map((team) => tab(team.name, team.id, counts?.get(team.id) ?? 0)), ...(counts?.get('') || teamId === 'none' ? [tab(t('No team'), 'none', counts?.get('') ?? 0)] : [])]} />;
}
