// when are the fields that say when a schedule runs, with its next times beside them.
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { useRead } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { CalendarDays } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { ScheduleMissed, ScheduleOnClosed, ScheduleUnit } from '../../gen/types';
import { Choices, useCalendarChoices } from '../../parts/choices';
import { closedWord, cronOf, everyOfCron, missedWord, unitWord, whenSaid } from '../../parts/schedulewords';
import { dayName, days } from '../../ui/days';
import { Check, Field, faultAt, faultBelow } from '../../ui/field';
import { zonesWith } from '../../ui/zone';
import { everyOf, timesOf, type Plan } from './plan';
import { skippedSaid } from './skipped';
import { NextTimes, type Next } from './times';

export interface FieldsProps { plan: Plan; set: (changed: Partial<Plan>) => void; fault: Fault | null }

// whenFields are the fields of a refusal that are said here.
export const whenFields = ['cron', 'every', 'every.unit', 'every.at', 'every.weekdays', 'every.day', 'timeZone', 'calendarId', 'onClosed', 'missed'];

// saidOf is how often a plan says, in words.
export const saidOf = (p: Plan): string => whenSaid(p.byCron ? { cron: p.cron.trim() } : { every: everyOf(p) });

export function When({ plan: p, set, fault, next }: FieldsProps & { next: Next }) {
  const calendars = useCalendarChoices();
  const reads = useCan('calendar.read');
  const free = p.calendarId !== '';
  const skips = useSkips(p.calendarId);
  return (
    <div className="card pad schedule-when">
      <div className="stack">
        {p.byCron ? <Cron plan={p} set={set} fault={fault} /> : <Repeats plan={p} set={set} fault={fault} />}
        <Field label={t('Time zone')} hint={t('Times follow the local clock there, including daylight saving time.')} fault={faultAt(fault, 'timeZone')}>
          <select value={p.timeZone} onChange={(e) => { set({ timeZone: e.target.value }); }}>{zonesWith(p.timeZone).map((z) => <option key={z} value={z}>{z}</option>)}</select>
        </Field>
        {(reads || free) && (
          <div className="pair">
            <Field label={t('Working days')} hint={free ? skips && <>{skips} <Link to="/app/calendars" search={{ open: p.calendarId } as never}>{t('Open the calendar')}</Link></> : t('Choose a calendar to keep to its working days.')} fault={faultAt(fault, 'calendarId')}>
              <select value={p.calendarId} onChange={(e) => { set({ calendarId: e.target.value }); }}><option value="">{t('All days')}</option><Choices of={calendars} now={free ? { id: p.calendarId, name: '…' } : null} /></select>
            </Field>
            {free && (
              <Field label={t('On a non-working day')} fault={faultAt(fault, 'onClosed')}>
                <select value={p.onClosed} onChange={(e) => { set({ onClosed: e.target.value as ScheduleOnClosed }); }}>{Object.entries(closedWord).map(([v, says]) => <option key={v} value={v}>{says}</option>)}</select>
              </Field>
            )}
          </div>
        )}
      </div>
      <div className="schedule-next" role="group" aria-label={t('When it runs next')}>
        <p role="status"><strong>{timesOf(p) ? saidOf(p) : t('When it runs next')}</strong></p>
        <NextTimes next={next} zone={p.timeZone} lacks={lacks(p)} />
      </div>
      <div className="stack">
        <Field label={t('If a run is missed')} hint={t('Such as while the server is being updated.')} fault={faultAt(fault, 'missed')}>
          <select value={p.missed} onChange={(e) => { set({ missed: e.target.value as ScheduleMissed }); }}>{enums.ScheduleMissed.map((m) => <option key={m} value={m}>{missedWord[m]}</option>)}</select>
        </Field>
        <details open={p.byCron || undefined}>
          <summary>{t('Advanced')}</summary>
          <Check
            label={t('Write a cron expression')} checked={p.byCron} hint={t('For what cannot be chosen, such as the first day of each quarter.')}
            set={(byCron) => { set(byCron ? { byCron, cron: p.cron || cronOf(everyOf(p)) } : { byCron, ...everyOfCron(p.cron) } as Partial<Plan>); }}
          />
        </details>
      </div>
    </div>
  );
}

