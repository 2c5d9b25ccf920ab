import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Bot, PanelRight, SlidersHorizontal } from 'lucide-react';
import { useMemo, useState } from 'react';
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
import { Bar, aboutOf, useActs, useMay } from './acts';
import { Beside } from './beside';
import { useBulk } from './bulk';
import { Chooser, columnsOf } from './columns';
import { sum, useCounts } from './counts';
import { Export } from './export';
import { Filters, Sort } from './filters';
import { usePicked } from './picked';
import { asleep, belongs, filtered, inboxOrder, inboxVariables, near, stays, without, type MayRow, type RequestSearch } from './search';
import { Table } from './table';
import { useAccept, useChange } from './verbs';

const orders: [string, string][] = [['responseDueAt', t('Due first')], ['-createdAt', t('Newest first')], ['createdAt', t('Oldest first')], ['-priority', t('Priority')]];

// Inbox is where staff take requests in: what nobody has accepted or put off, all of it or that of a team, what is due first at the top.
export default function Inbox() {
  const search = useSearch({ strict: false }) as RequestSearch;
  const navigate = useNavigate();
  const set = (s: RequestSearch) => { void navigate({ to: '/app/inbox', search: s as never, replace: true, resetScroll: false }); };
  const wanted = JSON.stringify(without(search, 'peek', 'columns'));
  const variables = useMemo(() => inboxVariables(JSON.parse(wanted) as RequestSearch), [wanted]);
  const read = usePages(Requests, variables);
  const viewer = useViewer();
  useOpening(read.again);
  const [shown, setShown] = useState<RequestRowFragment[]>([]);
  const accept = useAccept();
  const change = useChange();
  const bulk = useBulk();
  const acts = useActs();
  const may = useMay();
  const note = useNotes();

  const known: MayRow[] = rows(read.data?.requests);
  const pending: RequestSearch = { ...search, status: 'PENDING' };
  const here = (r: RequestRowFragment) => stays(r, pending);
  const waits = (r: RequestRowFragment) => here(r) && !asleep(r);
  const page = read.data?.requests?.pageInfo;
  const [arrived, seen] = useArrivals((r, filed) => belongs(r, pending) && !asleep(r) && (filed || near(r, known, page?.hasNextPage ?? false, inboxOrder(search.sort))));
  const all: MayRow[] = [...shown.filter((r) => !known.some((k) => k.id === r.id)), ...known].filter(waits);
  const news = arrived.filter((a) => !all.some((r) => r.id === a.id));
  // Of those that were read, all may be accepted or put off while more wait behind them.
  useOnward(all.length === 0 && page?.hasNextPage && !read.behind ? page.endCursor : null, read.next);
  // The server counted what was accepted or moved away since, and not what came; what is put off it counts, as the tabs do.
  const left = known.filter((r) => !here(r)).length;
  const came = all.filter((r) => !known.some((k) => k.id === r.id)).length;
  const off = known.filter((r) => here(r) && asleep(r)).length;
  const total = read.data?.requests ? read.data.requests.totalCount - left + came : undefined;
  const more = <More shown={all.length} total={total} page={page} next={read.next}>{off > 0 && <span>{plural(off, '{n} snoozed', '{n} snoozed')}</span>}</More>;
  const picking = usePicked(all, wanted);
  const about = () => {
    if (picking.chosen.length > 0) return picking.chosen;
    const id = marked();
    return all.filter((r) => r.id === id);
  };
  const mayAccept = (r: MayRow) => can(viewer, 'request.accept', r);
  const take = (list: MayRow[]) => {
    const [one] = list;
    if (one) step(one.id);
    if (list.length > 1) void bulk.change(list, () => ({ status: 'IN_PROGRESS' }));
    else if (one) void accept(one);
  };
  const assign = (list: MayRow[]) => {
    const [one] = list;
    if (list.length > 1) void bulk.change(list, () => ({ assigneeId: viewer.id }));
    else if (one) void change(one, { assigneeId: viewer.id }, t('“{title}” is assigned to you.', { title: one.title }));
  };
  const chosen = useChosen();
  const key = chosen['accept'] ?? 'a';
  useKeys([
    { name: 'accept', keys: 'a', does: t('Accept the request'), group: t('Inbox'), run: () => { take(aboutOf(about(), mayAccept)); } },
    { name: 'decline', keys: 'd', does: t('Decline the request'), group: t('Inbox'), run: () => { acts.ask('decline', aboutOf(about(), (r) => mayAccept(r) && can(viewer, 'request.cancel', r))); } },
    { name: 'assign-me', keys: 'm', does: t('Assign the request to me'), group: t('Inbox'), run: () => { assign(aboutOf(about(), may.update)); } },
    { name: 'priority', keys: 'p', does: t('Set the priority'), group: t('Requests'), run: () => { acts.ask('priority', aboutOf(about(), may.update)); } },
    { name: 'filter', keys: 'f', does: t('Filter'), group: t('Requests'), run: () => { globalThis.document.getElementById('filter-q')?.focus(); } },
  ]);
  const show = (id: string) => { set(id ? { ...search, peek: id } : without(search, 'peek')); };
  const some = filtered(search).filter((n) => n !== 'status');
  return (
    <Page title={t('Inbox')} verb="request.accept" wide tabs={<Teams search={search} />}>
      <Filters search={search} set={set} fixed={['status', 'teamId', 'satisfaction']}>
        <span aria-live="polite">
          {news.length > 0 && <button type="button" className="plain small pill" onClick={() => { setShown((was) => [...news, ...was]); seen(); }}>{plural(news.length, '{n} new', '{n} new')}</button>}
        </span>
        <span className="display">
          <Sort now={search.sort ?? 'responseDueAt'} options={orders} set={(sort) => { set({ ...search, sort }); }} />
          <Export search={{ ...search, status: 'PENDING' }} sort={search.sort ?? 'responseDueAt'} />
          <Chooser search={search} of="inbox" set={set}><SlidersHorizontal size={15} aria-hidden /></Chooser>
          <button type="button" className="icon" aria-label={t('Split view')} title={t('Split view')} aria-pressed={Boolean(search.peek)} onClick={() => { show(search.peek ? '' : all[0]?.id ?? ''); }}><PanelRight size={15} aria-hidden /></button>
        </span>
      </Filters>
      <Loaded read={read} skeleton={18} lines>
        {() => (all.length === 0 && (page?.hasNextPage || read.behind) ? <><Skeleton rows={18} lines />{more}</> : all.length === 0
          ? some.length > 0
            ? <Empty title={t('No request matches')}><p><button type="button" className="plain" onClick={() => { set(without(search, ...some)); }}>{t('Clear the filters')}</button></p></Empty>
            : <Empty title={t('The inbox is empty')}><p>{t('New requests appear here by themselves.')}</p><p><Link to="/app/requests" className="button plain">{t('See all requests')}</Link></p></Empty>
          : (
            <Beside id={search.peek || undefined} all={all} show={show} from="inbox">
              <Table
                label={t('Pending requests')} all={all} columns={columnsOf(search, 'inbox')} from="inbox" picking={picking} acts={acts} note={note} beside={{ id: search.peek || undefined, show }}
                first={(r) => mayAccept(r) && <button type="button" className="plain small verb" aria-label={t('Accept {title}', { title: r.title })} aria-keyshortcuts={key} title={t('Accept ({key})', { key })} onClick={() => { take([r]); }}>{t('Accept')}</button>}
              />
              {more}
            </Beside>
          ))}
      </Loaded>
      {picking.chosen.length > 0 && <Bar list={picking.chosen} acts={acts} clear={picking.clear} />}
      {acts.dialogs}
    </Page>
  );
}

