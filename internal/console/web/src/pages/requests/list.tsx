import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Columns3, List } from 'lucide-react';
import { useEffect, useState } from 'react';
import { rows, useRead } from '../../app/data';
import { useArrivals } from '../../app/live';
import { Requests } from '../../gen/documents';
import type { RequestRowFragment } from '../../gen/types';
import { useKeys } from '../../keys/registry';
import { Badge, Person, Priority, Time, words } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { Assign } from './assign';
import { Detail } from './detail';
import { Filters } from './filters';
import { useMarking } from './marking';
import { Sla } from './row';
import { requestVariables, type RequestSearch } from './search';

const sorts: [string, string][] = [['createdAt', 'Filed'], ['title', 'Title'], ['status', 'Status'], ['priority', 'Priority'], ['updatedAt', 'Changed']];

// RequestList is every request that one may read, as a table or a board. What it shows stands in the address.
export default function RequestList() {
  const search = useSearch({ strict: false }) as RequestSearch;
  const navigate = useNavigate();
  const set = (s: RequestSearch) => { void navigate({ to: '/app/requests', search: s as never, replace: true }); };
  const asked = JSON.stringify(requestVariables(search));
  const [after, setAfter] = useState<string | null>(null);
  useEffect(() => { setAfter(null); }, [asked]);
  const read = useRead(Requests, { ...(JSON.parse(asked) as ReturnType<typeof requestVariables>), ...(after ? { after } : {}) });
  const [arrived, seen] = useArrivals(() => true);
  const [assigning, setAssigning] = useState<RequestRowFragment | null>(null);
  const { list, marked } = useMarking('Requests');
  const all = rows(read.data?.requests);
  const news = arrived.filter((a) => !all.some((r) => r.id === a.id));
  const current = () => all.find((r) => r.id === marked());
  const board = search.view === 'board';
  useKeys([
    { keys: 'a', does: 'Assign the request', group: 'Requests', run: () => { setAssigning(current() ?? null); } },
    { keys: ' ', does: 'Peek at the request', group: 'Requests', run: () => { const r = current(); if (r) set({ ...search, peek: r.id }); } },
    { keys: 'f', does: 'Filter', group: 'Requests', run: () => { globalThis.document.getElementById('filter-q')?.focus(); } },
    { keys: 'v', does: 'Switch between table and board', group: 'Requests', run: () => { set({ ...search, view: board ? '' : 'board' }); } },
  ]);
  const page = read.data?.requests?.pageInfo;
  return (
    <Page
      title="Requests" role="agent"
      actions={<>
        <button type="button" className="plain" aria-pressed={board} onClick={() => { set({ ...search, view: board ? '' : 'board' }); }}>
          {board ? <List size={15} aria-hidden /> : <Columns3 size={15} aria-hidden />} {board ? 'Table' : 'Board'}
        </button>
        <Link to="/app/catalogue" className="button">New request</Link>
      </>}
    >
      <Filters search={search} set={set} />
      <div aria-live="polite">
        {news.length > 0 && <button type="button" className="plain small pill" onClick={() => { seen(); read.again(); }}>{news.length} new</button>}
      </div>
      <Loaded read={read}>
        {() => (all.length === 0
          ? <Empty title="No request matches"><p>Take a filter away, or file a request from the catalogue.</p></Empty>
          : (
            <>
              {board ? <Board all={all} /> : <Table all={all} search={search} set={set} list={(e) => { list.current = e; }} />}
              <div className="table-foot">
                <span>{all.length} of {read.data?.requests?.totalCount}</span>
                {page?.hasNextPage && <button type="button" className="plain small" onClick={() => { setAfter(page.endCursor ?? null); }}>Show more</button>}
              </div>
            </>
          ))}
      </Loaded>
      {search.peek && (
        <Dialog title="Request" close={() => { set({ ...search, peek: '' }); }} side>
          <Detail id={search.peek} peek />
        </Dialog>
      )}
      {assigning && <Assign request={assigning} close={() => { setAssigning(null); }} />}
    </Page>
  );
}

interface TableProps { all: RequestRowFragment[]; search: RequestSearch; set: (s: RequestSearch) => void; list: (e: HTMLElement | null) => void }

function Table({ all, search, set, list }: TableProps) {
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
  const named = Object.fromEntries(sorts);
  return (
    <div className="table-wrap cards-when-narrow">
      <table>
        <thead>
          <tr>{head('title', named['title'] ?? '')}{head('status', 'Status')}{head('priority', 'Priority')}<th scope="col">Assignee</th><th scope="col">SLA</th>{head('createdAt', 'Filed')}</tr>
        </thead>
        <tbody ref={list}>
          {all.map((r) => (
            <tr key={r.id} data-row={r.id}>
              <td><Link to="/app/requests/$id" params={{ id: r.id }} className="name">{r.title}</Link><span className="sub">{r.service?.name} › {r.offering?.name}</span></td>
              <td className="tight"><Badge value={r.status} /></td>
              <td className="tight"><Priority value={r.priority} /></td>
              <td className="tight" data-label="Assignee">{r.assignee || !r.team ? <Person name={r.assignee?.name} /> : <span>{r.team.name}</span>}</td>
              <td className="tight" data-label="SLA">{r.sla ? <Sla state={r.sla.state} /> : <span className="soft">–</span>}</td>
              <td className="tight"><Time at={r.createdAt} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Board({ all }: { all: RequestRowFragment[] }) {
  return (
    <div className="board" tabIndex={0} role="group" aria-label="Requests by status">
      {['PENDING', 'IN_PROGRESS', 'COMPLETED', 'CANCELLED'].map((s) => {
        const here = all.filter((r) => r.status === s);
        return (
          <section key={s} aria-label={words(s)}>
            <h2>{words(s)} <span className="soft">{here.length}</span></h2>
            <ul>
              {here.map((r) => (
                <li key={r.id} className="card" data-row={r.id}>
                  <Link to="/app/requests/$id" params={{ id: r.id }} className="name">{r.title}</Link>
                  <span className="line"><Priority value={r.priority} />{r.assignee && <Person name={r.assignee.name} />}</span>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}
