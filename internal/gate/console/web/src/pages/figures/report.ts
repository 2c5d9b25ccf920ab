// report holds what the figures of requests are, how they are said, how they compare, and which list has the requests behind them.
import { locale, plural, t } from '../../app/text';
import type { ReportBy, ReportFiguresFragment } from '../../gen/types';
import { queryOf } from '../../parts/query';
import { share } from './table';
import type { PeriodSearch, Span } from './period';

export type Figures = Omit<ReportFiguresFragment, '__typename'>;

// filters are what a report is filtered by, under the names that the list of requests has for them.
export const filters = ['teamId', 'assigneeId', 'serviceId', 'offeringId', 'organizationId', 'priority'] as const;
export type FilterName = (typeof filters)[number];

export interface ReportSearch extends PeriodSearch, Partial<Record<FilterName, string>> { by?: string; measure?: string }

// groups are what requests are told apart by, each with the filter that finds those of one group, and whether it finds those of none.
export const groups: Record<ReportBy, { field: FilterName; says: string; none: string; finds: boolean }> = {
  service: { field: 'serviceId', says: t('Service'), none: t('No service'), finds: false },
  offering: { field: 'offeringId', says: t('Offering'), none: t('No offering'), finds: false },
  team: { field: 'teamId', says: t('Team'), none: t('No team'), finds: true },
  assignee: { field: 'assigneeId', says: t('Assignee'), none: t('Nobody'), finds: true },
  organization: { field: 'organizationId', says: t('Organization'), none: t('No organization'), finds: true },
  priority: { field: 'priority', says: t('Priority'), none: t('None'), finds: false },
};

// mailQuery is what a report by mail keeps of the page's address: all but the time, which is the week before whenever one is mailed.
export const mailQuery = (search: ReportSearch): string => queryOf(Object.fromEntries([
  ...filters.map((name) => [name, (search[name] ?? '').split(',').filter(Boolean)] as const).filter(([, values]) => values.length > 0),
  ...(search.by && search.by in groups ? [['by', search.by] as const] : []),
]));

// mailSearch is the page's address of last week for such a query.
export function mailSearch(query: string): ReportSearch {
  const out: Record<string, string> = { period: 'last_week' };
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === 'by') out.by ??= value;
    else if ((filters as readonly string[]).includes(name)) out[name] = out[name] ? `${out[name]},${value}` : value;
  }
  return out;
}

// List is what stands in the address of a list of requests.
export type List = Record<string, string>;

// listOf is that of the requests that were submitted in a time and that the report's filters take.
export const listOf = (search: ReportSearch, within: Span): List => ({
  ...Object.fromEntries(filters.flatMap((name) => (search[name] ? [[name, search[name]]] : []))), createdAfter: within.from, createdBefore: within.to,
});

// groupOf is the part of such a list that one group has; undefined where no filter finds it.
export function groupOf(list: List, by: ReportBy, key: string | null): List | undefined {
  const { field, finds } = groups[by];
  return key === null && !finds ? undefined : { ...list, [field]: key ?? 'none' };
}

// A Narrow makes the list of what was submitted that of what is measured.
export type Narrow = (list: List) => List;

export const only = (by: List): Narrow => (list) => ({ ...list, ...by });

// ended has what was completed or cancelled in the time, whenever it was submitted.
export const ended = (what: 'completed' | 'cancelled'): Narrow => ({ createdAfter = '', createdBefore = '', ...rest }) => ({ ...rest, [`${what}After`]: createdAfter, [`${what}Before`]: createdBefore });

type Kind = 'count' | 'minutes' | 'percent' | 'stars';

// A Measure is one of the figures. `good` says of which direction one is glad; `worst` is the end at which one begins to look. There is no
// list for a measure without one.
export interface Measure { name: string; kind: Kind; of: (f: Figures) => number | null; good?: 'more' | 'less'; worst: 'high' | 'low'; list?: Narrow }