// useNotes says beside a request what an AI agent proposes for it.
function useNotes() {
  const viewer = useViewer();
  const waiting = useRead(WaitingProposals, {}, !can(viewer, 'agentaction.read'));
  const proposed = new Map(rows(waiting.data?.agentActions).filter((a) => a.kind === 'PROPOSAL' && a.status === 'PENDING' && !a.shadow).reverse().map((a) => [a.requestId, a]));
  const sets = (field: string) => [...proposed.values()].some((a) => a.changes.some((c) => c.field === field));
  const named = new Map<unknown, string>([...useTeamChoices(!sets('teamId')), ...usePersonChoices(!sets('assigneeId'))].map((x) => [x.id, x.name]));
  return (r: RequestRowFragment) => {
    const a = proposed.get(r.id);
    if (!a) return null;
    const what = a.changes.map((c) => {
      const to = named.get(c.to) ?? (c.field === 'priority' ? words(String(c.to)) : '');
      return `${labels[c.field] ?? c.field}${to && ` ${to}`}`;
    }).join(', ');
    const says = t('An AI agent proposes: {what} ({share} certain)', { what, share: percent(a.confidence) });
    return <span className="note" title={says}><Bot size={13} aria-hidden /><span className="hidden">{says}</span> <span aria-hidden>{what}</span></span>;
  };
}

// Teams are the inbox's tabs: each team that requests wait for, and how many.
function Teams({ search }: { search: RequestSearch }) {
  const { teamId = '' } = search;
  const counts = useCounts('teamId', { status: ['PENDING'] });
  const teams = useTeamChoices((counts?.size ?? 0) < 2).filter((team) => counts?.get(team.id) || team.id === teamId);
  const tab = (label: string, value: string, count: number | undefined) => ({ label, to: '/app/inbox', search: { ...without(search, 'teamId', 'peek'), ...(value ? { teamId: value } : {}) }, count, current: teamId === value });
  return <Tabs label={t('Teams')} tabs={[tab(t('All'), '', sum(counts)), ...teams.map((team) => tab(team.name, team.id, counts?.get(team.id) ?? 0)), ...(counts?.get('') || teamId === 'none' ? [tab(t('No team'), 'none', counts?.get('') ?? 0)] : [])]} />;
}