// useSkips is what a calendar without holidays skips; '' for others.
function useSkips(id: string): string {
  const node = useRead(CalendarDays, { id }, id === '').data?.node;
  return node && 'workingHours' in node ? skippedSaid(node) : '';
}

const lacks = (p: Plan): string | undefined => (timesOf(p) ? undefined : p.byCron ? t('Write an expression to see the next times.') : p.at === '' ? t('Choose a time to see the next times.') : t('Choose a day to see the next times.'));

// Repeats say how often in plain words.
function Repeats({ plan: p, set, fault }: FieldsProps) {
  const id = useId();
  const faulty = faultBelow(fault, 'every.weekdays');
  return (
    <>
      <div className="pair">
        <Field label={t('Repeats')} fault={faultAt(fault, 'every', 'every.unit')}>
          <select value={p.unit} onChange={(e) => { set({ unit: e.target.value as ScheduleUnit }); }}>{enums.ScheduleUnit.map((u) => <option key={u} value={u}>{unitWord[u]}</option>)}</select>
        </Field>
        {p.unit === 'MONTH' && (
          <Field label={t('On day')} hint={p.day > 28 ? t('In shorter months on their last day.') : undefined} fault={faultAt(fault, 'every.day')}>
            <select value={p.day} onChange={(e) => { set({ day: Number(e.target.value) }); }}>{Array.from({ length: 31 }, (_, i) => <option key={i} value={i + 1}>{i + 1}</option>)}</select>
          </Field>
        )}
        {p.unit === 'HOUR' ? (
          <Field label={t('Minutes past the hour')} fault={faultAt(fault, 'every.at')}>
            <input type="number" min={0} max={59} value={p.at === '' ? '' : Number(p.at.slice(3))} onChange={(e) => { set({ at: minuteOf(p.at, e.target.value) }); }} />
          </Field>
        ) : <Field label={t('Time of day')} fault={faultAt(fault, 'every.at')}><input type="time" value={p.at} onChange={(e) => { set({ at: e.target.value }); }} /></Field>}
      </div>
      {p.unit === 'WEEK' && (
        <fieldset aria-describedby={faulty ? `${id}f` : undefined}>
          <legend>{t('On these days')}</legend>
          <div className="schedule-days">
            {days.map((d) => (
              <label key={d}>
                <input
                  type="checkbox" aria-label={dayName(d)} aria-invalid={faulty ? true : undefined} checked={p.weekdays.includes(d)}
                  onChange={(e) => { set({ weekdays: e.target.checked ? [...p.weekdays, d] : p.weekdays.filter((x) => x !== d) }); }}
                />
                <span aria-hidden>{dayName(d, 'short')}</span>
              </label>
            ))}
          </div>
          {faulty && <p className="fault" id={`${id}f`}>{faulty}</p>}
        </fieldset>
      )}
    </>
  );
}

// minuteOf is a time of day with other minutes; none where no minute was written.
const minuteOf = (at: string, minute: string) => (minute === '' || Number(minute) > 59 || Number(minute) < 0 ? '' : `${at.slice(0, 2) || '00'}:${String(Math.trunc(Number(minute))).padStart(2, '0')}`);

function Cron({ plan: p, set, fault }: FieldsProps) {
  return (
    <Field label={t('Cron expression')} hint={t('Five fields: minute, hour, day of the month, month, day of the week.')} fault={faultAt(fault, 'cron')}>
      <input className="mono" spellCheck={false} autoCapitalize="none" autoComplete="off" placeholder={'0 9 * * MON'} value={p.cron} onChange={(e) => { set({ cron: e.target.value }); }} />
    </Field>
  );
}
