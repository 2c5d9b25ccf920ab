// times are the moments at which a schedule runs next, on the clocks of its zone, and of the person's where they show another time.
import { useEffect, useRef } from 'react';
import { useRead } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useSettled } from '../../app/settled';
import { locale, plural, t } from '../../app/text';
import { ScheduleTimes } from '../../gen/documents';
import type { ScheduleTimesQueryVariables } from '../../gen/types';
import { Time } from '../../ui/bits';
import { Skeleton } from '../../ui/states';
import { fieldOf, here, zonesWith } from '../../ui/zone';

// known is a zone that the browser knows, which may be fewer than the server does; else the person's.
const known = (zone: string) => (zonesWith('').includes(zone) ? zone : here);

// hour is as short as times of day are elsewhere: 9:00 AM, 09:00.
const hour = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions().hour12 ? 'numeric' : '2-digit';
const mine = new Intl.DateTimeFormat(locale, { weekday: 'short', hour, minute: '2-digit', timeZone: here });

const formats = new Map<string, Intl.DateTimeFormat>();

// plannedSaid is a moment with its day of the week, by the clocks of a zone. Its year is said where it is another one.
export function plannedSaid(at: string, zone = here): string {
  const year = at.slice(0, 4) === new Date().toISOString().slice(0, 4) ? undefined : 'numeric';
  const key = `${zone} ${year}`;
  const made = formats.get(key) ?? new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short', year, hour, minute: '2-digit', timeZone: zone });
  formats.set(key, made);
  return made.format(new Date(at));
}

const differs = (at: string, zone: string) => fieldOf(new Date(at), zone) !== fieldOf(new Date(at), here);

// Coming is when something runs next, on the person's clocks, and how long that is from now.
export function Coming({ at }: { at: string | null | undefined }) {
  return at ? <>{plannedSaid(at)} <span className="soft small-text">· <Time at={at} /></span></> : <span className="soft">{t('Never again')}</span>;
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

// NextTimes lists them, by the clocks of their zone, with the person's own time where that is another one; `lacks` is what is missing
// before there are any.
export function NextTimes({ next, zone, lacks }: { next: Next; zone: string; lacks?: string | undefined }) {
  const { list, fault, behind } = next;
  if (lacks) return <p className="soft">{lacks}</p>;
  if (fault) return <p className="soft">{fault.code === 'validation_error' ? t('Correct what is marked to see the next times.') : fault.message}</p>;
  if (!list) return <Skeleton rows={7} lines />;
  if (list.length === 0) return <p className="soft">{t('The schedule never runs.')}</p>;
  const away = list.some((at) => differs(at, known(zone)));
  return (
    <>
      {away && <p className="schedule-zones soft small-text" aria-hidden><span>{zone}</span><span>{t('Your time')}</span></p>}
      <ol className="schedule-times" aria-busy={behind} aria-label={plural(list.length, 'The next {n} time', 'The next {n} times')}>
        {list.map((at) => <li key={at}><time dateTime={at}>{plannedSaid(at, known(zone))}</time>{away && <span className="soft small-text"><span className="hidden">{t('Your time')} </span>{mine.format(new Date(at))}</span>}</li>)}
      </ol>
    </>
  );
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
