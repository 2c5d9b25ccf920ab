import { describe, expect, it } from 'vitest';
import { daysOf, plus, spanOf, stepOf, timeOf, tooLong } from '../pages/figures/period';
import { changeOf, ended, groupOf, lasted, listOf, mailQuery, mailSearch, measures, ranked, said, unitOf, type Figures, type Measure } from '../pages/figures/report';

const of = (period: string, today: string) => { const { days, before } = daysOf({ period }, today); return [days.first, days.last, before.first, before.last].join(' '); };

describe('the days of a period, and those before', () => {
  it.each([
    ['this_week', '2026-11-30', '2026-11-30 2026-11-30 2026-11-23 2026-11-23'], ['this_week', '2026-12-02', '2026-11-30 2026-12-02 2026-11-23 2026-11-25'], ['this_week', '2026-11-29', '2026-11-23 2026-11-29 2026-11-16 2026-11-22'],
    ['last_week', '2026-11-30', '2026-11-23 2026-11-29 2026-11-16 2026-11-22'], ['last_week', '2027-01-01', '2026-12-21 2026-12-27 2026-12-14 2026-12-20'],
    ['this_month', '2026-03-31', '2026-03-01 2026-03-31 2026-02-01 2026-02-28'], ['this_month', '2026-03-10', '2026-03-01 2026-03-10 2026-02-01 2026-02-10'],
    ['last_month', '2026-11-30', '2026-10-01 2026-10-31 2026-09-01 2026-09-30'], ['last_month', '2026-03-31', '2026-02-01 2026-02-28 2026-01-01 2026-01-31'], ['last_month', '2026-01-15', '2025-12-01 2025-12-31 2025-11-01 2025-11-30'],
    ['7d', '2026-03-02', '2026-02-24 2026-03-02 2026-02-17 2026-02-23'], ['30d', '2026-01-01', '2025-12-03 2026-01-01 2025-11-03 2025-12-02'],
    ['this_year', '2028-02-29', '2028-01-01 2028-02-29 2027-01-01 2027-02-28'], ['last_year', '2026-11-30', '2025-01-01 2025-12-31 2024-01-01 2024-12-31'],
    ['nonsense', '2026-01-30', '2026-01-01 2026-01-30 2025-12-02 2025-12-31'],
  ])('of %s on %s are %s', (period, today, days) => { expect(of(period, today)).toBe(days); });
  it('are those that somebody gives, whichever comes first', () => {
    const given = (from: string, to: string) => daysOf({ period: 'custom', from, to }, '2026-11-30').days;
    expect(given('2026-02-01', '2026-02-28')).toEqual({ first: '2026-02-01', last: '2026-02-28' });
    expect(given('2026-02-28', '2026-02-01')).toEqual({ first: '2026-02-01', last: '2026-02-28' });
    expect(given('2026-11-20', '')).toEqual({ first: '2026-11-20', last: '2026-11-30' });
    expect(given('2027-01-02', '')).toEqual({ first: '2027-01-02', last: '2027-01-02' });
    expect(given('', '2026-01-30')).toEqual({ first: '2026-01-01', last: '2026-01-30' });
    for (const wrong of ['2026-02-30', '2026-13-01', 'soon', '']) expect(given(wrong, wrong)).toEqual({ first: '2026-11-01', last: '2026-11-30' });
    expect(daysOf({ period: 'custom', from: '2026-03-01', to: '2026-03-10' }, '2026-11-30').before).toEqual({ first: '2026-02-19', last: '2026-02-28' });
  });
});

