import { describe, expect, it } from 'vitest';
import { score } from '../keys/score';
import { spansOf, textOf } from '../pages/calendars/hours';
import { figure, filled, share } from '../pages/figures/table';
import { treeOf } from '../pages/organizations/tree';
import { belongs, filtered, inboxVariables, momentOf, near, requestFilter, requestOrder, searchOf, viewQuery, type RequestSearch } from '../pages/requests/search';
import { toSend, visible, type FormField } from '../ui/answer';
import { calendarDay, lasting, words } from '../ui/bits';
import { csv, csvCell } from '../ui/csv';
import { placed, stretches, ticks } from '../ui/ticks';

describe('filters and addresses', () => {
  it('are the API’s own names and values', () => {
    expect(requestFilter({ status: 'PENDING,IN_PROGRESS', teamId: 'none', q: 'vpn', view: 'board', peek: 'req_1' })).toEqual({ status: ['PENDING', 'IN_PROGRESS'], teamId: ['none'], q: 'vpn' });
    expect(requestFilter({ status: '', priority: ',' })).toEqual({});
    expect(requestFilter({ dueBefore: '2026-01-01T00:00:00Z', 'tag.env': 'prod,dev' })).toEqual({ dueBefore: '2026-01-01T00:00:00Z', tag: { env: ['prod', 'dev'] } });
    expect(requestOrder(undefined)).toEqual({ field: 'createdAt', direction: 'DESC' });
    expect(requestOrder('title')).toEqual({ field: 'title', direction: 'ASC' });
  });
  it('may stand for a time so far from now, on either side of it', () => {
    const now = Date.parse('2026-03-01T10:02:00Z');
    expect(momentOf('dueBefore', '24h', now)).toBe('2026-03-02T10:00:00.000Z');
    expect(momentOf('updatedAfter', '7d', now)).toBe('2026-02-22T10:00:00.000Z');
    expect(momentOf('updatedAfter', '2026-01-01T00:00:00Z', now)).toBe('2026-01-01T00:00:00Z');
  });
  it('of the inbox are what nobody has accepted, what is due first at the top', () => {
    expect(inboxVariables({ teamId: 'none' })).toEqual({ first: 50, filter: { status: ['PENDING'], teamId: ['none'] }, orderBy: { field: 'responseDueAt', direction: 'ASC' } });
    expect(inboxVariables({ sort: '-createdAt', status: 'COMPLETED' })).toEqual({ first: 50, filter: { status: ['PENDING'] }, orderBy: { field: 'createdAt', direction: 'DESC' } });
  });
  it('are told from how the list is shown', () => {
    expect(filtered({ status: 'PENDING', q: 'vpn', 'tag.env': 'prod', teamId: '', view: 'board', sort: 'title', columns: 'due', peek: 'req_1' })).toEqual(['status', 'q', 'tag.env']);
  });
  it('come back from a saved view as they were, but for what was open', () => {
    const query = viewQuery({ status: 'PENDING,IN_PROGRESS', q: 'a & b', sort: '-createdAt', peek: 'req_1', saved: 'viw_1', teamId: '' });
    expect(query).toBe('q=a+%26+b&sort=-createdAt&status=PENDING,IN_PROGRESS');
    expect(searchOf(query)).toEqual({ q: 'a & b', sort: '-createdAt', status: 'PENDING,IN_PROGRESS' });
  });
});

describe('a request that has just come', () => {
  const r = { number: 7, status: 'PENDING', priority: 'HIGH', title: 'The VPN is down', teamId: null, createdBy: 'usr_1', createdAt: '2026-03-01T10:00:00Z', tags: { env: 'prod' }, sla: { state: 'ON_TRACK', responseDueAt: '2026-03-01T12:00:00Z' } } as never;
  it.each<RequestSearch>([{}, { status: 'PENDING,IN_PROGRESS' }, { teamId: 'none' }, { q: 'vpn' }, { q: '#7' }, { createdAfter: '2026-03-01' }, { dueBefore: '2026-03-02' }, { 'tag.env': 'dev,prod' }])('belongs in the list of %j', (s) => { expect(belongs(r, s)).toBe(true); });
  it.each<RequestSearch>([{ status: 'COMPLETED' }, { teamId: 'team_1' }, { q: 'laptop' }, { q: '#77' }, { createdBefore: '2026-03-01' }, { dueBefore: '2026-03-01' }, { 'tag.env': 'dev' }])('does not in the list of %j', (s) => { expect(belongs(r, s)).toBe(false); });
});

