import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Columns3, List } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { rows, usePages } from '../../app/data';
import { useArrivals, useOpening } from '../../app/live';
import { can, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { Requests } from '../../gen/documents';
import * as enums from '../../gen/enums';
import { useKeys } from '../../keys/registry';
import { marked } from '../../ui/rows';
import { Badge, Person, Priority, Time, words } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { Tabs } from '../../ui/tabs';
import { toast } from '../../ui/toast';
import { Ask, Bar, movesOf, open, useBulk, type Asking } from './bulk';
import { sum, useCounts } from './counts';
import { Detail } from './detail';
import { Filters } from './filters';
import { Sla } from './row';
import { Views } from './views';
import { belongs, near, requestFilter, requestVariables, type MayRow, type RequestSearch } from './search';

// RequestList is every request that one may read, as a table or a board. What it shows stands in the address.
export default function RequestList() {
  const search = useSearch({ strict: false }) as RequestSearch;
  const navigate = useNavigate();
  const viewer = useViewer();
  const set = (s: RequestSearch) => { void navigate({ to: '/app/requests', search: s as never, replace: true }); };
  const asked = JSON.stringify(requestVariables(search));
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => { setPicked(new Set()); }, [asked]);
  const board = search.view === 'board';
  const table = usePages(Requests, JSON.parse(asked) as ReturnType<typeof requestVariables>, board);
  const columns = useColumns(search, board);
  const read = board ? columns[0] ?? table : table;
  const again = () => { (board ? columns : [table]).forEach((c) => { c.again(); }); };
  useOpening(again);
  const [asking, setAsking] = useState<Asking>('');
  const bulk = useBulk();
  const all: MayRow[] = board ? [...new Map(columns.flatMap((c) => rows(c.data?.requests)).map((r) => [r.id, r])).values()] : rows(read.data?.requests);
  const [arrived, seen] = useArrivals((r, filed) => belongs(r, search) && (filed || near(r, all, read.data?.requests?.pageInfo.hasNextPage ?? false, search.sort)));
  const news = arrived.filter((a) => !all.some((r) => r.id === a.id));
  const current = () => all.find((r) => r.id === marked());
  const chosen = all.filter((r) => picked.has(r.id));
  // What a key is about: the rows that are selected, or else the one that is marked.
  const about = useRef<MayRow[]>([]);
  const ask = (what: Asking, verb = 'request.update') => {
    const one = chosen.length > 0 ? undefined : current();
    if (chosen.length === 0 && !one) return;
    about.current = (one ? [one] : chosen).filter((r) => (what === 'status' ? movesOf(viewer, r).length > 0 : open(r) && can(viewer, verb, r)));
    if (about.current.length > 0) setAsking(what);
    else toast({ text: t('None of these can be changed that way.') });
  };
  const pick = (id: string) => { setPicked((was) => { const s = new Set(was); if (!s.delete(id)) s.add(id); return s; }); };
  useKeys([
    { keys: 'x', does: t('Select the row'), group: t('Requests'), run: () => { const r = current(); if (r) pick(r.id); } },
    { keys: 'mod+a', does: t('Select all rows shown'), group: t('Requests'), run: () => { setPicked(new Set(all.map((r) => r.id))); } },
    { keys: 's', does: t('Set the status'), group: t('Requests'), run: () => { ask('status'); } },
    { keys: 'p', does: t('Set the priority'), group: t('Requests'), run: () => { ask('priority'); } },
    { keys: 'a', does: t('Assign the request'), group: t('Requests'), run: () => { ask('assignee'); } },
    { keys: ' ', does: t('Peek at the request'), group: t('Requests'), run: () => { const r = current(); if (r) set({ ...search, peek: r.id }); } },
    { keys: 'f', does: t('Filter'), group: t('Requests'), run: () => { globalThis.document.getElementById('filter-q')?.focus(); } },
    { keys: 'v', does: t('Switch between table and board'), group: t('Requests'), run: () => { set({ ...search, view: board ? '' : 'board' }); } },
    ...(chosen.length > 0 ? [{ keys: 'Escape', does: t('Clear selection'), group: t('Requests'), run: () => { setPicked(new Set()); } }] : []), // not said
  ]);
  return (
    <Page
      title={t('Requests')} verb="request.update" tabs={<Statuses search={search} />}
      actions={<>
        <button type="button" className="plain" aria-pressed={board} onClick={() => { set({ ...search, view: board ? '' : 'board' }); }}>
          {board ? <List size={15} aria-hidden /> : <Columns3 size={15} aria-hidden />} {board ? t('Table') : t('Board')}
        </button>
        {can(viewer, 'request.create') && <Link to="/app/catalogue" className="button">{t('New request')}</Link>}
      </>}
    >
      <Views search={search} />
      <Filters search={search} set={set} />
      <div aria-live="polite">
        {news.length > 0 && <button type="button" className="plain small pill" onClick={() => { seen(); again(); }}>{plural(news.length, '{n} new', '{n} new')}</button>}
      </div>
      <Loaded read={read}>
        {() => (all.length === 0 && !columns.some((c) => c.behind)
          ? Object.keys(requestFilter(search)).length > 0
            ? <Empty title={t('No request matches')}><p>{t('Remove a filter, or submit a request from the catalogue.')}</p></Empty>
            : <Empty title={t('There are no requests yet')}>{can(viewer, 'request.create') && <p><Link to="/app/catalogue" className="button">{t('Open the catalogue')}</Link></p>}</Empty>
          : (
            <>
              {board ? <Board all={all} columns={columns} search={search} picked={picked} pick={pick} move={(r, to) => { void bulk.change([r], () => ({ status: to })); }} /> : <Table all={all} search={search} set={set} picked={picked} pick={pick} pickAll={(on) => { setPicked(new Set(on ? all.map((r) => r.id) : [])); }} />}
              {!board && <More shown={all.length} total={read.data?.requests?.totalCount} page={read.data?.requests?.pageInfo} next={read.next} />}
            </>
          ))}
      </Loaded>
      {chosen.length > 0 && <Bar list={chosen} ask={ask} clear={() => { setPicked(new Set()); }} take={(l) => { void bulk.take(l); }} />}
      {search.peek && (
        <Dialog title={t('Request')} close={() => { set({ ...search, peek: '' }); }} side>
          <Detail id={search.peek} peek />
        </Dialog>
      )}
      {asking && <Ask what={asking} list={about.current} close={() => { setAsking(''); }} act={(list, to) => { void bulk.change(list, to); }} />}
    </Page>
  );
}

