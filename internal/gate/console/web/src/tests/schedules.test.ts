// A schedule is said in plain words in each language, and its form sends what counts alone.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ScheduleMissed, ScheduleOnClosed, ScheduleRunStatus, ScheduleUnit } from '../gen/enums';
import { everyOf, inputOf, planOf, requestOf, timesOf, type Plan } from '../pages/schedules/plan';
import { skippedSaid, type Calendar } from '../pages/schedules/skipped';
import { closedWord, cronOf, everyOfCron, missedWord, reasonSaid, statusTone, statusWord, unitWord, whenSaid } from '../parts/schedulewords';

const all = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const cases = [
  [{ unit: 'HOUR', at: '00:00' }, 'Every hour, on the hour', 'Jede volle Stunde'],
  [{ unit: 'HOUR', at: '13:01' }, 'Every hour, 1 minute past the hour', 'Jede Stunde, 1 Minute nach der vollen'],
  [{ unit: 'HOUR', at: '00:15' }, 'Every hour, 15 minutes past the hour', 'Jede Stunde, 15 Minuten nach der vollen'],
  [{ unit: 'DAY', at: '07:30' }, 'Every day at 7:30 AM', 'Jeden Tag um 07:30 Uhr'],
  [{ unit: 'WEEK', at: '09:00', weekdays: ['mon'] }, 'Every Monday at 9:00 AM', 'Jeden Montag um 09:00 Uhr'],
  [{ unit: 'WEEK', at: '21:05', weekdays: ['wed', 'mon'] }, 'Every Monday and Wednesday at 9:05 PM', 'Jeden Montag und Mittwoch um 21:05 Uhr'],
  [{ unit: 'WEEK', at: '09:00', weekdays: ['sun', 'fri', 'tue'] }, 'Every Tuesday, Friday, and Sunday at 9:00 AM', 'Jeden Dienstag, Freitag und Sonntag um 09:00 Uhr'],
  [{ unit: 'WEEK', at: '09:00', weekdays: all.slice(0, 5) }, 'Monday to Friday at 9:00 AM', 'Montag bis Freitag um 09:00 Uhr'],
  [{ unit: 'WEEK', at: '09:00', weekdays: all }, 'Every day at 9:00 AM', 'Jeden Tag um 09:00 Uhr'],
  [{ unit: 'WEEK', at: '09:00', weekdays: null }, 'Every week', 'Jede Woche'],
  [{ unit: 'MONTH', at: '09:00', day: 1 }, 'Every month on day 1 at 9:00 AM', 'Jeden Monat am 1. um 09:00 Uhr'],
  [{ unit: 'MONTH', at: '09:00', day: 31 }, 'Every month on day 31 at 9:00 AM, or on the last day of shorter months', 'Jeden Monat am 31. um 09:00 Uhr, in kürzeren Monaten am letzten Tag'],
] as const;
const spaced = (text: string) => text.replace(/\s/g, ' ');

describe('how often a schedule runs', () => {
  afterEach(() => { vi.unstubAllGlobals(); vi.resetModules(); });

  it.each(cases)('is said in English: %o', (every, english) => { expect(spaced(whenSaid({ every }))).toBe(english); });
  it('is said in German', async () => {
    vi.stubGlobal('localStorage', { getItem: (k: string) => (k === 'language' ? 'de' : null), setItem: () => undefined, removeItem: () => undefined });
    vi.resetModules();
    const german = await import('../parts/schedulewords');
    for (const [every, , said] of cases) expect(spaced(german.whenSaid({ every }))).toBe(said);
    expect(german.whenSaid({ cron: '*/5 * * * *' })).toBe('Nach dem Cron-Ausdruck */5 * * * *');
  });
  it.each([
    ['0 9 * * 1', 'Every Monday at 9:00 AM'], ['30 7 * * MON-FRI', 'Monday to Friday at 7:30 AM'], ['0 9 * * 0,6', 'Every Saturday and Sunday at 9:00 AM'], ['0 9 * * 7', 'Every Sunday at 9:00 AM'],
    ['5 * * * *', 'Every hour, 5 minutes past the hour'], ['0 0 * * *', 'Every day at 12:00 AM'], ['0 9 15 * *', 'Every month on day 15 at 9:00 AM'],
  ])('is said of a cron expression that is as simple: %s', (cron, said) => { expect(spaced(whenSaid({ cron }))).toBe(said); });
  it.each(['*/5 * * * *', '0 9 31 * *', '0 9 1 * 1', '0 9 1 1 *', '0 9 * * 1#1', '0 9-17 * * *', '0 24 * * *', '60 9 * * *', '0 9 * * 5-1', '@daily', '0 0 9 * * 1', '0 9 0 * *', ''])('is the expression itself where it says more: %s', (cron) => {
    expect(everyOfCron(cron)).toBeNull();
    expect(whenSaid({ cron })).toBe(`By the cron expression ${cron}`);
  });
  it('comes back from a cron expression as it was chosen', () => {
    for (const [every] of cases) {
      if ('day' in every && every.day > 28) continue;
      if (!('weekdays' in every)) expect(everyOfCron(cronOf(every))).toEqual({ ...every, at: every.unit === 'HOUR' ? `00:${every.at.slice(3)}` : every.at });
      else if (every.weekdays) expect(everyOfCron(cronOf(every))).toEqual({ ...every, weekdays: all.filter((d) => (every.weekdays as readonly string[]).includes(d)) });
    }
  });
  it('has a word for each value', () => {
    expect([ScheduleUnit.map((v) => unitWord[v]), ScheduleOnClosed.map((v) => closedWord[v]), ScheduleMissed.map((v) => missedWord[v]), ScheduleRunStatus.flatMap((v) => [statusWord[v], statusTone[v]])].flat().every(Boolean)).toBe(true);
  });
});

