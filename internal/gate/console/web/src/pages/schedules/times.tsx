// times are the moments at which a schedule runs next, on the clocks of its zone, and of the person's where they show another time.
import { useEffect, useRef } from 'react';
import { useRead } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useSettled } from '../../app/settled';
import { locale, plural, t } from '../../app/text';
import { ScheduleTimes } from '../../gen/documents';
import type { ScheduleTimesQueryVariables } from '../../gen/types';
import { fieldOf, here } from '../../ui/zone';

const formats = new Map<string, Intl.DateTimeFormat>();
function formatOf(zone: string): Intl.DateTimeFormat {
  const options = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: 'numeric', minute: '2-digit' } as const;
  let made = formats.get(zone);
  if (!made) {
    try {
      made = new Intl.DateTimeFormat(locale, { ...options, timeZone: zone });
    } catch { // a zone that the server knows and the browser does not
      made = new Intl.DateTimeFormat(locale, { ...options, timeZone: here });
    }
    formats.set(zone, made);
  }
  return made;
}

// plannedSaid is a moment with its day of the week, by the clocks of a zone.
export const plannedSaid = (at: string, zone = here): string => formatOf(zone).format(new Date(at));

const differs = (at: string, zone: string) => { try { return fieldOf(new Date(at), zone) !== fieldOf(new Date(at), here); } catch { return false; } };

// Planned is such a moment. Where the person's own clocks show another time then, that stands beside it.
export function Planned({ at, zone }: { at: string; zone: string }) {
  return <><time dateTime={at}>{plannedSaid(at, zone)}</time>{differs(at, zone) && <span className="soft small-text"> {t('{time} where you are', { time: plannedSaid(at) })}</span>}</>;
}

export interface Next { list: string[] | null; fault: Fault | null; behind: boolean }

// useTimes are the next times of what is being written, a moment after it was; null while none can be told.
export function useTimes(asked: ScheduleTimesQueryVariables | null): Next {
  const now = JSON.stringify(asked);
  const key = useSettled(now, 400);
  const variables = JSON.parse(key) as ScheduleTimesQueryVariables | null;
  const read = useRead(ScheduleTimes, variables ?? { timeZone: here }, variables === null);
  const shown = asked !== null && variables !== null;
  return { list: shown && !read.fault ? read.data?.scheduleTimes ?? null : null, fault: shown && key === now ? read.fault : null, behind: key !== now || read.behind };
}

// NextTimes lists them; `lacks` is what is missing before there are any.
export function NextTimes({ next, zone, lacks }: { next: Next; zone: string; lacks?: string | undefined }) {
  const { list, fault, behind } = next;
  if (lacks) return <p className="soft">{lacks}</p>;
  if (fault) return <p className="soft">{fault.code === 'validation_error' ? t('Correct what is marked to see the next times.') : fault.message}</p>;
  if (!list) return <p className="soft">{t('Loading…')}</p>;
  if (list.length === 0) return <p className="soft">{t('There is no such time.')}</p>;
  return <ol className="schedule-times" aria-busy={behind} aria-label={plural(list.length, 'The next {n} time', 'The next {n} times')}>{list.map((at) => <li key={at}><Planned at={at} zone={zone} /></li>)}</ol>;
}

const longest = 86_400_000; // browsers wait no longer than 24 days, and clocks may be set meanwhile

// useDue reads again when the first of some moments has come: a schedule then has another time, and a run. While the moment stands, as
// when nobody has come to run it yet, it does so again, later each time.
export function useDue(moments: readonly (string | null | undefined)[], again: () => void): void {
  const latest = useRef(again);
  latest.current = again;
  const first = moments.flatMap((m) => (m ? [m] : [])).toSorted((a, b) => new Date(a).getTime() - new Date(b).getTime())[0] ?? '';
  useEffect(() => {
    if (!first) return undefined;
    let tries = 0;
    let timer: ReturnType<typeof setTimeout>;
    const wait = () => {
      const left = new Date(first).getTime() - Date.now();
      timer = setTimeout(() => {
        if (Date.now() >= new Date(first).getTime()) { latest.current(); tries++; }
        wait();
      }, left > 0 ? Math.min(left + 1500, longest) : Math.min(60_000, 2000 * 2 ** tries));
    };
    wait();
    return () => { clearTimeout(timer); };
  }, [first]);
}
