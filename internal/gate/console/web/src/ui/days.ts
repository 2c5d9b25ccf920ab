// days are the days of a week by the API's names, and as people call them.
import { locale } from '../app/text';

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof days)[number];

export const dayName = (d: Day, weekday: 'long' | 'short' = 'long'): string => new Intl.DateTimeFormat(locale, { weekday, timeZone: 'UTC' }).format(new Date(Date.UTC(2024, 0, 1 + days.indexOf(d), 12)));
