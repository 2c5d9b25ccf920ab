// Rows become CEL and rows again, whatever they say; other CEL is no rows.
import { describe, expect, it } from 'vitest';
import cases from './conditions.json';
import { parse } from '../app/digits';
import { literal, parseCel, printed } from '../parts/cel';
import { celOf, isGroup, isWhole, opsOf, rowsOf, takes, type ConditionField, type Group, type Row } from '../parts/conditions';
import { askedOf, whenOf, whenRows } from '../parts/visiblewhen';
import type { FormField } from '../ui/answer';

interface Case { name: string; group: Group; cel: string }
const shared = cases as unknown as { fields: ConditionField[]; cases: Case[]; loose: Omit<Case, 'name'>[]; texts: string[] };
const { fields } = shared;

// random gives whole numbers below n, the same ones each time.
let seed = 42;
const random = (n: number) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};
const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T;

const texts = ['a', 'a"b', 'a\'b', 'back\\slash', '\\', '"', 'line\nbreak\r\n', '\t', 'ünïcode', '😀🏴‍☠️', '\u2028\u2029', ' && ', '" || true || "', '] in [', 'has(request.title)', 'null', '\u0000\u001f\u007f', '5', ' ', '//no comment', '${x}', '== != ', 'x == y'];
const numbers = ['0', '-1', '5', '1.50', '9007199254740993', '0.1000000000000000055', '123456789012345678901234567890', '-99999999999999999999', '1e300', '-2.5E-7', '9223372036854775807'];
const valueOf = (type: string): string => {
  switch (type) {
    case 'NUMBER': return pick(numbers);
    case 'BOOLEAN': return pick(['true', 'false']);
    case 'DATE': return `20${10 + random(80)}-0${1 + random(9)}-1${random(9)}`;
    case 'DATETIME': case 'TIME': return new Date(random(2 ** 31) * 1000).toISOString();
    case 'ANY': return pick([...texts, ...numbers, 'true']);
    default: return random(3) > 0 ? pick(texts) + pick(texts) : String.fromCodePoint(...Array.from({ length: 1 + random(8) }, () => pick([random(0xD800), 0xE000 + random(0x102000)])));
  }
};

function row(): Row {
  for (;;) {
    const f = pick(fields);
    const op = pick(opsOf(f));
    const n = takes(op) < 0 ? 1 + random(4) : takes(op);
    const r = { what: f.expression, op, values: Array.from({ length: n }, () => valueOf(f.type)) };
    if (isWhole(r, fields)) return r;
  }
}
const parts = (deep: boolean): Group['parts'] => Array.from({ length: 2 + random(4) }, () => (deep && random(3) === 0 ? { join: pick(['all', 'any'] as const), parts: parts(false) } : row()));
const group = (): Group => (random(5) === 0 ? { join: 'all', parts: [row()] } : { join: pick(['all', 'any'] as const), parts: parts(true) });

