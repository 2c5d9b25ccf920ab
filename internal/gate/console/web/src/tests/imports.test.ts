import { describe, expect, it } from 'vitest';
import type { ImportAllFragment } from '../gen/types';
import { chosen, guess, placeOf, samples, say, sourceOf, unknown } from '../pages/imports/columns';
import { bounds, decoded, partsOf, read, type Table } from '../pages/imports/csv';
import { faultsOf, importable, sum } from '../pages/imports/sums';

const table = (text: string): Table => read(text) as Table;
const small = (rows: number, bytes = 800_000) => ({ ...bounds, rows, bytes });

describe('a CSV file', () => {
  it('is read with quoted cells, line breaks in them, and rows that spreadsheets count', () => {
    const t = table('Title,Body\r\nOne,"a, ""b""\r\nc"\r\n\r\nTwo,\r\nThree,x');
    expect(t.headings).toEqual(['Title', 'Body']);
    expect(t.rows.map((r) => [r.number, r.cells])).toEqual([[2, ['One', 'a, "b"\nc']], [4, ['Two', '']], [5, ['Three', 'x']]]);
    expect(t.head + t.rows.map((r) => r.raw).join('')).toBe('Title,Body\r\nOne,"a, ""b""\r\nc"\r\nTwo,\r\nThree,x');
  });
  it.each([
    ['a,b;c\n', ','], ['a;b\n', ';'], ['a\tb;c\td\n', '\t'], ['a;b,c\n', ','], ['alone\n', ','],
  ])('finds the separator of %j', (text, separator) => { expect(table(text).separator).toBe(separator); });
  it('takes separators of others within a cell as they are', () => {
    expect(table('a;b\n1,5;"x;y"\n').rows[0]?.cells).toEqual(['1,5', 'x;y']);
  });
  it('has no byte order mark, and may have the line ends of old Macs', () => {
    expect(table('\uFEFFa,b\r1,2\r3,4').rows.map((r) => r.cells)).toEqual([['1', '2'], ['3', '4']]);
    expect(table('\uFEFFa,b\n1,2').headings).toEqual(['a', 'b']);
  });
  it('keeps apart the rows that are none', () => {
    const t = table('a,b\n1,2\nsay "x",2\n"y"z,2\n1,2,3\n4,5\n"no end\n6,7\n');
    expect(t.odd.map((o) => [o.number, o.why, o.raw])).toEqual([[3, 'quote', 'say "x",2\n'], [4, 'quote', '"y"z,2\n'], [5, 'cells', '1,2,3\n'], [7, 'quote', '"no end\n6,7\n']]);
    expect(t.rows.map((r) => [r.number, ...r.cells])).toEqual([[2, '1', '2'], [6, '4', '5']]);
  });
  it.each(['', '\n\n', '"a,b\n1,2'])('is none without headings: %j', (text) => { expect(read(text)).toBeNull(); });
  it('is decoded as it was written', () => {
    const bytes = (...list: number[]) => Uint8Array.from(list);
    expect(decoded(bytes(0xc3, 0xbc))).toEqual({ text: 'ü', encoding: 'utf-8' });
    expect(decoded(bytes(0xfc))).toEqual({ text: 'ü', encoding: 'windows-1252' });
    expect(decoded(bytes(0xff, 0xfe, 0xfc, 0))).toEqual({ text: 'ü', encoding: 'utf-16le' });
  });
});

describe('the parts of a file', () => {
  const text = 'Title,Body\n' + Array.from({ length: 10 }, (_x, i) => `"Row ${i}","line\nbreak ü"\n`).join('') + 'last,x';
  it('have the headings and all rows, as they are in the file', () => {
    const parts = partsOf(table(text), small(4));
    expect(parts.map((p) => p.rows.length)).toEqual([4, 4, 3]);
    expect(parts.every((p) => p.csv.startsWith('Title,Body\n'))).toBe(true);
    expect(`Title,Body\n${parts.map((p) => p.csv.slice('Title,Body\n'.length)).join('')}`).toBe(text);
  });
  it('are no larger than a call takes, with what is escaped in it', () => {
    const parts = partsOf(table(text), small(100, 130));
    expect(parts.length).toBeGreaterThan(3);
    for (const p of parts) expect(new TextEncoder().encode(JSON.stringify(p.csv)).length).toBeLessThanOrEqual(132);
    expect(parts.flatMap((p) => p.rows.map((r) => r.number))).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });
  it('are one for what fits, and hold a row alone that is too large', () => {
    expect(partsOf(table(text))).toHaveLength(1);
    expect(partsOf(table('a\nx\n' + 'y'.repeat(50) + '\nz\n'), small(9, 20)).map((p) => p.rows.length)).toEqual([1, 1, 1]);
    expect(partsOf(table('a'))).toEqual([]);
  });
});