describe('a request that has changed', () => {
  const at = (createdAt: string, title: string) => ({ createdAt, title, updatedAt: createdAt }) as never;
  const read = [at('2026-03-03', 'c'), at('2026-03-02', 'b')];
  it('is told of where the list would show it, not on a page that nobody has read', () => {
    expect(near(at('2026-03-04', 'a'), read, true, requestOrder(undefined))).toBe(true);
    expect(near(at('2026-03-01', 'a'), read, true, requestOrder(undefined))).toBe(false);
    expect(near(at('2026-03-01', 'a'), read, false, requestOrder(undefined))).toBe(true);
    expect(near(at('2026-03-01', 'a'), read, true, requestOrder('title'))).toBe(true);
    expect(near(at('2026-03-04', 'z'), read, true, requestOrder('title'))).toBe(false);
    expect(near(at('2026-03-04', 'z'), read, true, requestOrder('-priority'))).toBe(false);
    const due = (responseDueAt?: string) => ({ sla: responseDueAt ? { responseDueAt } : null }) as never;
    expect(near(due('2026-03-01T10:00:00Z'), [due('2026-03-01T12:00:00Z')], true, requestOrder('responseDueAt'))).toBe(true);
    expect(near(due(), [due('2026-03-01T12:00:00Z')], true, requestOrder('responseDueAt'))).toBe(false);
  });
});

describe('words for numbers', () => {
  it('are exact, and singular for one', () => {
    expect([1, 90, 130, 180, 1440, 2880, 3000].map(lasting)).toEqual(['1 minute', '90 minutes', '2 hours 10 minutes', '3 hours', '24 hours', '2 days', '2 days 2 hours']);
    expect(['IN_PROGRESS', 'RequireApproval', 'Deny'].map(words)).toEqual(['In progress', 'Require approval', 'Deny']);
  });
});

describe('a day without a time', () => {
  it('is the same day everywhere', () => {
    expect(calendarDay('2026-12-01')).toBe(new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format(new Date(2026, 11, 1)));
    expect(calendarDay('soon')).toBe('soon');
  });
});

describe('forms', () => {
  const fields: FormField[] = [
    { key: 'kind', type: 'select', options: ['new', 'broken'] }, { key: 'since', type: 'date', visibleWhen: { kind: 'broken' } },
    { key: 'loud', type: 'boolean', visibleWhen: { since: ['2026-01-01'] } }, { key: 'count', type: 'number' }, { key: 'parts', type: 'multiselect' },
    { key: 'fan', type: 'text', visibleWhen: { parts: 'fan' } },
  ];
  it('show a field whose condition holds, along the whole chain', () => {
    const shown = (answers: Record<string, unknown>) => fields.filter((f) => visible(f, fields, answers)).map((f) => f.key);
    expect(shown({})).toEqual(['kind', 'count', 'parts']);
    expect(shown({ kind: 'broken', since: '2026-01-01' })).toEqual(['kind', 'since', 'loud', 'count', 'parts']);
    expect(shown({ kind: 'new', since: '2026-01-01' })).toEqual(['kind', 'count', 'parts']);
    expect(shown({ parts: ['lid', 'fan'] })).toEqual(['kind', 'count', 'parts', 'fan']);
  });
  it('send what is shown and answered, typed', () => {
    expect(toSend(fields, { kind: 'new', since: '2026-01-01', loud: 'true', count: '3', parts: [], fan: 'x' })).toEqual({ kind: 'new', count: 3 });
  });
  it('end for conditions that lead to each other', () => {
    const circle: FormField[] = [{ key: 'a', type: 'text', visibleWhen: { b: '1' } }, { key: 'b', type: 'text', visibleWhen: { a: '1' } }];
    expect(visible(circle[0] as FormField, circle, { a: '1', b: '1' })).toBe(false);
  });
});

