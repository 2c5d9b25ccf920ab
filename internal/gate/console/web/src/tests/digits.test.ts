import { describe, expect, it } from 'vitest';
import { differing, Digits, numberOf, parse } from '../app/digits';
import { conditionOf, linesOf } from '../pages/policies/condition';
import { told } from '../pages/requests/one/told';
import { toSend, visible, type FormField } from '../ui/answer';

describe('numbers', () => {
  it.each([
    '{"serial":9007199254740993,"amount":0.1000000000000000055}', '[1.10,60.0,-0,1e5,6E1,1e400,0.00000000000000000001]', '{"1.10":"1.10 \\"2.0\\" \\\\","a":[1,2.5,-3,null,true]}', '12345678901234567890',
  ])('come back as they were: %s', (text) => {
    expect(JSON.stringify(parse(text))).toBe(text);
    expect(JSON.stringify({ of: parse(text) }, null, 1)).toBe(JSON.stringify({ of: 0 }, null, 1).replace('0', JSON.stringify(parse(text), null, 1).replaceAll('\n', '\n ')));
  });
  it('are JavaScript’s own where these lose nothing', () => {
    expect(parse('[1,-2.5,1e+21,1.2345675e+06,1e-07]')).toEqual([1, -2.5, 1e21, 1234567.5, 1e-7]);
    expect(`${String(parse('1.10'))} ${Number(parse('1.10')) * 2} ${parse('1.10') as number > 1}`).toBe('1.10 2.2 true');
  });
  it.each(['01', '1.', '{1.10:2}', '"1.10', '[1.10,]', '1.10.5', ''])('are read from JSON alone: %j', (text) => { expect(() => parse(text)).toThrow(SyntaxError); });
  it('are what somebody writes', () => {
    expect(['1.10', ' 9007199254740993 ', '7', '.5', '', 'x', '1e999'].map((t) => JSON.stringify(numberOf(t)))).toEqual(['1.10', '9007199254740993', '7', '0.5', undefined, undefined, '1e999']);
  });
});

describe('what was not touched', () => {
  const was = parse('{"serial":9007199254740993,"amount":0.1000000000000000055,"at":"2026-01-01T10:00:00+02:00","note":"a"}') as Record<string, unknown>;
  const fields: FormField[] = [{ key: 'serial', type: 'number' }, { key: 'amount', type: 'number' }, { key: 'at', type: 'datetime' }, { key: 'note', type: 'text', visibleWhen: { amount: parse('0.10000000000000000550') } }];
  it('is sent as it was, and shown by the same condition', () => {
    expect(JSON.stringify(toSend(fields, { ...was, note: 'b' }, was))).toBe('{"serial":9007199254740993,"amount":0.1000000000000000055,"at":"2026-01-01T10:00:00+02:00","note":"b"}');
    expect(JSON.stringify(toSend(fields, { ...was, serial: '9007199254740995', amount: '2.50' }, was))).toBe('{"serial":9007199254740995,"amount":2.50,"at":"2026-01-01T10:00:00+02:00"}');
    expect(visible(fields[3] as FormField, fields, was)).toBe(true);
  });
  it('is compared by its digits', () => {
    const shown = (wanted: string, answer: string) => visible({ key: 'note', type: 'text', visibleWhen: { n: parse(wanted) } }, [{ key: 'n', type: 'number' }], { n: answer });
    expect([['9007199254740993', '9007199254740993.0'], ['1.10', '1.1'], ['1e3', '1000'], ['0.0', '-0'], ['-2', '-2.000']].map(([a, b]) => shown(a as string, b as string))).toEqual([true, true, true, true, true]);
    expect([['9007199254740993', '9007199254740992'], ['0.1', '0.1000000000000000055'], ['1', '-1'], ['10', '1']].map(([a, b]) => shown(a as string, b as string))).toEqual([false, false, false, false]);
  });
  it('is not sent where a row is changed', () => {
    expect(differing({ a: parse('1.10'), b: 2, c: null, d: undefined }, { a: parse('1.10'), b: 1 })).toEqual({ b: 2 });
  });
  it('stands in the conditions of policies and in the history', () => {
    const condition = parse('{"fields.amount":{"gt":1.10},"fields.serial":9007199254740993,"fields.n":[1.0,2]}') as Record<string, unknown>;
    expect(linesOf(condition)?.map((l) => l.value)).toEqual(['1.10', '9007199254740993', '1.0, 2']);
    expect(JSON.stringify(conditionOf(linesOf(condition) ?? []))).toBe(JSON.stringify(condition));
    expect(JSON.stringify(told({ 'fields.serial': { from: parse('9007199254740993'), to: new Digits('1.10') } }, new Map()))).toContain('"from":9007199254740993,"to":1.10');
  });
});