export const measures: Record<string, Measure> = {
  filed: { name: t('Submitted'), kind: 'count', of: (f) => f.filed, worst: 'high', list: only({}) },
  completed: { name: t('Completed'), kind: 'count', of: (f) => f.completed, worst: 'high', list: ended('completed') },
  open: { name: t('Still open'), kind: 'count', of: (f) => f.open, worst: 'high', list: only({ status: 'PENDING,IN_PROGRESS' }) }, // not said
  reopened: { name: t('Reopened'), kind: 'count', of: (f) => f.reopened, good: 'less', worst: 'high', list: only({ reopened: 'true' }) },
  firstResponse: { name: t('First response, median'), kind: 'minutes', of: (f) => f.firstResponseP50 ?? null, good: 'less', worst: 'high', list: only({}) },
  resolution: { name: t('Resolution, median'), kind: 'minutes', of: (f) => f.resolutionP50 ?? null, good: 'less', worst: 'high', list: only({ status: 'COMPLETED' }) },
  sla: { name: t('Service levels met'), kind: 'percent', of: (f) => { const n = share(f.slaMet, f.slaMet + f.slaMissed); return n === '' ? null : Number(n); }, good: 'more', worst: 'low', list: only({ slaState: 'MET,BREACHED' }) }, // not said
  satisfaction: { name: t('Satisfaction'), kind: 'stars', of: (f) => f.satisfaction ?? null, good: 'more', worst: 'low', list: only({ satisfaction: '1,2,3,4,5' }) },
};

const unit = (of: 'minute' | 'hour' | 'day', unitDisplay: 'short' | 'narrow' = 'short') => new Intl.NumberFormat(locale, { style: 'unit', unit: of, unitDisplay, maximumFractionDigits: 1 });
const tenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });

// lasted is a length of time of which the first two digits are read: 50 minutes, 3.5 hours, 2.1 days.
export const lasted = (minutes: number): string => (minutes < 120 ? unit('minute').format(minutes) : minutes < 2880 ? unit('hour').format(minutes / 60) : unit('day').format(minutes / 1440));

// said is a figure of a kind in words; – stands for none.
export function said(kind: Kind, n: number | null): string {
  if (n === null) return '–';
  return { count: () => n.toLocaleString(locale), minutes: () => lasted(n), percent: () => `${n} %`, stars: () => t('{n} of 5', { n: tenths.format(n) }) }[kind]();
}

// unitOf is what lengths of time are drawn in, so that the numbers beside the axis stay small.
export function unitOf(minutes: (number | null)[]): { size: number; says: (n: number) => string } {
  const most = Math.max(0, ...minutes.map((m) => m ?? 0));
  const [size, of] = most < 240 ? [1, 'minute' as const] : most < 5760 ? [60, 'hour' as const] : [1440, 'day' as const];
  const narrow = unit(of, 'narrow');
  return { size, says: (n) => narrow.format(n) };
}

// counted reports whether requests stand behind a figure: none do behind a count of 0, others have 0 minutes.
export const counted = ({ kind }: Measure, n: number | null): boolean => n !== null && (kind !== 'count' || n > 0);

export interface Change { up: number; says: string; tone: '' | 'good' | 'bad' }

// changeOf is how a figure differs from the one before; null where that cannot be said. Counts and lengths of time differ by percents,
// shares by points.
export function changeOf({ kind, of, good }: Measure, now: Figures, before: Figures): Change | null {
  const [a, b] = [of(now), of(before)];
  if (a === null || b === null) return null;
  const relative = kind === 'count' || kind === 'minutes';
  if (relative && b === 0 && a > 0) return null;
  const by = relative ? (b === 0 ? 0 : Math.round(((a - b) / b) * 100)) : kind === 'stars' ? Math.round(a * 10 - b * 10) / 10 : a - b;
  const n = Math.abs(by);
  const says = relative ? `${n.toLocaleString(locale)} %` : kind === 'stars' ? tenths.format(n) : plural(n, '{n} point', '{n} points');
  return { up: Math.sign(by), says, tone: by === 0 || !good ? '' : (by > 0) === (good === 'more') ? 'good' : 'bad' };
}

// ranked are the groups with the one at the top that one looks at first; those without the figure come last.
export function ranked<G extends { figures: Figures }>(rows: G[], { of, worst }: Measure): G[] {
  const by = (g: G) => of(g.figures) ?? (worst === 'high' ? -Infinity : Infinity);
  return rows.toSorted((a, b) => (by(a) === by(b) ? b.figures.filed - a.figures.filed : worst === 'high' ? by(b) - by(a) : by(a) - by(b)));
}
