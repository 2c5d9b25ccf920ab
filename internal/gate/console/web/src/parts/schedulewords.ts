// schedulewords say a schedule in plain words: how often, on closed days, and what came of it.
import { locale, plural, t } from '../app/text';
import type { ScheduleMissed, ScheduleOnClosed, ScheduleRunStatus, ScheduleUnit } from '../gen/types';
import { dayName, days, type Day } from '../ui/days';

interface Every { unit: ScheduleUnit; at: string; weekdays?: readonly string[] | null | undefined; day?: number | null | undefined }

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' });
const list = new Intl.ListFormat(locale, { type: 'conjunction' });

// clockSaid is a time of day, HH:MM, as people write it.
export const clockSaid = (at: string): string => (/^\d\d:\d\d$/.test(at) ? clock.format(new Date(`2024-01-01T${at}Z`)) : at);

const working = days.slice(0, 5).join();

// everySaid says how often, such as “Every Monday and Thursday at 9:00”.
export function everySaid(e: Every): string {
  const time = clockSaid(e.at);
  switch (e.unit) {
    case 'HOUR': {
      const n = Number(e.at.slice(3));
      return n ? plural(n, 'Every hour, {n} minute past the hour', 'Every hour, {n} minutes past the hour') : t('Every hour, on the hour');
    }
    case 'DAY': return t('Every day at {time}', { time });
    case 'MONTH': return (e.day ?? 1) > 28 ? t('Every month on day {day} at {time}, or on the last day of shorter months', { day: String(e.day), time }) : t('Every month on day {day} at {time}', { day: String(e.day ?? 1), time });
    case 'WEEK': {
      const chosen = days.filter((d) => e.weekdays?.includes(d));
      if (chosen.length === days.length) return t('Every day at {time}', { time });
      if (chosen.join() === working) return t('Monday to Friday at {time}', { time });
      return chosen.length === 0 ? t('Every week') : t('Every {days} at {time}', { days: list.format(chosen.map((d) => dayName(d))), time });
    }
  }
}

const two = (text: string) => text.padStart(2, '0');
const within = (text: string, max: number) => /^\d{1,2}$/.test(text) && Number(text) <= max;

// weekdaysOf reads the days of a cron expression, such as 1-5 or MON,WED; none where it says more than days.
function weekdaysOf(field: string): Day[] {
  const one = (text: string) => (/^[0-7]$/.test(text) ? (Number(text) + 6) % 7 : days.indexOf(text.toLowerCase() as Day));
  const found = new Set<Day>();
  for (const part of field.split(',')) {
    const [from = '', to = from, more] = part.split('-');
    const [a, b] = [one(from), one(to)];
    if (more !== undefined || a < 0 || b < a) return [];
    days.slice(a, b + 1).forEach((d) => found.add(d));
  }
  return days.filter((d) => found.has(d));
}

// everyOfCron is a cron expression that says no more than what can be chosen; null for any other one.
export function everyOfCron(cron: string): Every | null {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = cron.trim().split(/\s+/);
  if (rest.length > 0 || month !== '*' || !within(minute, 59)) return null;
  if (hour === '*') return day === '*' && weekday === '*' ? { unit: 'HOUR', at: `00:${two(minute)}` } : null;
  if (!within(hour, 23)) return null;
  const at = `${two(hour)}:${two(minute)}`;
  if (day !== '*') return weekday === '*' && within(day, 28) && Number(day) > 0 ? { unit: 'MONTH', at, day: Number(day) } : null; // months without a later day differ
  if (weekday === '*') return { unit: 'DAY', at };
  const weekdays = weekdaysOf(weekday);
  return weekdays.length > 0 ? { unit: 'WEEK', at, weekdays } : null;
}

// cronOf is how often as a cron expression, to go on from; the last day of a month has none.
export function cronOf(e: Every): string {
  const [hour, minute] = [Number(e.at.slice(0, 2)) || 0, Number(e.at.slice(3)) || 0];
  const chosen = days.flatMap((d, i) => (e.weekdays?.includes(d) ? [(i + 1) % 7] : [])).toSorted((a, b) => a - b).join(',');
  return [minute, e.unit === 'HOUR' ? '*' : hour, e.unit === 'MONTH' ? e.day ?? 1 : '*', '*', e.unit === 'WEEK' ? chosen || '*' : '*'].join(' ');
}

// whenSaid says how often a schedule runs, in words where that can be.
export function whenSaid(s: { cron?: string | null | undefined; every?: Every | null | undefined }): string {
  const every = s.every ?? (s.cron ? everyOfCron(s.cron) : null);
  return every ? everySaid(every) : t('By the cron expression {cron}', { cron: s.cron ?? '' });
}

export const unitWord: Record<ScheduleUnit, string> = { HOUR: t('Every hour'), DAY: t('Every day'), WEEK: t('Every week'), MONTH: t('Every month') };

export const closedWord: Record<ScheduleOnClosed, string> = { NEXT_WORKING_DAY: t('Run on the next working day'), SKIP: t('Skip it') };

export const missedWord: Record<ScheduleMissed, string> = { ONCE: t('Catch up with one run'), SKIP: t('Skip it') };

export const statusWord: Record<ScheduleRunStatus, string> = { STARTED: t('run|Done'), SKIPPED: t('run|Skipped'), FAILED: t('Failed') };

// statusTone is how the chip of a status looks: as the badge of this value.
export const statusTone: Record<ScheduleRunStatus, string> = { STARTED: 'active', SKIPPED: 'off', FAILED: 'FAILED' };

// sentences are the reasons that the server gives, which are English, in the language of the page.
export const sentences: Record<string, string> = {
  'It was missed: no server ran at that time.': t('It was missed: no server ran at that time.'), // not said
  'Whoever saved the schedule last was deactivated.': t('Whoever saved the schedule last was deactivated. It runs again once somebody else saves it.'), // not said
  'The workflow is not active.': t('The workflow is not active.'), // not said
  'The offering takes no requests: it is not active.': t('The offering takes no requests: it is not active.'), // not said
  'The service takes no requests: it is not active.': t('The service takes no requests: it is not active.'), // not said
};

// reasonSaid is why nothing came of a planned time, in the language of the page.
export function reasonSaid(reason: string): string {
  return /^fields\./.test(reason) ? t('The answers do not fit the offering’s form any more: {error}', { error: reason.slice('fields.'.length) }) : sentences[reason] ?? reason;
}