describe('the time of a period', () => {
  it('begins and ends at midnight where the person is, also where clocks change', () => {
    const time = timeOf({ period: 'last_month' }, new Date('2026-04-10T10:00:00Z'), 'Europe/Berlin');
    expect(time.span).toEqual({ from: '2026-02-28T23:00:00.000Z', to: '2026-03-31T22:00:00.000Z' });
    expect(time.own).toEqual({ from: '2026-01-31T23:00:00.000Z', to: '2026-02-28T23:00:00.000Z' });
    expect(time.utc).toEqual({ from: '2026-03-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z', over: 'day' });
    expect(spanOf({ first: '2026-03-29', last: '2026-03-29' }, 'Europe/Berlin')).toEqual({ from: '2026-03-28T23:00:00.000Z', to: '2026-03-29T22:00:00.000Z' }); // 23 hours
    expect(spanOf({ first: '2026-10-25', last: '2026-10-25' }, 'Europe/Berlin')).toEqual({ from: '2026-10-24T22:00:00.000Z', to: '2026-10-25T23:00:00.000Z' }); // 25 hours
  });
  it('is today’s where it is already tomorrow', () => {
    const now = new Date('2026-03-31T23:30:00Z');
    expect(timeOf({ period: 'this_month' }, now, 'Europe/Berlin').days).toEqual({ first: '2026-04-01', last: '2026-04-01' });
    expect(timeOf({ period: 'this_month' }, now, 'America/New_York').days).toEqual({ first: '2026-03-01', last: '2026-03-31' });
  });
  it('asks for a time before of its own only where that is not as long', () => {
    const own = (period: string, now: string) => timeOf({ period }, new Date(`${now}T12:00:00Z`), 'UTC').own !== undefined;
    expect(['7d', '30d', '90d', 'last_week'].map((p) => own(p, '2026-11-30'))).toEqual([false, false, false, false]);
    expect(own('last_month', '2026-11-30')).toBe(true); // 31 days after 30
    expect(own('last_month', '2026-09-10')).toBe(false); // 31 days after 31
    expect(['this_week', 'this_month', 'this_year'].map((p) => own(p, '2026-11-25'))).toEqual([true, true, true]);
  });
  it('has as many steps as can be told apart', () => {
    const over = (from: string, to: string) => timeOf({ period: 'custom', from, to }, new Date('2026-11-30T12:00:00Z'), 'UTC').over;
    expect([over('2026-01-01', '2026-01-31'), over('2026-01-01', '2026-03-31'), over('2026-01-01', '2026-12-31')]).toEqual(['day', 'week', 'month']);
    expect([tooLong({ first: '2024-01-01', last: '2024-12-31' }), tooLong({ first: '2024-01-01', last: '2025-01-01' })]).toEqual([false, true]);
  });
  it('is cut into steps that do not reach beyond it', () => {
    const days = { first: '2026-02-11', last: '2026-03-30' };
    const step = (key: string, over: 'day' | 'week' | 'month') => { const { from, to } = stepOf(key, { days, over }, 'Europe/Berlin'); return `${from} ${to}`; };
    expect(step('2026-03-29', 'day')).toBe('2026-03-28T23:00:00.000Z 2026-03-29T22:00:00.000Z');
    expect(step('2026-02-09', 'week')).toBe('2026-02-10T23:00:00.000Z 2026-02-15T23:00:00.000Z');
    expect(step('2026-03-23', 'week')).toBe('2026-03-22T23:00:00.000Z 2026-03-29T22:00:00.000Z');
    expect(step('2026-02-01', 'month')).toBe('2026-02-10T23:00:00.000Z 2026-02-28T23:00:00.000Z');
    expect(step('2026-03-01', 'month')).toBe('2026-02-28T23:00:00.000Z 2026-03-30T22:00:00.000Z');
    expect([plus('2026-12-31', 1), plus('2028-03-01', -1)]).toEqual(['2027-01-01', '2028-02-29']);
  });
});

const none: Figures = { filed: 0, completed: 0, cancelled: 0, open: 0, reopened: 0, firstResponseP50: null, firstResponseP90: null, resolutionP50: null, resolutionP90: null, slaMet: 0, slaMissed: 0, ratings: 0, satisfaction: null };
const change = (measure: string, now: Partial<Figures>, before: Partial<Figures>) => { const c = changeOf(measures[measure] as Measure, { ...none, ...now }, { ...none, ...before }); return c && `${c.up} ${c.says} ${c.tone}`; };