describe('tables for spreadsheets', () => {
  it('have no formulas, and numbers as numbers', () => {
    expect(['=1+1', '+1', '-1', '@x', '\tx', 'plain'].map(csvCell)).toEqual(["'=1+1", "'+1", "'-1", "'@x", "'\tx", 'plain']);
    expect(csvCell(-5)).toBe('-5');
    expect([{ cents: 24690 }, { cents: -5 }].map(csvCell)).toEqual(['246.90', '-0.05']);
    expect(csv([['a,b', 'say "hi"'], ['two\nlines', 1]])).toBe('"a,b","say ""hi"""\r\n"two\nlines",1\r\n');
  });
});

describe('the command menu', () => {
  it('ranks what is together and early first, and leaves out what is not there', () => {
    expect(score('Secrets', 'secre')).toBeGreaterThan(score('Access policies', 'cces'));
    expect(score('Access policies', 'apo')).toBeGreaterThan(0);
    expect(score('Inbox', 'z')).toBe(-1);
  });
});

describe('calendars', () => {
  it('read and write hours', () => {
    const hours = [{ from: '09:00', to: '12:00' }, { from: '13:00', to: '17:30' }];
    expect(spansOf('09:00-12:00, 13:00 – 17:30')).toEqual(hours);
    expect(textOf(hours)).toBe('09:00-12:00, 13:00-17:30');
    expect(spansOf(' ')).toEqual([]);
  });
});

describe('organizations', () => {
  it('stand as a tree, whole even where somebody may not see the top', () => {
    const list = [{ id: 'b', parentId: 'a' }, { id: 'a', parentId: null }, { id: 'c', parentId: 'hidden' }];
    expect(treeOf(list).map((o) => [o.id, o.depth])).toEqual([['a', 0], ['b', 1], ['c', 0]]);
  });
});

describe('figures', () => {
  it('leave gaps where there is none, and keep what stands alone', () => {
    expect(stretches(['', 1, 2, '', 0, ''].map(figure))).toEqual([[1, 2], [4]]);
    expect(stretches(['', ''].map(figure))).toEqual([]);
  });
  it('have as many labels below as there is room for', () => {
    const days = Array.from({ length: 30 }, (_, i) => `Nov ${i + 1}`);
    const written = (of: string[], to: number, width = 40) => placed(of, (i) => (of.length > 1 ? 34 + (i / (of.length - 1)) * (to - 42) : to / 2), () => width, 0, to);
    expect([1600, 1100, 560, 230].map((to) => written(days, to).length)).toEqual([15, 15, 10, 4]);
    for (const to of [60, 230, 560, 1100, 1600]) {
      written(days, to).forEach(({ x }, n, all) => {
        expect(x >= 20 && x <= to - 20 && (n === 0 || x - (all[n - 1]?.x ?? 0) >= 48), `${to}: ${x}`).toBe(true);
      });
    }
    expect([written([], 560), written(['one'], 100), written(['two', 'names'], 70, 60)]).toEqual([[], [{ i: 0, x: 50 }], [{ i: 0, x: 34 }]]);
  });
  it('have a row for each day and week', () => {
    const time = { from: '2026-02-28T00:00:00.000Z', to: '2026-03-03T00:00:00.000Z' };
    expect(filled([{ key: '2026-03-01', filed: 2 }], time.from, time.to, 'day', { filed: 0 }).map((f) => [f.key, f.filed])).toEqual([['2026-02-28', 0], ['2026-03-01', 2], ['2026-03-02', 0]]);
    expect(filled([], time.from, time.to, 'week', {}).map((f) => f.key)).toEqual(['2026-02-23', '2026-03-02']);
  });
  it('say what of a hundred was taken, and nothing of nothing', () => {
    expect([share(1, 3), share(0, 2), share(0, 0)]).toEqual([33, 0, '']);
  });
  it('have few round ticks', () => {
    expect(ticks(0)).toEqual([0, 1]);
    expect(ticks(3)).toEqual([0, 1, 2, 3]);
    expect(ticks(37)).toEqual([0, 10, 20, 30, 40]);
    for (const n of [1, 7, 99, 1234, 98_765]) {
      expect(ticks(n).length).toBeLessThanOrEqual(6);
      expect(ticks(n).at(-1)).toBeGreaterThanOrEqual(n);
    }
  });
});
