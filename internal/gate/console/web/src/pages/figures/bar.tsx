// bar is what a report is of: its time and its filters, which stand in the address.
import { useEffect, useState, type ReactNode } from 'react';
import { t } from '../../app/text';
import { Chips, Values, chipSays, fieldLabels, useFieldOptions, type Opened } from '../../parts/filters';
import { useKeys } from '../../keys/registry';
import { periods, usual, type Time } from './period';
import { filters, type ReportSearch } from './report';

interface BarProps { search: ReportSearch; set: (s: ReportSearch) => void; time: Time; children?: ReactNode }

export function ReportBar({ search, set, time, children }: BarProps) {
  const [open, setOpen] = useState<Opened | null>(null);
  const options = useFieldOptions(search, open?.name ?? '');
  const label = (name: string) => fieldLabels[name as keyof typeof fieldLabels];
  useKeys([{ name: 'filter', keys: 'f', does: t('Filter'), group: t('Requests'), run: () => { globalThis.document.querySelector<HTMLElement>('.filter-button')?.click(); } }]);
  const { from: _from, to: _to, ...rest } = search;
  const custom = search.period === 'custom';
  const choose = (period: string) => { set(period === 'custom' ? { ...rest, period, from: time.days.first, to: time.days.last } : { ...rest, period }); };
  const days = (end: 'from' | 'to', day: string) => { set({ ...rest, period: 'custom', from: time.days.first, to: time.days.last, [end]: day }); };
  return (
    <search className="filter-bar">
      <select aria-label={t('Period')} value={custom ? 'custom' : periods[search.period ?? ''] ? search.period : usual} onChange={(e) => { choose(e.target.value); }}>
        {Object.entries(periods).map(([name, p]) => <option key={name} value={name}>{p.says}</option>)}
        <option value="custom">{t('From … to …')}</option>
      </select>
      {custom && <Day label={t('From')} value={time.days.first} max={time.days.last} set={(day) => { days('from', day); }} />}
      {custom && <Day label={t('Until')} value={time.days.last} min={time.days.first} set={(day) => { days('to', day); }} />}
      <Chips search={search} set={set} on={filters.filter((n) => search[n])} offered={[...filters]} label={label} says={(name, value) => chipSays(options(name), value)} open={open} setOpen={setOpen}>
        {(name) => <Values label={label(name)} name={name} options={options(name)} search={search} set={set} />}
      </Chips>
      {children}
    </search>
  );
}

interface DayProps { label: string; value: string; min?: string; max?: string; set: (day: string) => void }

// Day is one end of a period that somebody gives. While they type a year it is one of long ago, and does not count yet.
function Day({ label, value, set, ...limits }: DayProps) {
  const [text, setText] = useState(value);
  useEffect(() => { setText(value); }, [value]);
  return <input type="date" aria-label={label} value={text} {...limits} onChange={(e) => { setText(e.target.value); if (e.target.value > '1990') set(e.target.value); }} />;
}
