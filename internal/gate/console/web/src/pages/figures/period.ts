// period turns what stands in the address of the reports into days, and days into moments. Days are texts such as 2026-03-29.
import { locale, t, zone } from '../../app/text';
import { dayOf, startOf } from '../../ui/zone';
import type { ReportStep } from '../../gen/types';

const length = 86_400_000;
const noon = (day: string) => new Date(`${day}T12:00:00Z`);

export const plus = (day: string, n: number): string => new Date(noon(day).getTime() + n * length).toISOString().slice(0, 10);
const between = (first: string, last: string) => Math.round((noon(last).getTime() - noon(first).getTime()) / length);
const monday = (day: string) => plus(day, -((noon(day).getUTCDay() + 6) % 7));

// month is the first day of the month so many months away.
const month = (day: string, away = 0) => new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1 + away, 1)).toISOString().slice(0, 10);

// sameDay is the day of the same number so many months away, or the last one of a shorter month.
function sameDay(day: string, away: number): string {
  const [first, end] = [month(day, away), plus(month(day, away + 1), -1)];
  const wanted = first.slice(0, 8) + day.slice(8);
  return wanted < end ? wanted : end;
}

// Days are those of a period, both included.
export interface Days { first: string; last: string }

// periods are what people choose from, by the names that stand in the address: each with its days, and with those before it that it is
// compared with. What has begun and not ended is compared with as much of the one before.
export const periods: Record<string, { says: string; days: (today: string) => Days; before: (d: Days) => Days }> = {
  this_week: { says: t('This week'), days: (d) => ({ first: monday(d), last: d }), before: (d) => ({ first: plus(d.first, -7), last: plus(d.last, -7) }) },
  last_week: { says: t('Last week'), days: (d) => ({ first: plus(monday(d), -7), last: plus(monday(d), -1) }), before: (d) => ({ first: plus(d.first, -7), last: plus(d.last, -7) }) },
  this_month: { says: t('This month'), days: (d) => ({ first: month(d), last: d }), before: (d) => ({ first: month(d.first, -1), last: sameDay(d.last, -1) }) },
  last_month: { says: t('Last month'), days: (d) => ({ first: month(d, -1), last: plus(month(d), -1) }), before: (d) => ({ first: month(d.first, -1), last: plus(d.first, -1) }) },
  '7d': rolling(7), '30d': rolling(30), '90d': rolling(90),
  this_year: { says: t('This year'), days: (d) => ({ first: `${d.slice(0, 4)}-01-01`, last: d }), before: (d) => ({ first: month(d.first, -12), last: sameDay(d.last, -12) }) },
  last_year: { says: t('Last year'), days: (d) => ({ first: month(`${d.slice(0, 4)}-01-01`, -12), last: plus(`${d.slice(0, 4)}-01-01`, -1) }), before: (d) => ({ first: month(d.first, -12), last: plus(d.first, -1) }) },
};

// asLong are as many days as these, before them.
function asLong(d: Days): Days {
  return { first: plus(d.first, -between(d.first, d.last) - 1), last: plus(d.first, -1) };
}

function rolling(n: number) {
  return { says: t('The last {n} days', { n }), days: (today: string): Days => ({ first: plus(today, 1 - n), last: today }), before: asLong };
}

export const usual = '30d';

export interface PeriodSearch { period?: string; from?: string; to?: string }

// given is a day that stands in the address, where it is one.
const given = (day = '') => (/^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(noon(day).getTime()) && plus(day, 0) === day ? day : undefined);

// daysOf are the days of the period in an address, and those that it is compared with. Of days that somebody gives, one may be missing or
// come before the other.
export function daysOf(s: PeriodSearch, today: string): { days: Days; before: Days } {
  const [from, to] = [given(s.from), given(s.to)];
  if (s.period === 'custom' && (from ?? to)) {
    const [a, b] = [from ?? plus(to as string, -29), to ?? (today < (from as string) ? from as string : today)];
    const days = a < b ? { first: a, last: b } : { first: b, last: a };
    return { days, before: asLong(days) };
  }
  const of = periods[s.period ?? usual] ?? periods[usual]!;
  const days = of.days(today);
  return { days, before: of.before(days) };
}

// Span is a time between two moments, the second not included.
export interface Span { from: string; to: string }

export const spanOf = (d: Days, tz = zone): Span => ({ from: startOf(d.first, tz).toISOString(), to: startOf(plus(d.last, 1), tz).toISOString() });

// Time is what all figures of the page are of. `own` is the time before where it is not simply as long as this one. Of agents and
// deliveries the server counts days in UTC.
export interface Time { days: Days; before: Days; span: Span; own: Span | undefined; over: ReportStep; utc: Span & { over: 'day' | 'week' } }

export function timeOf(s: PeriodSearch, now: Date, tz = zone): Time {
  const { days, before } = daysOf(s, dayOf(now, tz));
  const many = between(days.first, days.last) + 1;
  const simple = asLong(days);
  return {
    days, before, span: spanOf(days, tz), own: simple.first === before.first && simple.last === before.last ? undefined : spanOf(before, tz),
    over: many <= 62 ? 'day' : many <= 190 ? 'week' : 'month',
    utc: { ...spanOf(days, 'UTC'), over: many <= 62 ? 'day' : 'week' },
  };
}

// longest is how many days of agents and deliveries the server counts at most.
export const tooLong = (d: Days) => between(d.first, d.last) >= 366;

// stepOf is the part of a time that a day, week or month of a report is of, by its first day.
export function stepOf(key: string, { days, over }: Pick<Time, 'days' | 'over'>, tz = zone): Span {
  const end = over === 'day' ? key : over === 'week' ? plus(key, 6) : plus(month(key, 1), -1);
  return spanOf({ first: key < days.first ? days.first : key, last: end > days.last ? days.last : end }, tz);
}

const range = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
export const daysSaid = (d: Days): string => range.formatRange(noon(d.first), noon(d.last));

const short = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const months = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' });

// stepSaid is how an axis calls a day, a week by its Monday, or a month.
export const stepSaid = (key: string, over: ReportStep): string => (over === 'month' ? months : short).format(noon(key));