describe('a figure beside the one before', () => {
  it('is so many percent more or less, and good or bad where one of both is', () => {
    expect(change('filed', { filed: 15 }, { filed: 10 })).toBe('1 50 % ');
    expect(change('completed', { completed: 5 }, { completed: 10 })).toBe('-1 50 % ');
    expect(change('firstResponse', { firstResponseP50: 30 }, { firstResponseP50: 40 })).toBe('-1 25 % good');
    expect(change('resolution', { resolutionP50: 50 }, { resolutionP50: 40 })).toBe('1 25 % bad');
    expect(change('open', { open: 9 }, { open: 3 })).toBe('1 200 % ');
    expect(change('reopened', { reopened: 0 }, { reopened: 2 })).toBe('-1 100 % good');
  });
  it('differs by points where it is a share or a rating', () => {
    expect(change('sla', { slaMet: 9, slaMissed: 1 }, { slaMet: 3, slaMissed: 1 })).toBe('1 15 points good');
    expect(change('sla', { slaMet: 74, slaMissed: 26 }, { slaMet: 3, slaMissed: 1 })).toBe('-1 1 point bad');
    expect(change('satisfaction', { satisfaction: 4.3, ratings: 3 }, { satisfaction: 4.1, ratings: 2 })).toBe('1 0.2 good');
  });
  it('says nothing where there was none, and that it is the same', () => {
    expect([change('filed', { filed: 1 }, {}), change('sla', { slaMet: 1 }, {}), change('resolution', {}, { resolutionP50: 3 })]).toEqual([null, null, null]);
    expect([change('filed', {}, {}), change('completed', { completed: 4 }, { completed: 4 })]).toEqual(['0 0 % ', '0 0 % ']);
  });
  it('is said by its first digits', () => {
    expect([lasted(50), lasted(210), lasted(3024)]).toEqual(['50 min', '3.5 hr', '2.1 days']);
    expect([said('count', 1234), said('percent', 92), said('stars', 4.25), said('minutes', null)]).toEqual(['1,234', '92 %', '4.3 of 5', '–']);
    expect([unitOf([10, null, 200]).size, unitOf([600]).size, unitOf([90_000]).size, unitOf([]).size, unitOf([600]).says(10)]).toEqual([1, 60, 1440, 1, '10h']);
  });
});

describe('the list behind a figure', () => {
  const within = { from: '2026-02-28T23:00:00.000Z', to: '2026-03-31T22:00:00.000Z' };
  const list = listOf({ period: 'last_month', teamId: 'team_1,none', priority: 'HIGH', by: 'assignee', measure: 'sla', serviceId: '' }, within);
  it('has the filters of the report, and its time', () => {
    expect(list).toEqual({ teamId: 'team_1,none', priority: 'HIGH', createdAfter: within.from, createdBefore: within.to });
  });
  it('has those of one group, where a filter finds them', () => {
    expect(groupOf(list, 'assignee', 'usr_1')).toEqual({ ...list, assigneeId: 'usr_1' });
    expect(groupOf(list, 'team', 'team_1')).toEqual({ ...list, teamId: 'team_1' });
    expect(groupOf(list, 'team', null)).toEqual({ ...list, teamId: 'none' });
    expect(groupOf(list, 'offering', null)).toBeUndefined();
  });
  it('has what ended in its time, whenever it was submitted', () => {
    const { createdAfter, createdBefore, ...rest } = list;
    expect(ended('cancelled')(list)).toEqual({ ...rest, cancelledAfter: createdAfter, cancelledBefore: createdBefore });
    expect(measures.completed?.list?.(list)).toEqual({ ...rest, completedAfter: createdAfter, completedBefore: createdBefore });
    expect(groupOf(list, 'organization', null)).toEqual({ ...list, organizationId: 'none' });
  });
  it('begins where one looks first', () => {
    const g = (key: string, figures: Partial<Figures>) => ({ key, figures: { ...none, ...figures } });
    const rows = [g('a', { filed: 9, slaMet: 8, slaMissed: 1, resolutionP50: 10 }), g('b', { filed: 5, slaMet: 1, slaMissed: 4, resolutionP50: 90 }), g('c', { filed: 1 })];
    const order = (measure: string) => ranked(rows, measures[measure] as Measure).map((r) => r.key).join('');
    expect([order('filed'), order('sla'), order('resolution'), order('reopened')]).toEqual(['abc', 'bac', 'bac', 'abc']);
  });
});

describe('a report by mail', () => {
  it('keeps the filters and the breakdown, and leads to them of last week', () => {
    const query = mailQuery({ period: 'custom', from: '2026-01-01', to: '2026-01-31', teamId: 'tea_1,none', priority: 'HIGH', by: 'team', measure: 'open' });
    expect(query).toBe('teamId=tea_1,none&priority=HIGH&by=team');
    expect(mailSearch(query)).toEqual({ period: 'last_week', teamId: 'tea_1,none', priority: 'HIGH', by: 'team' });
    expect(mailQuery({ by: 'colour' })).toBe('');
    expect(mailSearch('teamId=tea_1&teamId=tea_2&status=PENDING&by=team&by=priority')).toEqual({ period: 'last_week', teamId: 'tea_1,tea_2', by: 'team' });
  });
});
