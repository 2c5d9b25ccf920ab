// board is the list in columns by status: what is open, and what was finished in the last days.
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { rows, usePages, type Read } from '../../app/data';
import { useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { Requests } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { RequestsQuery, RequestStatus } from '../../gen/types';
import { useKeys } from '../../keys/registry';
import { Person, Priority, words } from '../../ui/bits';
import { RowMenu, type Acts } from './acts';
import { movesOf, useBulk } from './bulk';
import './lists.css';
import type { Picking } from './picked';
import { Due } from './row';
import { requestVariables, type MayRow, type RequestSearch } from './search';

const days = 7; // for which what was finished stays

interface Column { status: RequestStatus; read: Read<RequestsQuery> & { next: (after: string | null) => void } }

const over = (s: RequestStatus) => s === 'COMPLETED' || s === 'CANCELLED';
// shown is what a column asks for: of what is over, what has changed in the last days, unless the address asks for a time itself.
const shown = (search: RequestSearch, status: RequestStatus): RequestSearch => ({ ...search, status, ...(over(status) && !search.updatedAfter ? { updatedAfter: `${days}d` } : {}) });

// useColumns reads each column by itself: one list of all would fill one column and leave others empty. What was cancelled has a column
// where the address asks for it.
export function useColumns(search: RequestSearch, wanted: string, on: boolean): Column[] {
  const asked = search.status?.split(',').filter(Boolean) ?? enums.RequestStatus.filter((s) => s !== 'CANCELLED');
  const variables = useMemo(() => enums.RequestStatus.map((s) => requestVariables(shown(JSON.parse(wanted) as RequestSearch, s))), [wanted]);
  const read = enums.RequestStatus.map((status, i) => ({ status, read: usePages(Requests, variables[i] as ReturnType<typeof requestVariables>, !on || !asked.includes(status)) }));
  return on ? read.filter((c) => asked.includes(c.status)) : [];
}

// cardsOf are the cards of a column. A comment that came later changes a request that was finished long ago.
export const cardsOf = ({ status, read }: Column): MayRow[] => rows(read.data?.requests)
  .filter((r) => r.status === status && (status !== 'COMPLETED' || !r.completedAt || Date.parse(r.completedAt) > Date.now() - days * 86_400_000));

interface BoardProps { columns: Column[]; picking: Picking; acts: Acts }

export function Board({ columns, picking, acts }: BoardProps) {
  const viewer = useViewer();
  const bulk = useBulk();
  const [held, hold] = useState<MayRow | null>(null);
  const all = columns.flatMap(({ read }) => rows<MayRow>(read.data?.requests));
  const steps = (r: MayRow) => movesOf(viewer, r).filter((to) => to !== 'CANCELLED'); // a cancellation asks first, and is no step
  const drop = (to: RequestStatus) => {
    const says = { IN_PROGRESS: held?.status === 'COMPLETED' ? t('Reopened “{title}”.', { title: held.title }) : t('Accepted “{title}”.', { title: held?.title ?? '' }), COMPLETED: t('Completed “{title}”.', { title: held?.title ?? '' }) };
    if (held && (to === 'IN_PROGRESS' || to === 'COMPLETED') && steps(held).includes(to)) void bulk.change([held], () => ({ status: to }), says[to]);
    hold(null);
  };
  // along goes to the column beside, to the card at the same height.
  const along = (by: number) => {
    const lists = [...globalThis.document.querySelectorAll<HTMLElement>('.board > section')].map((s) => [...s.querySelectorAll<HTMLElement>('a.name')]).filter((l) => l.length > 0); // not said
    const at = lists.findIndex((l) => l.some((a) => a.closest('li')?.contains(globalThis.document.activeElement)));
    const row = lists[at]?.findIndex((a) => a.closest('li')?.contains(globalThis.document.activeElement)) ?? 0;
    const next = lists[at < 0 ? 0 : at + (globalThis.document.dir === 'rtl' ? -by : by)];
    next?.[Math.min(row, next.length - 1)]?.focus();
  };
  useKeys([
    { name: 'next-column', keys: 'ArrowRight', does: t('Next column'), group: t('Requests'), run: () => { along(1); } }, // not said
    { name: 'previous-column', keys: 'ArrowLeft', does: t('Previous column'), group: t('Requests'), run: () => { along(-1); } }, // not said
  ]);
  return (
    <div className="board" tabIndex={0} role="group" aria-label={t('Requests by status')}>
      {columns.map((column) => {
        const s = column.status;
        // What was moved stands in its new column at once, before that is read again.
        const here = [...new Map([...cardsOf(column), ...all.filter((r) => r.status === s && !cardsOf(column).includes(r) && !over(s))].map((r) => [r.id, r])).values()];
        const page = column.read.data?.requests?.pageInfo;
        const takes = held !== null && held.status !== s && steps(held).some((to) => to === s);
        return (
          <section key={s} aria-label={words(s)} className={takes ? 'takes' : undefined} onDragOver={(e) => { if (takes) e.preventDefault(); }} onDrop={() => { drop(s); }}>
            <h2>{words(s)} <span className="soft">{over(s) ? plural(days, '{count} in {n} day', '{count} in {n} days', { count: `${here.length}${page?.hasNextPage ? '+' : ''}` }) : column.read.data?.requests?.totalCount ?? here.length}</span></h2>
            {here.length === 0 && column.read.data && <p className="soft small-text none">{t('Nothing here.')}</p>}
            <ul>
              {here.map((r) => <Card key={r.id} request={r} picking={picking} acts={acts} draggable={steps(r).length > 0} hold={hold} />)}
            </ul>
            {page?.hasNextPage && <button type="button" className="plain small" aria-label={t('Show more of {name}', { name: words(s) })} onClick={() => { column.read.next(page.endCursor ?? null); }}>{t('Show more')}</button>}
          </section>
        );
      })}
    </div>
  );
}

interface CardProps { request: MayRow; picking: Picking; acts: Acts; draggable: boolean; hold: (r: MayRow | null) => void }

function Card({ request: r, picking, acts, draggable, hold }: CardProps) {
  const picked = picking.picked.has(r.id);
  return (
    <li
      className={`card${picked ? ' picked' : ''}`} data-row={r.id} draggable={draggable}
      onDragStart={(e) => { e.dataTransfer.setData('text/plain', r.title); hold(r); }} onDragEnd={() => { hold(null); }}
    >
      <span className="card-head">
        <input type="checkbox" aria-label={t('Select {title}', { title: r.title })} checked={picked} onChange={(e) => { picking.pick(r.id, (e.nativeEvent as MouseEvent).shiftKey); }} />
        <span className="soft">#{r.number}</span><span className="soft service" dir="auto" title={`${r.service?.name ?? ''} › ${r.offering?.name ?? ''}`}>{r.offering?.name}</span>
        <RowMenu request={r} acts={acts} />
      </span>
      <Link to="/app/requests/$id" params={{ id: r.id }} className="name" dir="auto">{r.title}</Link>
      <span className="line"><Priority value={r.priority} /><Due request={r} /><span className="grow" />{r.assignee && <Person name={r.assignee.name} />}</span>
    </li>
  );
}
