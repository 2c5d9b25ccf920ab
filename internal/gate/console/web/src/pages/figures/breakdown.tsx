import { Link } from '@tanstack/react-router';
import { t } from '../../app/text';
import type { ReportBy } from '../../gen/types';
import { Section } from '../../ui/page';
import { Tabs } from '../../ui/tabs';
import { CsvOf, Folded } from './figured';
import { columnsOf } from './columns';
import { useNames } from './names';
import { counted, groupOf, groups, measures, ranked, said, type Figures, type List, type Measure, type ReportSearch } from './report';

const most = 12;

export interface Group { key: string | null; figures: Figures }

interface BreakdownProps { search: ReportSearch; set: (s: ReportSearch) => void; by: ReportBy; rows: Group[]; list: List }

// Breakdown tells the requests of a report apart by one thing, and shows one figure of each group.
export function Breakdown({ search, set, by, rows, list }: BreakdownProps) {
  const name = useNames(by);
  const key = search.measure && measures[search.measure] ? search.measure : 'filed';
  const measure = measures[key] as Measure;
  const shown = ranked(rows, measure).slice(0, most);
  const top = measure.kind === 'percent' ? 100 : measure.kind === 'stars' ? 5 : Math.max(1, ...shown.map((g) => measure.of(g.figures) ?? 0));
  const table = { title: t('Breakdown'), head: groups[by].says, list: rows, name: (g: Group) => name(g.key), columns: columnsOf<Group>((g) => g.figures, (g) => groupOf(list, by, g.key)) };
  return (
    <Section title={table.title} actions={<CsvOf file={`requests-by-${by}`} {...table} />}>
      <div className="card figure">
        <div className="breakdown-of">
          <Tabs label={t('Broken down by')} tabs={(Object.keys(groups) as ReportBy[]).map((b) => ({ label: groups[b].says, to: '/app/figures', search: { ...search, by: b }, current: b === by }))} />
          <select aria-label={t('Figure')} value={key} onChange={(e) => { set({ ...search, measure: e.target.value }); }}>
            {Object.entries(measures).map(([k, m]) => <option key={k} value={k}>{m.name}</option>)}
          </select>
        </div>
        <ol className="breakdown">{shown.map((g) => <Bar key={g.key ?? ''} name={name(g.key)} value={measure.of(g.figures)} of={measure} top={top} to={measure.list && groupOf(measure.list(list), by, g.key)} />)}</ol>
        {shown.length === 0 && <p className="soft">{t('There is nothing to break down.')}</p>}
        {rows.length > most && <p className="soft small-text">{t('These are {n} of {all}; the table has all of them.', { n: most, all: rows.length })}</p>}
        <Folded {...table} />
      </div>
    </Section>
  );
}

interface BarProps { name: string; value: number | null; of: Measure; top: number; to: List | undefined }

function Bar({ name, value, of: m, top, to }: BarProps) {
  const text = said(m.kind, value);
  return (
    <li>
      <span className="of" dir="auto" title={name}>{name}</span>
      <span className="track" aria-hidden><span style={{ inlineSize: `${((value ?? 0) / top) * 100}%` }} /></span>
      <span className="num">{to && counted(m, value) ? <Link to="/app/requests" search={to as never} aria-label={t('{name}: {value}, show the requests', { name, value: text })}>{text}</Link> : text}</span>
    </li>
  );
}
