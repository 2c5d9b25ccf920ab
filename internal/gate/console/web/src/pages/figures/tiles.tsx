import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { locale, t } from '../../app/text';
import type { FigureFragment } from '../../gen/types';
import { median, share, type Cell } from './table';
import type { Time } from './view';

type Figure = Omit<FigureFragment, 'key' | '__typename'>;

// Totals are the figures of a whole time.
interface Totals { filed: number; finished: number; answer: number | null; completion: number | null; met: Cell; missed: number }

const sum = (list: Figure[], of: (f: Figure) => number) => list.reduce((n, f) => n + of(f), 0);

export function totals(list: Figure[]): Totals {
  const missed = sum(list, (f) => f.slaMissed);
  const met = sum(list, (f) => f.slaMet);
  return {
    filed: sum(list, (f) => f.filed), finished: sum(list, (f) => f.finished), missed, met: share(met, met + missed),
    answer: median(list.map((f) => [f.answerP50 ?? null, f.filed])), completion: median(list.map((f) => [f.completionP50 ?? null, f.filed])),
  };
}

const whole = (n: number) => n.toLocaleString(locale);
// Of a tile the first two digits are read: 50 minutes, 3.5 hours, 2.1 days.
const unit = (of: 'minute' | 'hour' | 'day') => new Intl.NumberFormat(locale, { style: 'unit', unit: of, unitDisplay: 'short', maximumFractionDigits: 1 });
const minutes = (n: number | null) => (n === null ? '–' : n < 120 ? unit('minute').format(n) : n < 2880 ? unit('hour').format(n / 60) : unit('day').format(n / 1440));
const percents = (c: Cell) => (c === '' ? '–' : `${c} %`);

interface Tile { name: string; value: string; was?: string; by?: number | null; good?: 'more' | 'less'; search?: object; more?: ReactNode }

// TotalTiles are what one looks at first: each beside what it was in the time before, and a way to the requests that it counts.
export function TotalTiles({ now, before, open, time }: { now: Totals; before: Totals | undefined; open: number | undefined; time: Time }) {
  const change = (a: number | null, b: number | null) => (a !== null && b !== null && b > 0 ? Math.round(((a - b) / b) * 100) : null);
  const within = { createdAfter: time.from, createdBefore: time.to };
  const tiles: Tile[] = [
    { name: t('Submitted'), value: whole(now.filed), search: within, ...(before ? { was: whole(before.filed), by: change(now.filed, before.filed) } : {}) },
    { name: t('Completed'), value: whole(now.finished), ...(before ? { was: whole(before.finished), by: change(now.finished, before.finished), good: 'more' as const } : {}) },
    { name: t('Open now'), value: open === undefined ? '–' : whole(open), search: { status: 'PENDING,IN_PROGRESS' } }, // not said
    { name: t('Median first response'), value: minutes(now.answer), ...(before ? { was: minutes(before.answer), by: change(now.answer, before.answer), good: 'less' as const } : {}) },
    { name: t('Median resolution'), value: minutes(now.completion), ...(before ? { was: minutes(before.completion), by: change(now.completion, before.completion), good: 'less' as const } : {}) },
    {
      name: t('SLA met'), value: percents(now.met), ...(before ? { was: percents(before.met) } : {}),
      more: now.missed > 0 && <Link to="/app/requests" search={{ ...within, slaState: 'BREACHED' } as never}>{t('{n} missed', { n: now.missed })}</Link>,
    },
  ];
  return <ul className="totals">{tiles.map((x) => <One key={x.name} of={x} />)}</ul>;
}

function One({ of: x }: { of: Tile }) {
  const tone = !x.by || !x.good ? '' : (x.by > 0) === (x.good === 'more') ? 'good' : 'bad';
  return (
    <li className="card total">
      <span className="soft">{x.name}</span>
      <strong>{x.search ? <Link to="/app/requests" search={x.search as never} aria-label={t('{name}: {value}, show the requests', { name: x.name, value: x.value })}>{x.value}</Link> : x.value}</strong>
      <span className="small-text soft">
        {x.by !== null && x.by !== undefined && <span className={`change ${tone}`}>{x.by > 0 ? `+${whole(x.by)} %` : `${whole(x.by)} %`}</span>} {x.was !== undefined && t('before: {value}', { value: x.was })}
      </span>
      {x.more && <span className="small-text">{x.more}</span>}
    </li>
  );
}
