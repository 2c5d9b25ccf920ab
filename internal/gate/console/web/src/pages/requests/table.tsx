// table is a list of requests, a line each: as the inbox, the list and the person's own requests show it.
import { Link } from '@tanstack/react-router';
import { memo, useRef, type FocusEvent, type MouseEvent, type ReactNode } from 'react';
import { t } from '../../app/text';
import { Badge } from '../../ui/bits';
import { RowMenu, type Acts } from './acts';
import type { Column } from './columns';
import './lists.css';
import type { Picking } from './picked';
import type { MayRow } from './search';

interface LineProps {
  request: MayRow; columns: Column[]; from?: string | undefined; note?: ReactNode; left?: boolean; peeked?: boolean;
  picked?: boolean; pick?: Picking['pick'] | undefined; verbs?: ReactNode;
}

const Line = memo(function Line({ request: r, columns, from, note, left, peeked, picked, pick, verbs }: LineProps) {
  return (
    <tr data-row={r.id} className={[picked && 'picked', left && 'left', peeked && 'peeked'].filter(Boolean).join(' ') || undefined}>
      {pick && <td className="c-pick"><input type="checkbox" aria-label={t('Select {title}', { title: r.title })} checked={picked} onChange={(e) => { pick(r.id, (e.nativeEvent as unknown as globalThis.MouseEvent).shiftKey); }} /></td>}
      {columns.map((c) => c.id === 'number' && <td key={c.id} className="c-number">{c.cell(r)}</td>)}
      <td className="c-title">
        <span className="titled">
          <Link to="/app/requests/$id" params={{ id: r.id }} state={from ? { from } as never : {}} className="name" dir="auto" title={r.title}>{r.title}</Link>
          {r.waiting && <Badge value="PAUSED">{from === 'mine' ? t('Waiting for your answer') : t('Waiting for an answer')}</Badge>}
          {note}
        </span>
      </td>
      {columns.map((c) => c.id !== 'number' && <td key={c.id} className={`c-${c.id}`}>{c.cell(r)}</td>)}
      {verbs && <td className="c-verbs">{verbs}</td>}
    </tr>
  );
});

interface TableProps {
  label: string; all: MayRow[]; columns: Column[]; from?: string; sort?: { now: string; set: (to: string) => void }; picking?: Picking; acts?: Acts;
  first?: (r: MayRow) => ReactNode; note?: (r: MayRow) => ReactNode; left?: (r: MayRow) => boolean; beside?: { id: string | undefined; show: (id: string) => void } | undefined;
}

// Table takes the order and how it is chosen, what is selected, and what can be done to a row; `first` is what stands in sight of that.
// Where a request is shown beside the list, that is the one on which one goes or presses.
export function Table({ label, all, columns, from, sort, picking, acts, first, note, left, beside }: TableProps) {
  const head = (id: string, says: ReactNode, by?: string, width?: number) => {
    const here = sort !== undefined && by !== undefined && sort.now.replace(/^-/, '') === by;
    const down = here && sort.now.startsWith('-');
    return (
      <th key={id} scope="col" className={`c-${id}`} style={width ? { width: `${width}rem` } : undefined} aria-sort={here ? (down ? 'descending' : 'ascending') : undefined}>
        {sort && by ? <button type="button" className="quiet sort" onClick={() => { sort.set(here && !down ? `-${by}` : here ? by : /At$/.test(by) && !/DueAt$/.test(by) ? `-${by}` : by); }}>{says}{here && <span aria-hidden>{down ? ' ↓' : ' ↑'}</span>}</button> : says}
      </th>
    );
  };
  const shown = beside?.id;
  const soon = useRef<ReturnType<typeof setTimeout>>(undefined);
  const focused = (e: FocusEvent) => {
    const row = (e.target as HTMLElement).closest<HTMLElement>('[data-row]')?.dataset['row'];
    if (shown && row && row !== shown && (e.target as HTMLElement).matches('a.name')) { // not said
      clearTimeout(soon.current);
      soon.current = setTimeout(() => { beside.show(row); }, 120); // not each row that a key which is held goes over
    }
  };
  const pressed = (e: MouseEvent) => {
    const at = e.target as HTMLElement;
    const row = at.closest<HTMLElement>('tr[data-row]');
    const name = at.closest('a.name'); // not said
    if (!row || e.detail === 0 || e.metaKey || e.ctrlKey || e.shiftKey || (!name && at.closest('a, button, input, .c-pick'))) return; // not said
    if (!name) row.querySelector<HTMLElement>('a.name')?.focus(); // not said
    if (shown === undefined) return;
    e.preventDefault();
    clearTimeout(soon.current);
    beside?.show(row.dataset['row'] ?? '');
  };
  const wide = columns.reduce((n, c) => n + c.width, 14 + (picking ? 2.25 : 0) + (acts ? 2.75 : 0));
  return (
    <div className={`list${shown ? ' narrowed' : ''}`} onFocus={focused} onClickCapture={pressed}>
      <table aria-label={label} style={shown ? undefined : { minWidth: `${wide}rem` }}>
        <thead>
          <tr>
            {picking && <th scope="col" className="c-pick"><input type="checkbox" aria-label={t('Select all')} checked={all.length > 0 && all.every((r) => picking.picked.has(r.id))} onChange={(e) => { picking.pickAll(e.target.checked); }} /></th>}
            {columns.map((c) => c.id === 'number' && head(c.id, <><span aria-hidden>{c.head}</span><span className="hidden">{c.label}</span></>, c.sort, c.width))}
            {head('title', t('Title'), 'title')}
            {columns.map((c) => c.id !== 'number' && head(c.id, c.label, c.sort, c.width))}
            {acts && <th scope="col" className="c-verbs"><span className="hidden">{t('Actions')}</span></th>}
          </tr>
        </thead>
        <tbody>
          {all.map((r) => (
            <Line
              key={r.id} request={r} columns={columns} from={from} note={note?.(r)} left={left?.(r) ?? false} peeked={r.id === shown}
              picked={picking?.picked.has(r.id) ?? false} pick={picking?.pick} verbs={acts && <span className="on-row">{first?.(r)}<RowMenu request={r} acts={acts} /></span>}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}
