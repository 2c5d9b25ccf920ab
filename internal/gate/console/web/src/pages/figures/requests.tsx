import { Link } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useRead } from '../../app/data';
import { t, zone } from '../../app/text';
import { Report } from '../../gen/documents';
import type { ReportBy, ReportQuery, RequestFilter } from '../../gen/types';
import { fetched } from '../../parts/fetched';
import { valuesOf } from '../../parts/filters';
import { queryOf } from '../../parts/query';
import { Loaded, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { ReportBar } from './bar';
import { Breakdown } from './breakdown';
import { Timed, type Column } from './figured';
import { MailWeekly } from './mailed';
import { daysSaid, stepOf, type Time } from './period';
import { ended, filters, groups, listOf, only, type Figures, type Narrow, type ReportSearch } from './report';
import { Tiles } from './tiles';

// here is the zone in which the page says all times: the person's, or else the browser's.
const here = zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;

interface Props { search: ReportSearch; set: (s: ReportSearch) => void; time: Time }

// RequestFigured is how requests came and went: in all, over time, and told apart by one thing.
export function RequestFigured({ search, set, time }: Props) {
  const by = (search.by && search.by in groups ? search.by : 'service') as ReportBy;
  const filter = JSON.stringify(Object.fromEntries(filters.map((name) => [name, valuesOf(search, name)]).filter(([, values]) => values?.length)));
  const variables = useMemo(() => ({
    ...time.span, over: time.over, timeZone: here, by: [by], filter: JSON.parse(filter) as RequestFilter,
    own: time.own !== undefined, beforeFrom: time.own?.from ?? time.span.from, beforeTo: time.own?.to ?? time.span.to,
  }), [time, by, filter]);
  const read = useRead(Report, variables);
  const of = read.data?.requestReport.timeZone ?? here;
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    await fetched(`/v1/reports/requests.csv?${queryOf({ ...variables.filter, ...time.span, over: time.over, timeZone: here, by: Object.keys(groups) })}`, `report-${time.days.first}-${time.days.last}.csv`);
    setBusy(false);
  };
  return (
    <>
      <ReportBar search={search} set={set} time={time}>
        <span className="display"><button type="button" className="plain small" disabled={busy} onClick={() => { void save(); }}><Download size={14} aria-hidden /> {t('Export all as CSV')}</button> <MailWeekly search={search} /></span>
      </ReportBar>
      <p className="report-of">{t('{days}, compared with {before}. Days are in the time zone {zone}.', { days: daysSaid(time.days), before: daysSaid(time.before), zone: of.replaceAll('_', ' ') })}</p>
      {read.data || read.fault ? <Loaded read={read}>{(d) => <Shown of={d} by={by} search={search} set={set} time={time} />}</Loaded> : <Coming />}
    </>
  );
}

// Coming stands where the report will be, and is as high.
const Coming = () => (
  <div className="skeleton" role="status" aria-label={t('Loading')}>
    <div className="totals">{Array.from({ length: 8 }, (_, i) => <div key={i} className="card total"><span className="w0 bar" /><span className="w2 bar" /></div>)}</div>
    <div className="charts">{Array.from({ length: 4 }, (_, i) => <div key={i} className="card figure coming" />)}</div>
  </div>
);

function Shown({ of: d, by, search, set, time }: Props & { of: ReportQuery; by: ReportBy }) {
  const { total, over, groups: told } = d.requestReport;
  const before = d.earlier?.total ?? d.requestReport.before ?? total;
  const list = listOf(search, time.span);
  const filtered = filters.some((n) => search[n]);
  const tiles = <Tiles now={total} before={before} list={list} />;
  if (total.filed + total.completed + total.cancelled === 0) {
    return (
      <>
        {tiles}
        <Section title={t('Requests')}><Empty title={t('No request was submitted or closed in this time')}>
          <p>{filtered ? <Link to="/app/figures" search={Object.fromEntries(Object.entries(search).filter(([k]) => !(filters as readonly string[]).includes(k))) as never} className="button plain">{t('Clear the filters')}</Link> : <Link to="/app/catalogue" className="button">{t('New request')}</Link>}</p>
        </Empty></Section>
      </>
    );
  }
  return (
    <>
      {tiles}
      <OverTime steps={over.map((s) => ({ ...s.figures, key: s.key ?? '' }))} search={search} time={time} />
      <Breakdown search={search} set={set} by={by} rows={told.find((g) => g.by === by)?.rows ?? []} list={list} />
    </>
  );
}

type Step = Figures & { key: string };

function OverTime({ steps, search, time }: { steps: Step[]; search: ReportSearch; time: Time }) {
  const list = (by: Narrow) => (s: Step) => by(listOf(search, stepOf(s.key, time)));
  const common = { list: steps, over: time.over };
  const lasting = (p50: (s: Step) => number | null, p90: (s: Step) => number | null, by: Narrow): Column<Step>[] => [
    { name: t('Median'), tone: 'accent', minutes: true, value: (s) => p50(s) ?? '', lead: list(by) }, { name: t('90th percentile'), tone: 'wait', minutes: true, value: (s) => p90(s) ?? '', lead: list(by) },
  ];
  return (
    <div className="charts">
      <Timed<Step> bars {...common} title={t('Submitted and completed')} file="requests" columns={[
        { name: t('Submitted'), tone: 'accent', value: (s) => s.filed, lead: list(only({})) }, { name: t('Completed'), tone: 'good', value: (s) => s.completed, lead: list(ended('completed')) }, { name: t('Cancelled'), value: (s) => s.cancelled, lead: list(ended('cancelled')) },
        { name: t('Still open'), value: (s) => s.open, lead: list(only({ status: 'PENDING,IN_PROGRESS' })) }, { name: t('Reopened'), value: (s) => s.reopened, lead: list(only({ reopened: 'true' })) }, // not said
      ]} />
      <Timed<Step> bars {...common} title={t('Service levels')} file="service-levels" columns={[
        { name: t('Met'), tone: 'good', value: (s) => (s.slaMet + s.slaMissed > 0 ? s.slaMet : ''), lead: list(only({ slaState: 'MET' })) }, { name: t('Missed'), tone: 'bad', value: (s) => (s.slaMet + s.slaMissed > 0 ? s.slaMissed : ''), lead: list(only({ slaState: 'BREACHED' })) }, // not said
      ]} />
      <Timed<Step> bars {...common} title={t('First response')} file="first-response" columns={lasting((s) => s.firstResponseP50, (s) => s.firstResponseP90, only({}))} />
      <Timed<Step> bars {...common} title={t('Resolution')} file="resolution" columns={lasting((s) => s.resolutionP50, (s) => s.resolutionP90, only({ status: 'COMPLETED' }))} />
      {steps.some((s) => s.ratings > 0) && <Timed<Step> {...common} bars title={t('Satisfaction (1 to 5)')} file="satisfaction" columns={[
        { name: t('Mean rating'), tone: 'accent', value: (s) => s.satisfaction ?? '', digits: 1, lead: list(only({ satisfaction: '1,2,3,4,5' })) }, { name: t('Ratings'), value: (s) => s.ratings },
      ]} />}
    </div>
  );
}
