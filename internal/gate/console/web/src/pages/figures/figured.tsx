import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ReportStep } from '../../gen/types';
import { locale, t } from '../../app/text';
import { Chart, type Series } from '../../ui/chart';
import { csv, download } from '../../ui/csv';
import { Section } from '../../ui/page';
import { stepSaid } from './period';
import { lasted, unitOf } from './report';
import { figure, type Cell } from './table';

// A Column of a table is drawn in its chart as well where it has a tone. It leads to a list of requests by the filters of its address.
// Minutes are said as people say lengths of time; files have their number.
export interface Column<F> { name: string; tone?: Series['tone']; value: (f: F) => Cell; lead?: (f: F) => object | undefined; minutes?: boolean; digits?: number }

// A table of figures: the first cell of a row says what it is of.
interface TableProps<F> { title: string; head: string; list: F[]; name: (f: F) => string; columns: Column<F>[]; timed?: boolean }

// Folded is the table below a chart. The newest day stands at its top, as people look for it.
export function Folded<F>({ title, head, list, name, columns, timed }: TableProps<F>) {
  const rows = timed ? list.toReversed() : list;
  return (
    <details>
      <summary>{t('Table')}</summary>
      <div className="table-wrap" tabIndex={0} role="group" aria-label={t('{title}, as a table', { title })}>
        <table className={timed ? 'timed' : undefined}>
          <thead><tr><th scope="col">{head}</th>{columns.map((c) => <th key={c.name} scope="col" className="num">{c.name}</th>)}</tr></thead>
          <tbody>{rows.map((f, n) => <tr key={n}><td dir="auto">{name(f)}</td>{columns.map((c) => <td key={c.name} className="num"><Figure value={c.value(f)} to={c.lead?.(f)} says={c.minutes ? lasted : undefined} digits={c.digits} /></td>)}</tr>)}</tbody>
        </table>
      </div>
    </details>
  );
}

function Figure({ value, to, says, digits }: { value: Cell; to: object | undefined; says: ((n: number) => string) | undefined; digits: number | undefined }) {
  if (value === '') return <>–</>; // not said
  const text = typeof value === 'number' ? says?.(value) ?? value.toLocaleString(locale, { maximumFractionDigits: digits }) : value;
  return to && (says || value !== 0) ? <Link to="/app/requests" search={to as never}>{text}</Link> : <>{text}</>;
}

// CsvOf gives the table as a file.
export function CsvOf<F>({ title, file, head, list, name, columns }: TableProps<F> & { file: string }) {
  const heads = [head, ...columns.map((c) => (c.minutes ? t('{name} (minutes)', { name: c.name }) : c.name))];
  const body = () => list.map((f) => [name(f), ...columns.map((c) => { const v = c.value(f); return typeof v === 'number' ? Number(v.toFixed(c.digits ?? 2)) : v; })]);
  return <button type="button" className="plain small" aria-label={t('Export CSV of {title}', { title })} onClick={() => { download(`${file}.csv`, csv([heads, ...body()])); }}>{t('Export CSV')}</button>;
}

interface FiguredProps<F> extends TableProps<F> { file: string; bars?: boolean; intro?: ReactNode; shown: F[]; axis: (f: F) => string }

// Figured is a chart with its table folded below it, and both as a file.
function Figured<F>({ file, bars, intro, shown, axis, ...table }: FiguredProps<F>) {
  const navigate = useNavigate();
  const drawn = table.columns.filter((c) => c.tone);
  const unit = drawn.some((c) => c.minutes) ? unitOf(shown.flatMap((f) => drawn.map((c) => { const v = c.value(f); return v === '' ? null : Number(v); }))) : undefined;
  const series = drawn.map((c): Series => ({ name: c.name, tone: c.tone as Series['tone'], values: shown.map((f) => figure(c.value(f)) / (unit?.size ?? 1)) }));
  const lead = drawn.find((c) => c.lead)?.lead;
  const go = lead && ((i: number) => { const to = lead(shown[i] as F); if (to) void navigate({ to: '/app/requests', search: to as never }); });
  return (
    <Section title={table.title} intro={intro} actions={<CsvOf file={file} {...table} />}>
      <div className="card figure">
        <Chart label={table.title} keys={shown.map(axis)} series={series} {...(bars ? { bars } : {})} {...(unit ? { says: unit.says } : {})} {...(go ? { go } : {})} />
        <Folded {...table} />
      </div>
    </Section>
  );
}

type GroupedProps<F> = TableProps<F> & { file: string };

// Grouped is of webhooks or agents: the chart shows twelve.
export function Grouped<F>(props: GroupedProps<F>) {
  return props.list.length === 0 ? null : <Figured bars {...props} shown={props.list.slice(0, 12)} axis={props.name} />;
}

const heads: Record<ReportStep, string> = { day: t('Day'), week: t('Week'), month: t('Month') };

// Timed is of days, weeks or months, of which those without figures are there too.
export function Timed<F extends { key: string }>({ over, ...rest }: Omit<GroupedProps<F>, 'head' | 'name'> & { over: ReportStep; bars?: boolean; intro?: ReactNode }) {
  return <Figured {...rest} timed head={heads[over]} name={(f) => f.key} shown={rest.list} axis={(f) => stepSaid(f.key, over)} />;
}
