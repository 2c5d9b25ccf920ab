import { Link } from '@tanstack/react-router';
import { locale, t } from '../../app/text';
import { Chart, type Series } from '../../ui/chart';
import { csv, download } from '../../ui/csv';
import { Section } from '../../ui/page';
import { figure, type Cell } from './table';

const short = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' });

// dayName is how an axis calls a day or a week.
export const dayName = (key: string) => short.format(new Date(`${key}T12:00:00Z`));

interface FiguredProps { title: string; file: string; heads: string[]; keys: string[]; body: Cell[][]; leads: (object | undefined)[][]; series: Series[]; bars?: boolean; intro?: string; timed?: boolean }

// Figured is a chart with its table folded below it, and both as a file. The first column of the table says what a row is of; a figure
// leads to the requests that it counts, where the list can show them.
export function Figured({ title, file, heads, keys, body, leads, series, bars, intro, timed }: FiguredProps) {
  const rows = body.map((cells, n) => ({ cells, to: leads[n] ?? [] }));
  if (timed) rows.reverse(); // the newest first, as people look for it
  return (
    <Section title={title} intro={intro} actions={<button type="button" className="plain small" aria-label={t('Export CSV of {title}', { title })} onClick={() => { download(`${file}.csv`, csv([heads, ...body])); }}>{t('Export CSV')}</button>}>
      <div className="card figure">
        <Chart label={title} keys={keys} series={series} {...(bars ? { bars } : {})} />
        <details>
          <summary>{t('Table')}</summary>
          <div className="table-wrap" tabIndex={0} role="group" aria-label={t('{title}, as a table', { title })}>
            <table className={timed ? 'timed' : undefined}>
              <thead><tr>{heads.map((h, i) => <th key={h} scope="col" className={i > 0 ? 'num' : ''}>{h}</th>)}</tr></thead>
              <tbody>{rows.map(({ cells, to }, n) => <tr key={n}>{cells.map((c, i) => <td key={i} className={i > 0 ? 'num' : ''}>{i > 0 ? <Figure value={c} to={to[i - 1]} /> : c}</td>)}</tr>)}</tbody>
            </table>
          </div>
        </details>
      </div>
    </Section>
  );
}

function Figure({ value, to }: { value: Cell; to: object | undefined }) {
  if (value === '') return <>–</>; // not said
  const says = typeof value === 'number' ? value.toLocaleString(locale) : value;
  return to && value !== 0 ? <Link to="/app/requests" search={to as never}>{says}</Link> : <>{says}</>;
}

// A Column leads to a list of requests by the filters of its address.
type Column<F> = [name: string, tone: Series['tone'] | null, value: (f: F) => Cell, lead?: (f: F) => object | undefined];
const leadsOf = <F,>(list: F[], columns: Column<F>[]) => list.map((f) => columns.map(([, , , lead]) => lead?.(f)));

interface GroupedProps<F> { title: string; file: string; head: string; list: F[]; name: (f: F) => string; columns: Column<F>[] }

// Grouped is of services, teams, webhooks or agents: the chart shows twelve, and of their columns those with a tone.
export function Grouped<F>({ title, file, head, list, name, columns }: GroupedProps<F>) {
  const shown = list.slice(0, 12);
  if (shown.length === 0) return null;
  return (
    <Figured bars title={title} file={file} heads={[head, ...columns.map(([n]) => n)]} keys={shown.map(name)} body={list.map((f) => [name(f), ...columns.map(([, , v]) => v(f))])} leads={leadsOf(list, columns)}
      series={columns.flatMap(([n, tone, v]) => (tone ? [{ name: n, tone, values: shown.map((f) => figure(v(f))) }] : []))} />
  );
}

// Timed is of days or weeks, of which those without figures are there too.
export function Timed<F extends { key: string }>({ list, when, columns, ...rest }: Omit<GroupedProps<F>, 'head' | 'name'> & { when: string; bars?: boolean; intro?: string }) {
  return (
    <Figured {...rest} timed heads={[when, ...columns.map(([n]) => n)]} keys={list.map((f) => dayName(f.key))} body={list.map((f) => [f.key, ...columns.map(([, , v]) => v(f))])} leads={leadsOf(list, columns)}
      series={columns.flatMap(([n, tone, v]) => (tone ? [{ name: n, tone, values: list.map((f) => figure(v(f))) }] : []))} />
  );
}
