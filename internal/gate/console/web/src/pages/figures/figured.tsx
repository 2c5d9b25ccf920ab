import { locale, t } from '../../app/text';
import { Chart, type Series } from '../../ui/chart';
import { csv, download } from '../../ui/csv';
import { Section } from '../../ui/page';
import { figure, type Cell } from './table';

const short = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' });

// dayName is how an axis calls a day or a week.
export const dayName = (key: string) => short.format(new Date(`${key}T12:00:00Z`));

interface FiguredProps { title: string; file: string; heads: string[]; keys: string[]; body: Cell[][]; series: Series[]; bars?: boolean; intro?: string; timed?: boolean }

// Figured is a chart with its table beside it, and both as a file. The first column of the table says what a row is of.
export function Figured({ title, file, heads, keys, body, series, bars, intro, timed }: FiguredProps) {
  const rows = timed ? body.toReversed() : body; // the newest first, as people look for it
  return (
    <Section title={title} intro={intro} actions={<button type="button" className="plain small" aria-label={t('Export CSV of {title}', { title })} onClick={() => { download(`${file}.csv`, csv([heads, ...body])); }}>{t('Export CSV')}</button>}>
      <div
        className={`card figures${heads.length > 5 ? ' many' : ''}`} // not said
      >
        <Chart label={title} keys={keys} series={series} {...(bars ? { bars } : {})} />
        <div className="table-wrap" tabIndex={0} role="group" aria-label={t('{title}, as a table', { title })}>
          <table className={timed ? 'timed' : undefined}>
            <thead><tr>{heads.map((h, i) => <th key={h} scope="col" className={i > 0 ? 'num' : ''}>{h}</th>)}</tr></thead>
            <tbody>{rows.map((r, n) => <tr key={n}>{r.map((c, i) => <td key={i} className={i > 0 ? 'num' : ''}>{c === '' ? '–' : typeof c === 'number' ? c.toLocaleString(locale) : c}</td>)}</tr>)}</tbody>
          </table>
        </div>
      </div>
    </Section>
  );
}

type Column<F> = [name: string, tone: Series['tone'] | null, value: (f: F) => Cell];

interface GroupedProps<F> { title: string; file: string; head: string; list: F[]; name: (f: F) => string; columns: Column<F>[] }

// Grouped is of services, teams, webhooks or agents: the chart shows twelve, and of their columns those with a tone.
export function Grouped<F>({ title, file, head, list, name, columns }: GroupedProps<F>) {
  const shown = list.slice(0, 12);
  if (shown.length === 0) return null;
  return (
    <Figured bars title={title} file={file} heads={[head, ...columns.map(([n]) => n)]} keys={shown.map(name)} body={list.map((f) => [name(f), ...columns.map(([, , v]) => v(f))])}
      series={columns.flatMap(([n, tone, v]) => (tone ? [{ name: n, tone, values: shown.map((f) => figure(v(f))) }] : []))} />
  );
}

// Timed is of days or weeks, of which those without figures are there too.
export function Timed<F extends { key: string }>({ list, when, columns, ...rest }: Omit<GroupedProps<F>, 'head' | 'name'> & { when: string; bars?: boolean; intro?: string }) {
  return (
    <Figured {...rest} timed heads={[when, ...columns.map(([n]) => n)]} keys={list.map((f) => dayName(f.key))} body={list.map((f) => [f.key, ...columns.map(([, , v]) => v(f))])}
      series={columns.flatMap(([n, tone, v]) => (tone ? [{ name: n, tone, values: list.map((f) => figure(v(f))) }] : []))} />
  );
}
