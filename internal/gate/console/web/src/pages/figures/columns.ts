import { t } from '../../app/text';
import { share } from './table';
import type { Column } from './figured';
import type { Figures, List } from './report';

// columnsOf are all figures of a row, as its table and its file have them. `list` is where the requests that were submitted stand.
export function columnsOf<R>(of: (row: R) => Figures, list: (row: R) => List | undefined): Column<R>[] {
  const narrowed = (by: List) => (r: R) => { const all = list(r); return all && { ...all, ...by }; };
  const count = (name: string, n: (f: Figures) => number, by?: List): Column<R> => ({ name, value: (r) => n(of(r)), ...(by ? { lead: narrowed(by) } : {}) });
  const lasting = (name: string, n: (f: Figures) => number | null, by: List): Column<R> => ({ name, minutes: true, value: (r) => n(of(r)) ?? '', lead: narrowed(by) });
  return [
    count(t('Submitted'), (f) => f.filed, {}), count(t('Completed'), (f) => f.completed), count(t('Cancelled'), (f) => f.cancelled),
    count(t('Still open'), (f) => f.open, { status: 'PENDING,IN_PROGRESS' }), count(t('Reopened'), (f) => f.reopened), // not said
    lasting(t('First response, median'), (f) => f.firstResponseP50, {}), lasting(t('First response, 90th percentile'), (f) => f.firstResponseP90, {}),
    lasting(t('Resolution, median'), (f) => f.resolutionP50, { status: 'COMPLETED' }), lasting(t('Resolution, 90th percentile'), (f) => f.resolutionP90, { status: 'COMPLETED' }),
    count(t('Service levels met'), (f) => f.slaMet, { slaState: 'MET' }), count(t('Service levels missed'), (f) => f.slaMissed, { slaState: 'BREACHED' }), // not said
    { name: t('Service levels met (%)'), value: (r) => share(of(r).slaMet, of(r).slaMet + of(r).slaMissed) },
    count(t('Ratings'), (f) => f.ratings, { satisfaction: '1,2,3,4,5' }), { name: t('Satisfaction (1 to 5)'), value: (r) => of(r).satisfaction ?? '', digits: 1 },
  ];
}
