// moment reads and writes the moments until which a timer waits: a known one, at a time of its day where it is a date, and some time before
// or after it. Other expressions are none of these.
import { spanOf } from './duration';

export interface Moment {
  base: string; // the code of a known moment or date
  at: string; // HH:MM, of a date; '' for its first moment
  zone: string; // an IANA name, in which at counts
  shift: '' | '+' | '-';
  by: string; // a length of time such as 3d4h, with a shift
}

const day = 1440;

// minutesOf is a length of time in minutes; null for one with seconds, or none.
function minutesOf(text: string): number | null {
  const s = spanOf(text);
  return s && s.s === '' && text !== '' ? Number(s.d) * day + Number(s.h) * 60 + Number(s.m) : null;
}

// celOf writes minutes as CEL has lengths of time: 76h30m. It has no days.
const celOf = (n: number) => `duration('${[n >= 60 ? `${Math.floor(n / 60)}h` : '', n % 60 > 0 || n === 0 ? `${n % 60}m` : ''].join('')}')`;
const spanFor = (n: number) => [n >= day ? `${Math.floor(n / day)}d` : '', n % day >= 60 ? `${Math.floor((n % day) / 60)}h` : '', n % 60 > 0 ? `${n % 60}m` : ''].join('');
const clock = (at: string) => Number(at.slice(0, 2)) * 60 + Number(at.slice(3));

// writeMoment is the expression. isDate is whether its base is a date.
export function writeMoment(m: Moment, isDate: boolean): string {
  const shifted = m.shift ? minutesOf(m.by) : null;
  const by = shifted ? ` ${m.shift} ${celOf(shifted)}` : '';
  if (!isDate) return m.base + by;
  if (m.zone === 'UTC') return (m.at ? `timestamp(${m.base} + 'T${m.at}:00Z')` : by ? `date(${m.base})` : m.base) + by;
  return `date(${m.base}, '${m.zone}')${m.at ? ` + ${celOf(clock(m.at))}` : ''}${by}`;
}

const shift = String.raw`(?: ([+-]) duration\('(?:(\d{1,6})h)?(?:(\d{1,6})m)?'\))?`;
const ofDay = new RegExp(String.raw`^timestamp\((.+) \+ 'T(\d\d:\d\d):00Z'\)${shift}$`);
const inZone = new RegExp(String.raw`^date\((.+?)(?:, '([\w/+-]+)')?\)(?: \+ duration\('(?:(\d\d?)h)?(?:(\d\d?)m)?'\))??${shift}$`);
const plain = new RegExp(String.raw`^(.+?)${shift}$`);

// readMoment reads what writeMoment writes; null for any other expression. kind says what a known value is.
export function readMoment(code: string, kind: (code: string) => 'date' | 'moment' | null): Moment | null {
  for (const m of candidates(code)) {
    const is = kind(m.base);
    if (is && writeMoment(m, is === 'date') === code) return m;
  }
  return null;
}

function* candidates(code: string): Generator<Moment> {
  const shifted = (sign: string | undefined, h: string | undefined, m: string | undefined) => ({ shift: (sign ?? '') as Moment['shift'], by: sign ? spanFor(Number(h ?? 0) * 60 + Number(m ?? 0)) : '' });
  const two = (n: string | undefined) => (n ?? '0').padStart(2, '0');
  const a = ofDay.exec(code);
  if (a) yield { base: a[1] ?? '', at: a[2] ?? '', zone: 'UTC', ...shifted(a[3], a[4], a[5]) };
  const b = inZone.exec(code);
  if (b) {
    const timed = b[3] ?? b[4];
    const base = b[1] ?? '';
    if (b[2] && timed === undefined && b[5] === '+' && Number(b[6] ?? 0) < 24) yield { base, at: `${two(b[6])}:${two(b[7])}`, zone: b[2], shift: '', by: '' }; // one length alone is the time of the day
    yield { base, at: timed === undefined ? '' : `${two(b[3])}:${two(b[4])}`, zone: b[2] ?? 'UTC', ...shifted(b[5], b[6], b[7]) };
  }
  const c = plain.exec(code);
  if (c) yield { base: c[1] ?? '', at: '', zone: 'UTC', ...shifted(c[2], c[3], c[4]) };
}
