import { t } from '../../app/text';
import { share } from './table';
import type { Column } from './figured';
import { ended, only, type Figures, type List, type Narrow } from './report';

// columnsOf are all figures of a row, as its table and its file have them. `list` is where the requests that were submitted stand.
export function columnsOf<R>(of: (row: R) => Figures, list: (row: R) => List | undefined): Column<R>[] {
  const narrowed = (by: Narrow) => (r: R) => { const all = list(r); return all && by(all); };
  const count = (name: string, n: (f: Figures) => number, by: Narrow): Column<R> => ({ name, value: (r) => n(of(r)), lead: narrowed(by) });
  const lasting = (name: string, n: (f: Figures) => number | null, by: Narrow): Column<R> => ({ name, minutes: true, value: (r) => n(of(r)) ?? '', lead: narrowed(by) });
  return [
    count(t('Submitted'), (f) => f.filed, only({})), count(t('Completed'), (f) => f.completed, ended('completed')), count(t('Cancelled'), (f) => f.cancelled, ended('cancelled')),
    count(t('Still open'), (f) => f.open, only({ status: 'PENDING,IN_PROGRESS' })), count(t('Reopened'), (f) => f.reopened, only({ reopened: 'true' })), // not said
    lasting(t('First response, median'), (f) => f.firstResponseP50, only({})), lasting(t('First response, 90th percentile'), (f) => f.firstResponseP90, only({})),
    lasting(t('Resolution, median'), (f) => f.resolutionP50, only({ status: 'COMPLETED' })), lasting(t('Resolution, 90th percentile'), (f) => f.resolutionP90, only({ status: 'COMPLETED' })),
    count(t('Service levels met'), (f) => f.slaMet, only({ slaState: 'MET' })), count(t('Service levels missed'), (f) => f.slaMissed, only({ slaState: 'BREACHED' })), // not said
    { name: t('Service levels met (%)'), value: (r) => share(of(r).slaMet, of(r).slaMet + of(r).slaMissed) },
    count(t('Ratings'), (f) => f.ratings, only({ satisfaction: '1,2,3,4,5' })), { name: t('Satisfaction (1 to 5)'), value: (r) => of(r).satisfaction ?? '', digits: 1 },
  ];
}
