import { describe, expect, it } from 'vitest';
import { dayOf, fieldOf, instantOf, startOf, tomorrow } from '../ui/zone';

const iso = (text: string, tz: string) => instantOf(text, tz).toISOString();

describe('a moment in a time zone', () => {
  it.each([
    ['2026-01-15T12:00:00Z', 'Europe/Berlin', '2026-01-15T13:00'], ['2026-07-15T12:00:00Z', 'Europe/Berlin', '2026-07-15T14:00'], ['2026-01-15T20:00:00Z', 'Asia/Kathmandu', '2026-01-16T01:45'],
    ['2026-01-15T02:00:00Z', 'America/New_York', '2026-01-14T21:00'], ['2026-01-15T23:30:00Z', 'Pacific/Kiritimati', '2026-01-16T13:30'], ['2026-01-15T12:00:00Z', 'UTC', '2026-01-15T12:00'],
  ])('is what clocks show there, and back: %s in %s', (at, tz, shown) => {
    expect(fieldOf(new Date(at), tz)).toBe(shown);
    expect(instantOf(shown, tz).getTime()).toBe(new Date(at).getTime());
  });
  it.each([
    ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'], ['2026-03-08T02:30', 'America/New_York', '2026-03-08T07:30:00.000Z'], ['2026-10-04T02:15', 'Australia/Lord_Howe', '2026-10-03T15:45:00.000Z'],
    ['2011-12-30T12:00', 'Pacific/Apia', '2011-12-30T22:00:00.000Z'],
  ])('that clocks leave out is as much later as they are put forward: %s in %s', (text, tz, at) => { expect(iso(text, tz)).toBe(at); });
  it('just before and just after what they leave out is itself', () => {
    expect(iso('2026-03-29T01:59', 'Europe/Berlin')).toBe('2026-03-29T00:59:00.000Z');
    expect(iso('2026-03-29T03:00', 'Europe/Berlin')).toBe('2026-03-29T01:00:00.000Z');
  });
  it.each([
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'], ['2026-11-01T01:30', 'America/New_York', '2026-11-01T05:30:00.000Z'],
  ])('that clocks show twice is the first: %s in %s', (text, tz, at) => { expect(iso(text, tz)).toBe(at); });
  it('is shown as the same hour both times', () => {
    expect(['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((at) => fieldOf(new Date(at), 'Europe/Berlin'))).toEqual(['2026-10-25T02:30', '2026-10-25T02:30']);
    expect(iso('2026-10-25T03:00', 'Europe/Berlin')).toBe('2026-10-25T02:00:00.000Z');
  });
  it('comes back from every hour of a year but the second of those that come twice', () => {
    const lost = Array.from({ length: 365 * 24 }, (_, h) => Date.UTC(2026, 0, 1, h)).filter((at) => instantOf(fieldOf(new Date(at), 'Europe/Berlin'), 'Europe/Berlin').getTime() !== at);
    expect(lost).toEqual([Date.UTC(2026, 9, 25, 1)]);
  });
  it('is none of a text that no field holds', () => { for (const text of ['', 'x', '2026-13-01T10:00', '2026-01-01', '2026-01-01T10:00:00Z']) expect(instantOf(text, 'UTC').getTime(), text).toBeNaN(); });
});

describe('a day in a time zone', () => {
  it('is the one that people have there, from where it begins', () => {
    expect(dayOf(new Date('2026-01-15T23:30:00Z'), 'Europe/Berlin')).toBe('2026-01-16');
    expect(startOf('2026-01-16', 'Europe/Berlin').toISOString()).toBe('2026-01-15T23:00:00.000Z');
    expect(startOf('2026-03-08', 'America/Havana').toISOString()).toBe('2026-03-08T05:00:00.000Z'); // whose clocks leave out midnight
  });
  it('follows on the one before, also where that is short or long', () => {
    expect(tomorrow(new Date('2026-03-28T23:30:00Z'), 'Europe/Berlin')).toBe('2026-03-30T09:00');
    expect(tomorrow(new Date('2026-10-25T00:30:00Z'), 'Europe/Berlin')).toBe('2026-10-26T09:00');
    expect(tomorrow(new Date('2026-12-31T10:00:00Z'), 'UTC')).toBe('2027-01-01T09:00');
  });
});