// Statuses are the list's tabs, with what the other filters leave in each.
function Statuses({ search }: { search: RequestSearch }) {
  const { status: _status, ...others } = requestFilter(search);
  const counts = useCounts('status', others);
  const tab = (label: string, value: string, count: number | undefined) => ({ label, to: '/app/requests', search: { ...search, status: value, peek: '' }, count, current: (search.status ?? '') === value });
  return <Tabs label={t('Status')} tabs={[tab(t('All'), '', sum(counts)), ...enums.RequestStatus.map((s) => tab(words(s), s, counts ? counts.get(s) ?? 0 : undefined))]} />;
}

interface TableProps {
  all: MayRow[]; search: RequestSearch; set: (s: RequestSearch) => void;
  picked: ReadonlySet<string>; pick: (id: string) => void; pickAll: (on: boolean) => void;
}

function Table({ all, search, set, picked, pick, pickAll }: TableProps) {
  const sort = search.sort ?? '-createdAt';
  const head = (field: string, label: string) => {
    const here = sort.replace(/^-/, '') === field;
    const down = here && sort.startsWith('-');
    return (
      <th key={field} scope="col" aria-sort={here ? (down ? 'descending' : 'ascending') : undefined}>
        <button type="button" className="quiet small sort" onClick={() => { set({ ...search, sort: down ? field : `-${field}` }); }}>{label}{here && <span aria-hidden>{down ? ' ↓' : ' ↑'}</span>}</button>
      </th>
    );
  };
  return (
    <div className="table-wrap cards-when-narrow">
      <table>
        <thead>
          <tr>
            <th scope="col" className="tight"><input type="checkbox" aria-label={t('Select all')} checked={all.length > 0 && all.every((r) => picked.has(r.id))} onChange={(e) => { pickAll(e.target.checked); }} /></th>
            {head('title', t('Title'))}{head('status', t('Status'))}{head('priority', t('Priority'))}<th scope="col">{t('Assignee')}</th><th scope="col">{t('SLA')}</th>{head('createdAt', t('Submitted'))}
          </tr>
        </thead>
        <tbody>
          {all.map((r) => (
            <tr key={r.id} data-row={r.id} className={[picked.has(r.id) && 'picked', !belongs(r, { ...search, q: '' }) && 'left'].filter(Boolean).join(' ') || undefined}>
              <td className="tight pick"><input type="checkbox" aria-label={t('Select {title}', { title: r.title })} checked={picked.has(r.id)} onChange={() => { pick(r.id); }} /></td>
              <td><Link to="/app/requests/$id" params={{ id: r.id }} className="name" dir="auto">{r.title}</Link><span className="sub">#{r.number} · {r.service?.name} › {r.offering?.name}</span></td>
              <td className="tight"><Badge value={r.status} /></td>
              <td className="tight"><Priority value={r.priority} /></td>
              <td className="tight" data-label={t('Assignee')}>{r.assignee || !r.team ? <Person name={r.assignee?.name} /> : <span dir="auto">{r.team.name}</span>}</td>
              <td className="tight" data-label={t('SLA')}>{r.sla && r.status !== 'CANCELLED' ? <Sla state={r.sla.state} /> : <span className="soft">–</span>}</td>
              <td className="tight"><Time at={r.createdAt} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Columns = ReturnType<typeof useColumns>;

// useColumns reads each column of the board by itself: one list of all would fill one column and leave others empty.
function useColumns(search: RequestSearch, on: boolean) {
  const wanted = search.status?.split(',').filter(Boolean) ?? [];
  return enums.RequestStatus.map((s) => usePages(Requests, requestVariables({ ...search, status: s }), !on || (wanted.length > 0 && !wanted.includes(s))));
}

interface BoardProps extends Pick<TableProps, 'all' | 'search' | 'picked' | 'pick'> { columns: Columns; move: (r: MayRow, to: 'IN_PROGRESS' | 'COMPLETED') => void }

function Board({ all, columns, search, picked, pick, move }: BoardProps) {
  const viewer = useViewer();
  const [held, hold] = useState<MayRow | null>(null);
  const step = (r: MayRow) => movesOf(viewer, r).find((to) => to !== 'CANCELLED') ?? null; // a cancellation asks first, and is no step
  const { status: _status, ...others } = requestFilter(search);
  const counts = useCounts('status', others);
  return (
    <div className="board" tabIndex={0} role="group" aria-label={t('Requests by status')}>
      {enums.RequestStatus.map((s, i) => {
        const here = all.filter((r) => r.status === s);
        const column = columns[i];
        const takes = held !== null && step(held) === s;
        return (
          <section
            key={s} aria-label={words(s)} className={takes ? 'takes' : undefined}
            onDragOver={(e) => { if (takes) e.preventDefault(); }} onDrop={() => { if (held && takes) move(held, s as 'IN_PROGRESS' | 'COMPLETED'); hold(null); }}
          >
            <h2>{words(s)} <span className="soft">{search.status ? here.length : counts?.get(s) ?? here.length}</span></h2>
            <ul>
              {here.map((r) => (
                <li
                  key={r.id} className={`card${picked.has(r.id) ? ' picked' : ''}`} data-row={r.id}
                  draggable={step(r) !== null} onDragStart={(e) => { e.dataTransfer.setData('text/plain', r.title); hold(r); }} onDragEnd={() => { hold(null); }}
                >
                  <span className="pickable">
                    <Link to="/app/requests/$id" params={{ id: r.id }} className="name" dir="auto">{r.title}</Link>
                    <input type="checkbox" aria-label={t('Select {title}', { title: r.title })} checked={picked.has(r.id)} onChange={() => { pick(r.id); }} />
                  </span>
                  <span className="line"><span className="soft">#{r.number}</span><Priority value={r.priority} />{r.assignee && <Person name={r.assignee.name} />}</span>
                </li>
              ))}
            </ul>
            {column?.data?.requests?.pageInfo.hasNextPage && <button type="button" className="plain small" aria-label={t('Show more of {name}', { name: words(s) })} onClick={() => { column.next(column.data?.requests?.pageInfo.endCursor ?? null); }}>{t('Show more')}</button>}
          </section>
        );
      })}
    </div>
  );
}
