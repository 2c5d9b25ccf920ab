// columns are what a list of requests shows of each. Which ones stands in the address, and so in a saved view; without it, those that the
// person chose last on that page.
import { useState, type ReactNode } from 'react';
import { t } from '../../app/text';
import { Badge, Person, Priority, Time } from '../../ui/bits';
import { Check } from '../../ui/field';
import { Panel } from '../../ui/menu';
import type { RequestSearch, MayRow } from './search';
import { Due } from './row';

export interface Column { id: string; label: string; head?: string; width: number; sort?: string; cell: (r: MayRow) => ReactNode }

const chips = (tags: Record<string, string>) => Object.entries(tags).map(([k, v]) => <span key={k} className="chip" dir="auto">{v ? `${k}=${v}` : k}</span>);

// columns, but for the title, which always stands after the number. Widths are in rem.
export const columns: Column[] = [
  { id: 'number', label: t('Number'), head: '#', width: 3.75, cell: (r) => <span className="soft">#{r.number}</span> },
  { id: 'status', label: t('Status'), width: 7.25, sort: 'status', cell: (r) => <Badge value={r.status} /> },
  { id: 'priority', label: t('Priority'), width: 5.75, sort: 'priority', cell: (r) => <Priority value={r.priority} /> },
  { id: 'due', label: t('Due'), width: 6.75, sort: 'resolutionDueAt', cell: (r) => <Due request={r} /> },
  { id: 'service', label: t('Service'), width: 10, cell: (r) => <span className="soft" dir="auto" title={`${r.service?.name ?? ''} › ${r.offering?.name ?? ''}`}>{r.offering?.name}</span> },
  { id: 'requester', label: t('Requester'), width: 7.5, cell: (r) => <span dir="auto">{r.requester?.name}</span> },
  { id: 'assignee', label: t('Assignee'), width: 8.25, cell: (r) => <Person name={r.assignee?.name} /> },
  { id: 'team', label: t('Team'), width: 7, cell: (r) => <span dir="auto">{r.team?.name ?? <span className="soft">–</span>}</span> },
  { id: 'tags', label: t('Tags'), width: 9, cell: (r) => chips(r.tags as Record<string, string>) },
  { id: 'createdAt', label: t('Submitted'), width: 7, sort: 'createdAt', cell: (r) => <span className="soft"><Time at={r.createdAt} /></span> },
  { id: 'updatedAt', label: t('Changed'), width: 7, sort: 'updatedAt', cell: (r) => <span className="soft"><Time at={r.updatedAt} /></span> },
];

// usual are the columns of a page for which nobody has chosen any.
const usual = {
  requests: ['number', 'status', 'priority', 'due', 'assignee', 'createdAt'], inbox: ['number', 'priority', 'requester', 'team', 'due'], mine: ['number', 'service', 'status', 'updatedAt'],
};
export type ListName = keyof typeof usual;

// columnsOf returns the columns that a list shows, in their own order.
export function columnsOf(search: RequestSearch, list: ListName): Column[] {
  const wanted = search.columns?.split(',') ?? localStorage.getItem(`columns.${list}`)?.split(',') ?? usual[list];
  return columns.filter((c) => wanted.includes(c.id));
}

interface ChooserProps { search: RequestSearch; of: ListName; set: (s: RequestSearch) => void; children: ReactNode }

// Chooser is the button that opens the choice of columns.
export function Chooser({ search, of: list, set, children }: ChooserProps) {
  const [at, open] = useState<HTMLElement | null>(null);
  const now = columnsOf(search, list).map((c) => c.id);
  const choose = (id: string, on: boolean) => {
    const next = columns.map((c) => c.id).filter((c) => (c === id ? on : now.includes(c))).join(',') || 'number';
    localStorage.setItem(`columns.${list}`, next);
    set({ ...search, columns: next });
  };
  return (
    <>
      <button type="button" className="icon" aria-label={t('Columns')} title={t('Columns')} aria-haspopup="dialog" aria-expanded={at !== null} onClick={(e) => { open(at ? null : e.currentTarget); }}>{children}</button>
      {at && (
        <Panel label={t('Columns')} at={at} end close={() => { open(null); }}>
          <div className="options tall">{columns.map((c) => <Check key={c.id} label={c.label} checked={now.includes(c.id)} set={(on) => { choose(c.id, on); }} />)}</div>
        </Panel>
      )}
    </>
  );
}
