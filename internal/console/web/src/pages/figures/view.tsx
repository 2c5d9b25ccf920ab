import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { rows, useRead } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { Figures } from '../../gen/documents';
import type { FigureFragment } from '../../gen/types';
import { Chart, type Series } from '../../ui/chart';
import { csv, download } from '../../ui/csv';
import { Field } from '../../ui/field';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { filled, span, type Cell } from './table';

const short = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

// FigureView is what people would rather look at than read: how much comes and goes, how long it takes, what is promised and kept.
export default function FigureView() {
  const { days = '30' } = useSearch({ strict: false }) as { days?: string };
  const navigate = useNavigate();
  const viewer = useViewer();
  const over = Number(days) > 60 ? 'week' as const : 'day' as const;
  const time = useMemo(() => span(Number(days), new Date()), [days]);
  const read = useRead(Figures, { from: time.from, to: time.to, over, workflows: can(viewer, 'team.read') });
  const name = (list: { id: string; name: string }[], id: string | null | undefined, none: string) => (id ? list.find((x) => x.id === id)?.name ?? id : none);
  return (
    <Page title="Figures" verb="request.update" above={<Link to="/app">← Home</Link>} intro="Of the requests that you may see.">
      <search className="filters">
        <Field label="Time"><select value={days} onChange={(e) => { void navigate({ to: '/app/figures', search: { days: e.target.value } as never, replace: true }); }}><option value="7">The last 7 days</option><option value="30">The last 30 days</option><option value="90">The last 90 days</option><option value="365">The last year</option></select></Field>
      </search>
      <Loaded read={read}>
        {(d) => {
          const list = filled(d.over, time.from, time.to, over);
          const keys = list.map((f) => short.format(new Date(`${f.key}T12:00:00Z`)));
          const services = rows(d.services);
          const teams = rows(d.teams);
          const when = over === 'week' ? 'Week' : 'Day';
          return list.every((f) => f.filed + f.finished + f.cancelled === 0) ? <Empty title="Nothing happened in this time" /> : (
            <>
              <Figured title="Filed and finished" file="filed" heads={[when, 'Filed', 'Finished', 'Cancelled']} keys={keys} body={list.map((f) => [f.key ?? '', f.filed, f.finished, f.cancelled])}
                series={[{ name: 'Filed', tone: 'accent', values: list.map((f) => f.filed) }, { name: 'Finished', tone: 'good', values: list.map((f) => f.finished) }]} />
              <Figured bars title="Minutes until the answer" file="answer" heads={[when, 'Half within', 'Nine of ten within']} keys={keys} body={list.map((f) => [f.key ?? '', f.answerP50 ?? '', f.answerP90 ?? ''])}
                series={[{ name: 'Half within', tone: 'accent', values: list.map((f) => f.answerP50 ?? 0) }, { name: 'Nine of ten within', tone: 'wait', values: list.map((f) => f.answerP90 ?? 0) }]} />
              <Figured bars title="Minutes until it is done" file="done" heads={[when, 'Half within', 'Nine of ten within']} keys={keys} body={list.map((f) => [f.key ?? '', f.completionP50 ?? '', f.completionP90 ?? ''])}
                series={[{ name: 'Half within', tone: 'accent', values: list.map((f) => f.completionP50 ?? 0) }, { name: 'Nine of ten within', tone: 'wait', values: list.map((f) => f.completionP90 ?? 0) }]} />
              <Grouped title="Service levels, by service" file="service-levels" head="Service" list={d.byService} name={(k) => name(services, k, 'None')} columns={[['Met', 'good', (f) => f.slaMet], ['Missed', 'bad', (f) => f.slaMissed]]} />
              <Grouped title="Load, by team" file="load" head="Team" list={d.byTeam} name={(k) => name(teams, k, 'No team')} columns={[['Filed', 'accent', (f) => f.filed], ['Still open', 'wait', (f) => f.open]]} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

interface FiguredProps { title: string; file: string; heads: string[]; keys: string[]; body: Cell[][]; series: Series[]; bars?: boolean }

function Figured({ title, file, heads, keys, body, series, bars }: FiguredProps) {
  return (
    <Section title={title} actions={<button type="button" className="plain small" onClick={() => { download(`${file}.csv`, csv([heads, ...body])); }}>Export CSV<span className="hidden"> of {title}</span></button>}>
      <div className="card figures">
        <Chart label={title} keys={keys} series={series} {...(bars ? { bars } : {})} />
        <div className="table-wrap" tabIndex={0} role="group" aria-label={`${title}, as a table`}>
          <table>
            <thead><tr>{heads.map((h, i) => <th key={h} scope="col" className={i > 0 ? 'num' : ''}>{h}</th>)}</tr></thead>
            <tbody>{body.map((r) => <tr key={String(r[0])}>{r.map((c, i) => <td key={i} className={i > 0 ? 'num' : ''}>{c === '' ? '–' : c}</td>)}</tr>)}</tbody>
          </table>
        </div>
      </div>
    </Section>
  );
}

interface GroupedProps { title: string; file: string; head: string; list: FigureFragment[]; name: (key: string | null | undefined) => string; columns: [string, Series['tone'], (f: FigureFragment) => number][] }

function Grouped({ title, file, head, list, name, columns }: GroupedProps) {
  const shown = list.slice(0, 12);
  if (shown.length === 0) return null;
  return (
    <Figured bars title={title} file={file} heads={[head, ...columns.map(([n]) => n)]} keys={shown.map((f) => name(f.key))} body={list.map((f) => [name(f.key), ...columns.map(([, , v]) => v(f))])}
      series={columns.map(([n, tone, v]) => ({ name: n, tone, values: shown.map(v) }))} />
  );
}