describe('rows', () => {
  it('are the same after they were CEL', () => {
    for (let i = 0; i < 5000; i++) {
      const g = group();
      const cel = celOf(g, fields);
      const again = rowsOf(cel, fields);
      if (JSON.stringify(again) !== JSON.stringify(g)) expect(again, cel).toEqual(g); // expect alone takes most of the time
    }
  }, 60_000);

  it.each(shared.cases.map((c) => [c.name, c] as const))('are written so: %s', (_name, c) => {
    expect(celOf(c.group, fields)).toBe(c.cel);
    expect(rowsOf(c.cel, fields)).toEqual(c.group);
  });

  it.each(shared.texts)('are not made of %s', (text) => { expect(rowsOf(text, fields)).toBeNull(); });

  it.each(shared.loose)('are read of $cel, which stays as it was written', ({ cel, group }) => {
    expect(rowsOf(cel, fields)).toEqual(group);
    expect(celOf(group, fields)).toBe(cel);
  });

  it('that somebody changes ask first, and leave the others as they were written', () => {
    const g = rowsOf('request.fields.amount<100.0||request.fields.note == \'a\'', fields) as Group;
    expect(celOf({ ...g, parts: [g.parts[0] as Row, { what: 'request.fields.note', op: 'is', values: ['b'] }] }, fields)).toBe('request.fields.amount<100.0 || (has(request.fields.note) && fold(request.fields.note) == fold("b"))');
    expect(celOf({ ...g, join: 'all' }, fields)).toBe('request.fields.amount<100.0 && request.fields.note == \'a\'');
  });

  it('are read however CEL is spaced and quoted', () => {
    expect(rowsOf('request.priority  ==\n\'URGENT\'||request.title.contains( \'V\\x50N\' )', fields)).toEqual({ join: 'any', parts: [
      { what: 'request.priority', op: 'is', values: ['URGENT'] }, { what: 'request.title', op: 'contains', values: ['VPN'], text: 'request.title.contains( \'V\\x50N\' )' }] });
  });

  it('of a field that is not known are text', () => { expect(rowsOf('request.colour == "red"', fields)).toBeNull(); });

  it('that say nothing yet are left out', () => {
    const g: Group = { join: 'all', parts: [{ what: 'request.title', op: 'is', values: [''] }, { join: 'any', parts: [{ what: '', op: 'is', values: [] }] }, { what: 'request.priority', op: 'is', values: ['LOW'] }] };
    expect(celOf(g, fields)).toBe('request.priority == "LOW"');
    expect(celOf({ join: 'any', parts: [] }, fields)).toBe('');
    expect(rowsOf(' ', fields)).toEqual({ join: 'all', parts: [] });
  });

  it('never let a value become an expression', () => {
    for (const v of texts) {
      const tree = parseCel(celOf({ join: 'all', parts: [{ what: 'request.priority', op: 'is', values: [v] }] }, fields));
      expect(tree).toEqual({ kind: 'rel', op: '==', left: { kind: 'path', text: 'request.priority' }, right: { kind: 'string', text: v } });
    }
    expect(literal('\uD800')).toBe('"\uFFFD"');
  });
});

describe('CEL', () => {
  it('is read as a tree, or not at all', () => {
    expect(printed(parseCel('!(a.b == 1) && c["d"] in ["x", "y"] || size(e) > 0') ?? { kind: 'null' })).toBe('((!(a.b == 1) && (c["d"] in ["x", "y"])) || (size(e) > 0))');
    for (const text of ['', 'a ==', 'a b', '(a', 'a ? b : c', 'a + 1', '"unfinished', '"\\q"', 'r"raw"', 'a == 0x10', '1.a', `${'('.repeat(100_000)}a`]) expect(parseCel(text), text.slice(0, 20)).toBeNull();
  });

  it('of the shared cases is a group or a row each', () => {
    expect(shared.cases.every((c) => isGroup(c.group))).toBe(true);
    expect(shared.cases.length).toBeGreaterThan(25);
  });
});

describe('visibleWhen', () => {
  const form: FormField[] = [{ key: 'model', label: 'Model', type: 'select', options: ['14', '16'] }, { key: 'n', type: 'number' }, { key: 'vip', type: 'boolean' }, { key: 'extra', type: 'text' }];
  const asked = askedOf(form, 3);

  it('is rows and the same structure again', () => {
    expect(asked.map((f) => f.expression)).toEqual(['model', 'n', 'vip']);
    for (const when of [null, { model: '16' }, { model: ['14', '16'], n: 5, vip: false }, { n: [1, 2] }]) expect(whenOf(whenRows(when), asked)).toEqual(when);
    expect(JSON.stringify(whenOf(whenRows({ n: parse('9007199254740993') }), asked))).toBe('{"n":9007199254740993}');
  });

  it('leaves out rows without a question or a value, and the second of one question', () => {
    expect(whenOf({ join: 'all', parts: [{ what: '', op: 'is', values: ['x'] }, { what: 'n', op: 'is', values: [] }] }, asked)).toBeNull();
    expect(whenOf({ join: 'all', parts: [{ what: 'n', op: 'is', values: ['1'] }, { what: 'n', op: 'is', values: ['2'] }] }, asked)).toEqual({ n: 1 });
  });
});
