import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Columns3, List, PanelRight, SlidersHorizontal, Upload } from 'lucide-react';
import { useMemo } from 'react';
import { rows, usePages } from '../../app/data';
import { useArrivals, useOpening } from '../../app/live';
import { can, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { Requests } from '../../gen/documents';
import * as enums from '../../gen/enums';
import { useKeys } from '../../keys/registry';
import { words } from '../../ui/bits';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { marked } from '../../ui/rows';
import { Empty } from '../../ui/states';
import { Tabs } from '../../ui/tabs';
import { Bar, aboutOf, useActs, useMay } from './acts';
import { Beside } from './beside';
import { Board, cardsOf, useColumns } from './board';
import { Chooser, columnsOf } from './columns';
import { sum, useCounts } from './counts';
import { Export } from './export';
import { Filters, Sort } from './filters';
import { usePicked } from './picked';
import { belongs, filtered, near, requestFilter, requestOrder, requestVariables, stays, without, type MayRow, type RequestSearch } from './search';
import { Table } from './table';
import { KeepView, Views } from './views';

const orders: [string, string][] = [['-createdAt', t('Newest first')], ['createdAt', t('Oldest first')], ['resolutionDueAt', t('Due first')], ['-priority', t('Priority')], ['-updatedAt', t('Last changed')], ['title', t('Title')]];

// RequestList is every request that one may read, as a table or a board. What it shows stands in the address.
export default function RequestList() {
  const search = useSearch({ strict: false }) as RequestSearch;
  const navigate = useNavigate();
  const viewer = useViewer();
  const set = (s: RequestSearch) => { void navigate({ to: '/app/requests', search: s as never, replace: true, resetScroll: false }); };
  const wanted = JSON.stringify(without(search, 'peek', 'saved', 'columns', 'view'));
  const variables = useMemo(() => requestVariables(JSON.parse(wanted) as RequestSearch), [wanted]); // what is so far from now stays where it is
  const board = search.view === 'board';
  const table = usePages(Requests, variables, board);
  const columns = useColumns(search, wanted, board);
  const read = board ? columns.find((c) => c.read.data)?.read ?? columns[0]?.read ?? table : table;
  const again = () => { (board ? columns.map((c) => c.read) : [table]).forEach((r) => { r.again(); }); };
  useOpening(again);
  const all: MayRow[] = board ? columns.flatMap(cardsOf) : rows(read.data?.requests);
  const more = read.data?.requests?.pageInfo.hasNextPage ?? false;
  const [arrived, seen] = useArrivals((r, filed) => belongs(r, search) && (filed || near(r, all, more, requestOrder(search.sort))));
  const news = arrived.filter((a) => !all.some((r) => r.id === a.id));
  const picking = usePicked(all, wanted);
  const acts = useActs();
  const may = useMay();
  // What a key is about: the rows that are selected, or else the one that is marked.
  const about = () => {
    if (picking.chosen.length > 0) return picking.chosen;
    const id = marked();
    return all.filter((r) => r.id === id);
  };
  const show = (id: string) => { set(id ? { ...search, peek: id } : without(search, 'peek')); };
  const toBoard = (on: boolean) => { set(on ? { ...without(search, 'peek'), view: 'board' } : without(search, 'view')); };
  useKeys([
    { name: 'status', keys: 's', does: t('Set the status'), group: t('Requests'), run: () => { acts.ask('status', aboutOf(about(), may.move)); } },
    { name: 'priority', keys: 'p', does: t('Set the priority'), group: t('Requests'), run: () => { acts.ask('priority', aboutOf(about(), may.update)); } },
    { name: 'assign', keys: 'a', does: t('Assign the request'), group: t('Requests'), run: () => { acts.ask('assignee', aboutOf(about(), may.update)); } },
    { name: 'filter', keys: 'f', does: t('Filter'), group: t('Requests'), run: () => { globalThis.document.getElementById('filter-q')?.focus(); } },
    { name: 'board', keys: 'v', does: t('Switch between table and board'), group: t('Requests'), run: () => { toBoard(!board); } },
  ]);
  const some = filtered(search).length > 0;
  const tabbed = enums.RequestStatus.some((s) => s === search.status); // the tab says so
  return (
    <Page
      title={t('Requests')} verb="request.update" wide tabs={<Statuses search={search} />}
      actions={can(viewer, 'request.create') && <Link to="/app/catalogue" className="button small">{t('New request')}</Link>}
    >
      <Filters search={search} set={set} fixed={tabbed || board ? ['status'] : []}>
        <KeepView search={search} />
        <Views search={search} />
        <span aria-live="polite">
          {news.length > 0 && <button type="button" className="plain small pill" onClick={() => { seen(); again(); }}>{plural(news.length, '{n} new', '{n} new')}</button>}
        </span>
        <span className="display">
          <Sort now={search.sort ?? '-createdAt'} options={orders} set={(sort) => { set({ ...search, sort }); }} />
          <Export search={search} sort={search.sort ?? '-createdAt'} />
          {can(viewer, 'requestimport.create') && <Link to="/app/requests/import" className="icon" aria-label={t('Import')} title={t('Import')}><Upload size={15} aria-hidden /></Link>}
          {!board && <Chooser search={search} of="requests" set={set}><SlidersHorizontal size={15} aria-hidden /></Chooser>}
          {!board && <button type="button" className="icon" aria-label={t('Split view')} title={t('Split view')} aria-pressed={Boolean(search.peek)} onClick={() => { show(search.peek ? '' : all[0]?.id ?? ''); }}><PanelRight size={15} aria-hidden /></button>}
          <button type="button" className="plain small" onClick={() => { toBoard(!board); }}>
            {board ? <List size={15} aria-hidden /> : <Columns3 size={15} aria-hidden />} {board ? t('Table') : t('Board')}
          </button>
        </span>
      </Filters>
      <Loaded read={read} skeleton={18} lines>
        {() => (!board && all.length === 0
          ? some
            ? <Empty title={t('No request matches')}><p><button type="button" className="plain" onClick={() => { set(without(search, ...filtered(search), 'saved')); }}>{t('Clear the filters')}</button></p></Empty>
            : <Empty title={t('There are no requests yet')}>{can(viewer, 'request.create') && <p><Link to="/app/catalogue" className="button">{t('Open the catalogue')}</Link></p>}</Empty>
          : (
            <Beside id={search.peek || undefined} all={all} show={show}>
              {board ? <Board columns={columns} picking={picking} acts={acts} /> : (
                <Table
                  label={t('Requests')} all={all} columns={columnsOf(search, 'requests')} sort={{ now: search.sort ?? '-createdAt', set: (sort) => { set({ ...search, sort }); } }}
                  picking={picking} acts={acts} left={(r) => !stays(r, { ...search, q: '' })} beside={{ id: search.peek || undefined, show }}
                />
              )}
              {!board && <More shown={all.length} total={read.data?.requests?.totalCount} page={read.data?.requests?.pageInfo} next={read.next} />}
            </Beside>
          ))}
      </Loaded>
      {picking.chosen.length > 0 && <Bar list={picking.chosen} acts={acts} clear={picking.clear} />}
      {acts.dialogs}
    </Page>
  );
}

// Statuses are the list's tabs, with what the other filters leave in each.
function Statuses({ search }: { search: RequestSearch }) {
  const counts = useCounts('status', requestFilter(without(search, 'status')));
  const tab = (label: string, value: string, count: number | undefined) => ({ label, to: '/app/requests', search: { ...search, status: value, peek: '' }, count, current: (search.status ?? '') === value });
  return <Tabs label={t('Status')} tabs={[tab(t('All'), '', sum(counts)), ...enums.RequestStatus.map((s) => tab(words(s), s, counts ? counts.get(s) ?? 0 : undefined))]} />;
}
