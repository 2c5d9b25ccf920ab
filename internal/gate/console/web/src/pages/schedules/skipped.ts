// skipped are the days that a calendar takes out of a schedule, in words.
import { locale, t } from '../../app/text';
import { dayName, days, type Day } from '../../ui/days';

type Hours = readonly unknown[];
export interface Calendar { holidays: readonly unknown[]; exceptions: readonly { hours: Hours }[]; workingHours?: Partial<Record<Day, Hours>> | null | undefined }

// skippedSaid says which days a calendar skips if none of them is a holiday; '' for one that lists some.
export function skippedSaid({ holidays, exceptions, workingHours }: Calendar): string {
  if (holidays.length > 0 || exceptions.some((e) => e.hours.length === 0)) return '';
  const closed = workingHours ? days.filter((d) => workingHours[d]?.length === 0) : [];
  if (closed.length === 0) return t('This calendar has no holidays and every day is a working day: it skips nothing.');
  return t('This calendar has no holidays: it skips {days} alone.', { days: new Intl.ListFormat(locale).format(closed.map((d) => dayName(d))) });
}