describe('what the columns are', () => {
  it('is guessed by their names, the first of each', () => {
    expect(guess(['Issue key', 'Summary', 'Titel', 'Request type', 'Erstellt', 'Priorität', 'Colour', 'fields.model', 'fields.'])).toEqual({
      'Issue key': 'key', Summary: 'title', Titel: '', 'Request type': 'offering', Erstellt: 'createdAt', 'Priorität': 'priority', Colour: '', 'fields.model': 'fields.model', 'fields.': 'fields',
    });
    expect(sourceOf(['Issue key', 'Summary'])).toBe('jira');
    expect(sourceOf(['Title'])).toBe('csv');
  });
  it('is guessed by the questions of the form', () => {
    expect(guess(['Title', 'Cost centre', 'model'], [{ key: 'centre', label: 'Cost centre' }, { key: 'model', label: 'Which model?' }])).toEqual({ Title: 'title', 'Cost centre': 'fields.centre', model: 'fields.model' });
  });
  it('is what a person says, and no two columns are one field', () => {
    const guessed = guess(['Summary', 'Subject', 'Status']);
    let said = say([], 'Subject', 'title');
    expect(chosen(guessed, said)).toEqual({ Summary: '', Subject: 'title', Status: 'status' });
    said = say(said, 'Summary', 'title');
    expect(chosen(guessed, said)).toEqual({ Summary: 'title', Subject: '', Status: 'status' });
    expect(chosen(guessed, say(said, 'Status', ''))).toEqual({ Summary: 'title', Subject: '', Status: '' });
    expect(chosen(guessed, say(say(said, 'Status', 'title'), 'Status', 'tags'))).toEqual({ Summary: 'title', Subject: '', Status: 'tags' });
    expect(chosen(guessed, say(said, 'Summary', 'key'))).toEqual({ Summary: 'key', Subject: 'title', Status: 'status' });
  });
  it('shows first values, and words without a meaning', () => {
    const t = table('Title,Status,Priority,Status\na,Done,P1,x\nb,Waiting for customer,\'=P2,y\nc, Waiting for customer ,,\nd,In Progress,P1,z\n,Frozen,HIGH,\n');
    const columns = guess(t.headings);
    expect(unknown(t, columns, 'status')).toEqual([['Waiting for customer', 2], ['Frozen', 1]]);
    expect(unknown(t, columns, 'priority')).toEqual([['P1', 2], ['=P2', 1]]);
    expect(samples(t, placeOf(t, columns, 'status'))).toEqual(['Done', 'Waiting for customer', 'In Progress']);
    expect(placeOf(t, columns, 'offering')).toBe(-1);
  });
});

describe('the parts together', () => {
  const one = (more: Partial<ImportAllFragment>): ImportAllFragment => ({ id: 'imp_1', status: 'CHECKED', source: 'jira', rows: 10, done: 0, imported: 0, known: 1, faulty: 2, createdAt: '', finishedAt: null, columns: {}, faults: [], ...more });
  it('are summed up', () => {
    const total = sum([one({}), one({ rows: 5, faulty: 0 })]);
    expect(total).toEqual({ status: 'CHECKED', source: 'jira', rows: 15, done: 0, imported: 0, known: 2, faulty: 2 });
    expect(importable(total)).toBe(11);
  });
  it.each([
    [['COMPLETED', 'RUNNING', 'STOPPED'], 'RUNNING'], [['COMPLETED', 'CHECKED'], 'CHECKED'], [['COMPLETED', 'STOPPED'], 'STOPPED'], [['COMPLETED', 'COMPLETED'], 'COMPLETED'],
  ] as const)('of %j are %s', (all, status) => { expect(sum(all.map((s) => one({ status: s }))).status).toBe(status); });
  it('have their faults at the rows of the whole file', () => {
    const fault = (row: number) => ({ row, column: 'Status', message: 'x' });
    const list = [one({ rows: 2, faults: [fault(3)] }), one({ rows: 2, faults: [fault(2), fault(3)] })];
    expect(faultsOf([one({ faults: [{ row: 2, column: 'Title', message: 'Must have at least 1 character.' }] })], null)[0]?.message).toBe('Is required.');
    const parts = partsOf(table('Title\na\n\nb\nc\nd\n'), small(2));
    expect(faultsOf(list, parts).map((f) => f.row)).toEqual([4, 5, 6]);
    expect(faultsOf(list, null).map((f) => f.row)).toEqual([3, 4, 5]);
  });
});
