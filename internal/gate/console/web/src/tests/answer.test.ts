import { describe, expect, it } from 'vitest';
import { parse } from '../app/digits';
import { fieldTime, momentOf, typed, written } from '../ui/answer';
import { fieldOf } from '../ui/zone';

describe('an answer', () => {
  it('that is a moment is shown in the time zone of the person, whatever its offset and spelling', () => {
    const eight = fieldOf(new Date('2026-01-01T08:00:00Z'));
    for (const text of ['2026-01-01T08:00:00Z', '2026-01-01T10:00:00+02:00', '2026-01-01t08:00:00.5z', '2026-01-01T03:00:00-05:00']) expect(fieldTime(text), text).toBe(eight);
    expect(momentOf('1998-12-31T23:59:60Z')?.toISOString()).toBe('1998-12-31T23:59:59.000Z');
  });
  it('that somebody is writing stays as it is', () => {
    for (const text of ['', '2026-01-01T10:00', 'x', '2026-13-01T10:00:00Z']) expect(fieldTime(text)).toBe(text);
  });
  it('that names a moment is sent as one, whether a field or the server wrote it', () => {
    const field = { key: 'at', type: 'datetime' };
    expect(typed(field, fieldOf(new Date('2026-01-01T08:00:00Z')))).toBe('2026-01-01T08:00:00.000Z');
    expect(typed(field, '2026-01-01T10:00:00+02:00')).toBe('2026-01-01T08:00:00.000Z');
    expect(typed(field, 'soon')).toBe('soon');
  });
  it('that is a list of objects is told as JSON', () => {
    expect(written(parse('[{"item":"desk","price":1.10},"a",null]'))).toBe('{"item":"desk","price":1.10}, a, null');
    expect(written(parse('["a","b"]'))).toBe('a, b');
    expect(written(parse('[9007199254740993,1]'))).toBe('9007199254740993, 1');
  });
});
