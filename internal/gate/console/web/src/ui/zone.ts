// zone turns moments into what clocks show in the person's time zone, as fields for a date and a time hold it, and back.
import { zone } from '../app/text';

// here is the zone whose clocks the person reads.
export const here = zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;

let all: string[] | undefined;

// zonesWith are the zones that people choose from, and the one that was chosen before.
export function zonesWith(now: string): string[] {
  all ??= [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC'])];
  return now && !all.includes(now) ? [...all, now] : all;
}

const day = 86_400_000;
const clocks = new Map<string, Intl.DateTimeFormat>();

function clock(tz: string | undefined): Intl.DateTimeFormat {
  const key = tz ?? '';
  const made = clocks.get(key) ?? new Intl.DateTimeFormat('en-US', { timeZone: tz, calendar: 'gregory', hourCycle: 'h23', era: 'short', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' });
  clocks.set(key, made);
  return made;
}

// ahead is by how many milliseconds clocks are ahead of UTC at a moment.
function ahead(at: number, tz: string | undefined): number {
  const p = Object.fromEntries(clock(tz).formatToParts(at).map((x) => [x.type, Number(x.value)]));
  return Date.UTC(p['year'] ?? 0, (p['month'] ?? 1) - 1, p['day'], p['hour'], p['minute'], p['second']) - Math.floor(at / 1000) * 1000;
}

// fieldOf is what a field for a date and a time shows of a moment, such as 2026-03-29T09:00.
export const fieldOf = (at: Date, tz = zone): string => (Number.isNaN(at.getTime()) ? '' : new Date(at.getTime() + ahead(at.getTime(), tz)).toISOString().slice(0, 16));

// instantOf is the moment of what such a field holds; an invalid one for anything else. Of an hour that comes twice when clocks are put
// back it is the first, and of one that is left out when they are put forward, as much later as they are.
export function instantOf(text: string, tz = zone): Date {
  const wall = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text) ? Date.parse(`${text}Z`) : NaN;
  if (Number.isNaN(wall)) return new Date(NaN);
  const [before, after] = [ahead(wall - day, tz), ahead(wall + day, tz)];
  const fits = [before, after].find((by) => ahead(wall - by, tz) === by);
  return new Date(wall - (fits ?? before));
}

// dayOf is the day of a moment, as a field for a date holds it, and startOf the moment at which such a day begins.
export const dayOf = (at: Date, tz = zone): string => fieldOf(at, tz).slice(0, 10);
export const startOf = (date: string, tz = zone): Date => instantOf(`${date}T00:00`, tz);

// tomorrow is the next day at nine, as such a field holds it.
export const tomorrow = (now = new Date(), tz = zone): string => `${dayOf(new Date(startOf(dayOf(now, tz), tz).getTime() + 1.5 * day), tz)}T09:00`;