describe('why nothing was done', () => {
  it('is said in words, and as the server says it where there are none', () => {
    expect(reasonSaid('It was missed: no server ran at that time.')).toBe('It was missed: no server ran at that time.');
    expect(reasonSaid('fields.model: Is required.')).toBe('The answers do not fit the offering’s form any more: model: Is required.');
    expect(reasonSaid('Something else.')).toBe('Something else.');
  });
});

describe('a plan', () => {
  const plan = (more: Partial<Plan> = {}): Plan => ({ ...planOf(null), timeZone: 'Europe/Berlin', offeringId: 'off_1', title: ' Check the backups ', ...more });
  const form = [{ key: 'model', type: 'text' }, { key: 'many', type: 'number' }];

  it('sends what counts for its unit alone, with the days in their order', () => {
    expect(everyOf(plan({ weekdays: ['wed', 'mon'], day: 3 }))).toEqual({ unit: 'WEEK', at: '09:00', weekdays: ['mon', 'wed'] });
    expect(everyOf(plan({ unit: 'MONTH', day: 31 }))).toEqual({ unit: 'MONTH', at: '09:00', day: 31 });
    expect(everyOf(plan({ unit: 'HOUR', at: '17:20' }))).toEqual({ unit: 'HOUR', at: '00:20' });
    expect(everyOf(plan({ unit: 'DAY' }))).toEqual({ unit: 'DAY', at: '09:00' });
  });
  it('asks for its times once it has some, and for free days with a calendar alone', () => {
    expect(timesOf(plan())).toEqual({ every: { unit: 'WEEK', at: '09:00', weekdays: ['mon'] }, timeZone: 'Europe/Berlin' });
    expect(timesOf(plan({ byCron: true, cron: ' 0 9 * * 1 ', calendarId: 'cal_1', onClosed: 'SKIP' }))).toEqual({ cron: '0 9 * * 1', timeZone: 'Europe/Berlin', calendarId: 'cal_1', onClosed: 'SKIP' });
    for (const more of [{ weekdays: [] }, { at: '' }, { byCron: true }] satisfies Partial<Plan>[]) expect(timesOf(plan(more))).toBeNull();
  });
  it('submits a request or starts a workflow, never both', () => {
    expect(inputOf(plan({ workflowId: 'wf_1', fields: { many: '3', other: 'x' } }), form, 'Check the backups')).toEqual({
      name: 'Check the backups', every: { unit: 'WEEK', at: '09:00', weekdays: ['mon'] }, timeZone: 'Europe/Berlin', calendarId: null, onClosed: 'NEXT_WORKING_DAY', missed: 'ONCE',
      offeringId: 'off_1', request: { title: 'Check the backups', priority: 'MEDIUM', fields: { many: 3 } },
    });
    const starts = inputOf(plan({ does: 'workflow', workflowId: 'wf_1', name: ' Nightly ' }), null, 'Reports');
    expect([starts.name, starts.workflowId, starts.offeringId, starts.request]).toEqual(['Nightly', 'wf_1', undefined, undefined]);
  });
  it('keeps what its form does not ask, and answers while the form is not known', () => {
    const was = { title: 'Old', description: 'Old', tags: { a: '1' }, fields: { model: 'x' }, teamId: 'team_1' };
    expect(requestOf(plan({ tags: 'a=1\nb=2', fields: { model: 'x' } }), null, was)).toEqual({ teamId: 'team_1', title: 'Check the backups', priority: 'MEDIUM', tags: { a: '1', b: '2' }, fields: { model: 'x' } });
  });
  it('is the schedule that it came from', () => {
    const row = { name: 'N', workflowId: null, offeringId: 'off_1', request: { title: 'T', priority: 'HIGH' as const, requesterId: 'usr_1', tags: { a: '1' }, fields: { model: 'x' } }, cron: null, every: { unit: 'MONTH' as const, at: '10:00', weekdays: null, day: 5 }, timeZone: 'UTC', calendarId: 'cal_1', onClosed: 'SKIP' as const, missed: 'SKIP' as const };
    expect(inputOf(planOf(row), null, '', row.request)).toEqual({ name: 'N', every: { unit: 'MONTH', at: '10:00', day: 5 }, timeZone: 'UTC', calendarId: 'cal_1', onClosed: 'SKIP', missed: 'SKIP', offeringId: 'off_1', request: row.request });
  });
});

describe('a calendar of a schedule', () => {
  const hours = (closed: string[]) => Object.fromEntries(all.map((d) => [d, closed.includes(d) ? [] : [{ from: '09:00' }]]));
  const of = (more: Partial<Calendar>): Calendar => ({ holidays: [], exceptions: [], workingHours: hours([]), ...more });
  it('says what it skips where it has no holidays', () => {
    expect(skippedSaid(of({}))).toBe('This calendar has no holidays and every day is a working day: it skips nothing.');
    expect(skippedSaid(of({ workingHours: null }))).toMatch(/skips nothing/);
    expect(skippedSaid(of({ workingHours: hours(['sat', 'sun']), exceptions: [{ hours: [{}] }] }))).toBe('This calendar has no holidays: it skips Saturday and Sunday alone.');
    expect(skippedSaid(of({ holidays: ['2026-12-25'] }))).toBe('');
    expect(skippedSaid(of({ exceptions: [{ hours: [] }] }))).toBe('');
  });
});
