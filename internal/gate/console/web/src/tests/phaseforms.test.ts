// The logic behind the forms of a workflow's phases.
import { describe, expect, it } from 'vitest';
import { parse } from '../app/digits';
import { keyOf } from '../parts/formkeys';
import type { FormField } from '../ui/answer';
import { moved } from '../ui/lists';
import { stepOf } from '../ui/minutes';
import { spanOf, spanText } from '../pages/workflows/builder/duration';
import { twice, written } from '../pages/workflows/builder/entries';
import { earlier, inputNames, kindOf, knownAt, labelsOf, named, titled } from '../pages/workflows/builder/known';
import { lastCallOf } from '../pages/workflows/builder/lastcall';
import { formOf, scalar, turned } from '../pages/workflows/builder/payload';
import { readMoment, writeMoment, type Moment } from '../pages/workflows/builder/moment';
import { showable } from '../pages/workflows/builder/showable';
import { edit } from '../pages/workflows/builder/edit';
import { renamed } from '../pages/workflows/builder/paste';
import { decides, freeRules, isRule, questionsOf, ruleSaid, rules, taskQuestions } from '../pages/workflows/builder/rules';
import { freeName, rekeyed } from '../pages/workflows/builder/fresh';
import { below, merged, put, within } from '../pages/workflows/builder/shape';
import { join, split, type Piece } from '../pages/workflows/builder/template';
import { quote, readValue, unquote } from '../pages/workflows/builder/value';

// random is a generator of whole numbers below n, always the same ones.
function random(seed: number) {
  let x = seed;
  return (n: number) => { x = (x * 1_103_515_245 + 12_345) % 2_147_483_648; return Math.floor((x / 2_147_483_648) * n); };
}

describe('a template', () => {
  it('is texts and expressions, in which a } may stand', () => {
    expect(split('Order ${request.title}, now')).toEqual([{ text: 'Order ' }, { code: 'request.title' }, { text: ', now' }]);
    expect(split("${{'a': {'}': 1}}.a}x")).toEqual([{ code: "{'a': {'}': 1}}.a" }, { text: 'x' }]);
    expect(split('${"""a"}""" + r"\\" // }\n}')).toEqual([{ code: '"""a"}""" + r"\\" // }\n' }]);
    expect(split('')).toEqual([]);
  });
  it('that never ends is none', () => { for (const t of ['${', 'a ${b', "${'}", '${ // }']) expect(split(t), t).toBeNull(); });
  it('of any pieces is read as these', () => {
    const pick = random(7);
    const codes = ['request.title', "{'a': 1}.a", "'}'", '"\\"}"', "'''it's }'''", 'x ? "{" : "}"', "r'\\'"];
    const plain = ['Order ', '}', '{', '$', '"', ' // ', 'ü ', '\n'];
    for (let n = 0; n < 2000; n++) {
      const pieces: Piece[] = Array.from({ length: pick(6) }, () => (pick(2) ? { code: codes[pick(codes.length)] ?? '' } : { text: plain[pick(plain.length)] ?? '' }));
      const joined = pieces.reduce<Piece[]>((to, p) => { // texts beside each other are one, and a $ ahead of a { would begin an expression
        const last = to.at(-1);
        if (!last || 'code' in last || 'code' in p) return [...to, p];
        return [...to.slice(0, -1), { text: last.text + p.text }];
      }, []);
      if (joined.some((p) => 'text' in p && p.text.includes('${'))) continue;
      expect(split(join(joined)), join(joined)).toEqual(joined);
    }
  });
});

describe('a value', () => {
  it('that is known, fixed, or an expression is told apart', () => {
    const known = (c: string) => c === 'request.title';
    expect(readValue('request.title', known)).toEqual({ is: 'known', code: 'request.title' });
    expect(readValue("'it\\'s'", known)).toEqual({ is: 'text', text: "it's" });
    expect(readValue('3.10', known)).toEqual({ is: 'number', text: '3.10' });
    expect(readValue('true', known)).toEqual({ is: 'boolean', yes: true });
    for (const code of ['request.title + "x"', '"double"', "'a' + 'b'", "'''a'''", '1e3', '']) expect(readValue(code, known), code).toEqual({ is: 'code', code });
  });
  it('of any text is read as it was written', () => {
    for (const t of ['', "it's", 'a\\nb', 'a\nb\t', '"', 'ü${x}', '\\']) expect(unquote(quote(t)), t).toBe(t);
  });
});

describe('a length of time', () => {
  it('is days, hours, minutes and seconds', () => {
    expect(spanOf('3d4h')).toEqual({ d: '3', h: '4', m: '', s: '' });
    expect(spanText({ d: '', h: '2', m: '30', s: '' })).toBe('2h30m');
    for (const t of ['5', '1w', '1m1h', '1.5h']) expect(spanOf(t), t).toBeNull();
  });
  it('in minutes is counted in the longest unit that fits', () => {
    const units = ['days', 'hours', 'minutes'] as const;
    expect([2880, 120, 90, 0].map((n) => stepOf(n, units))).toEqual(['days', 'hours', 'minutes', 'minutes']);
  });
});

describe('a moment', () => {
  const kind = (code: string) => (code === 'request.fields.firstDay' ? 'date' : code === 'request.createdAt' ? 'moment' : null);
  const of = (m: Partial<Moment>): Moment => ({ base: 'request.fields.firstDay', at: '', zone: 'UTC', shift: '', by: '', ...m });
  it('is a known one, at a time of its day, and before or after it', () => {
    expect(readMoment("timestamp(request.fields.firstDay + 'T08:00:00Z')", kind)).toEqual(of({ at: '08:00' }));
    expect(readMoment("date(request.fields.firstDay, 'Europe/Berlin') + duration('8h30m')", kind)).toEqual(of({ at: '08:30', zone: 'Europe/Berlin' }));
    expect(readMoment("request.createdAt + duration('76h')", kind)).toEqual(of({ base: 'request.createdAt', shift: '+', by: '3d4h' }));
    expect(readMoment('request.fields.firstDay', kind)).toEqual(of({}));
  });
  it('of another kind is an expression', () => {
    for (const code of ['now()', "request.createdAt + duration('90s')", "request.createdAt + duration('4500m')", "timestamp(request.createdAt + 'T08:00:00Z')", '', 'request.createdAt + x']) expect(readMoment(code, kind), code).toBeNull();
  });
  it('of any parts is read as these', () => {
    for (const at of ['', '00:00', '08:30', '23:05']) for (const zone of ['UTC', 'Europe/Berlin']) for (const shift of ['', '+', '-'] as const) for (const by of ['1d', '5m', '2h30m', '3660d']) {
      const m = of({ at, zone, shift, by: shift ? by : '' });
      const code = writeMoment(m, true);
      const read = readMoment(code, kind);
      expect(read && writeMoment(read, true), code).toBe(code);
      if (at || zone === 'UTC' || shift !== '+') expect(read, code).toEqual(m); // what is added to the beginning of a day is its time as well
    }
  });
});

describe('rows of names and values', () => {
  it('are an object once each has a name of its own', () => {
    expect(written([{ name: 'a', value: 1 }, { name: '', value: 2 }])).toEqual({ a: 1 });
    expect(written([{ name: 'a', value: 1 }, { name: 'a', value: 2 }])).toBeNull();
    expect([0, 1, 2].map((i) => twice([{ name: 'a', value: 1 }, { name: '', value: 0 }, { name: 'a', value: 2 }], i))).toEqual([false, false, true]);
  });
  it('change in their places', () => {
    expect(Object.keys(put({ a: 1, b: 2, c: 3 }, 'b', 9))).toEqual(['a', 'b', 'c']);
    expect(put({ a: 1, b: 2 }, 'a', undefined)).toEqual({ b: 2 });
    expect(moved(['a', 'b', 'c'], 2, -1)).toEqual(['a', 'c', 'b']);
  });
  it('of one role stand among the others as they did', () => {
    const [a, b, c] = [{ role: 'responsible', id: 'a' }, { role: 'informed', id: 'b' }, { role: 'responsible', id: 'c' }];
    expect(merged([a, b, c], 'responsible', [c, a])).toEqual([c, b, a]);
    expect(merged([a, b, c], 'responsible', [c])).toEqual([c, b]);
    expect(merged([a], 'informed', [b])).toEqual([a, b]);
  });
});

describe('what is sent', () => {
  it('has the simplest form that shows it', () => {
    expect([undefined, null, 'a', { a: 1, b: '${x}', c: true, d: null }, { a: { b: 1 } }, [1]].map(formOf)).toEqual(['none', 'none', 'text', 'pairs', 'json', 'json']);
  });
  it('keeps what another form can show', () => {
    expect(turned({ a: '${x}' }, 'text')).toBe('{"a":"${x}"}');
    expect(turned({ a: { b: 1 } }, 'pairs')).toEqual({});
    expect(turned(undefined, 'json')).toEqual({});
    expect(scalar('12', 'number')).toBe(12);
    expect(scalar('x', 'number')).toBe(0);
  });
});

describe('the keys of a task’s form', () => {
  const field = (key: string, label: string, more = {}): FormField => ({ key, label, type: 'text', ...more });
  it('follow their labels while they are fresh', () => {
    const one = rekeyed([field('', '')], [], new Set(), () => false);
    expect(one.fields.map((f) => f.key)).toEqual(['field1']);
    const two = rekeyed([{ ...one.fields[0] as FormField, label: 'Room number', max: null }], one.fields, one.fresh, () => false);
    expect(two.fields).toEqual([field('roomNumber', 'Room number')]);
  });
  it('are of the letters that keys have', () => { expect(['Größe des Raums', '2. Étage', '日本'].map(keyOf)).toEqual(['grosseDesRaums', 'etage', '']); });
  it('stay once something names them, or they were there before', () => {
    expect(rekeyed([field('room', 'Floor')], [], new Set(['room']), () => true).fields[0]?.key).toBe('room');
    expect(rekeyed([field('room', 'Floor'), field('b', 'B', { visibleWhen: { room: 'x' } })], [], new Set(['room']), () => false).fields[0]?.key).toBe('room');
    expect(rekeyed([field('room', 'Floor')], [], new Set(), () => false).fields[0]?.key).toBe('room');
  });
});

describe('known values', () => {
  const definition = parse(`{
    "phases": [
      {"id": "start", "type": "START"}, {"id": "rate", "type": "DATA", "config": {"kind": "enrich", "set": {"major": "request.fields.affected > 50.0"}}},
      {"id": "mend", "type": "PROCESS", "config": {"form": {"fields": [{"key": "cause", "label": "Cause", "type": "textarea"}]}}}, {"id": "done", "type": "END"}],
    "transitions": [{"from": "start", "name": "next", "to": "rate"}, {"from": "rate", "name": "next", "to": "mend"}, {"from": "mend", "name": "next", "to": "done"}]
  }`);
  const asked = [{ name: 'Report', fields: [{ key: 'affected', label: 'How many?', type: 'number' }, { key: 'level', label: 'Level', type: 'select', options: ['read', 'write'] }] }];
  const call = { headers: { 'x-github-event': 'push' }, body: parse('{"issue":{"title":"a","labels":[{"name":"b"}],"first-name":1.10}}') };
  const labels = labelsOf(knownAt({ definition, id: 'done', asked, call, secrets: ['TOKEN'] }, 'call'));
  const label = (code: string) => labels.get(code)?.label;
  it('are called as people call them', () => {
    expect(label('request.fields.affected')).toBe('How many?');
    expect(label('request.title')).toBe('Title');
    expect(label('phases.mend.cause')).toBe('Mend › Cause');
    expect(label('phases.rate.major')).toBe('Rate › Major');
    expect(label('secrets.TOKEN')).toBe('Secrets › TOKEN');
    expect(label('webhook.headers["x-github-event"]')).toBe('Inbound webhook › Headers › x-github-event');
    expect(label('webhook.body.issue.labels[0].name')).toBe('Inbound webhook › Body › issue › labels › First entry › name');
    expect(labels.get('webhook.body.issue["first-name"]')?.kind).toBe('number');
    expect(labels.get('request.fields.level')?.options).toEqual(['read', 'write']);
  });
  it('have the type that their expression has, where that can be seen', () => {
    expect(['a > 1', 'x == "y" || z', 'a > 1 ? 2 : 3', '4.50', "'a'", 'request.title', 'true', '"a>b"'].map(kindOf)).toEqual(['boolean', 'boolean', 'any', 'number', 'text', 'any', 'boolean', 'any']);
  });
  it('that no form asks are called by their key', () => { expect(['request.fields.firstDay', 'request.title', 'request.fields.a.b'].map((c) => named(c, new Map()))).toEqual(['First day', null, null]); });
  it('are those of phases that can be passed before', () => {
    expect([...earlier(definition, 'rate')]).toEqual(['start']);
    expect(knownAt({ definition, id: 'rate', asked, call: null, secrets: [] }, 'plain').map((g) => g.label)).toEqual(['Answers of the form', 'Request']);
    const loop = { phases: [{ id: 'a', type: 'PROCESS', config: { form: { fields: [{ key: 'n', type: 'number' }] } } }], transitions: [{ from: 'a', name: 'again', to: 'a' }] };
    expect([...labelsOf(knownAt({ definition: loop, id: 'a', asked: [], call: null, secrets: [] }, 'plain')).keys()]).toContain('phases.a.n');
  });
  it('of secrets are for calls alone, of the answer for what is kept of it', () => {
    const of = (place: 'plain' | 'response') => [...labelsOf(knownAt({ definition, id: 'done', asked, call, secrets: ['TOKEN'] }, place)).keys()];
    expect(of('plain').filter((c) => /^(secrets|response)/.test(c))).toEqual([]);
    expect(of('response')).toContain('response.status');
  });
  it('of a called workflow are what its phases leave, where it is waited for', () => {
    const calls = (config: object) => ({ phases: [{ id: 'part', type: 'CALL_WORKFLOW', name: 'Order', config: { workflowId: 'wf_1', ...config } }, { id: 'end', type: 'END' }], transitions: [{ from: 'part', name: 'next', to: 'end' }] });
    const of = (config: object) => [...labelsOf(knownAt({ definition: calls(config), id: 'end', asked: [], call: null, secrets: [] }, 'plain')).keys()].filter((c) => c.startsWith('phases.'));
    expect([of({}), of({ wait: true }), of({ wait: false })]).toEqual([['phases.part.phases'], ['phases.part.phases'], []]);
  });
  it('that a calling workflow gives are those that the definition reads', () => {
    const reads = { phases: [{ id: 'a', type: 'DATA', config: { kind: 'enrich', set: { total: 'input.price * input.number', other: 'request.fields.input.a + phases.input.b' } } }, { id: 'b', type: 'PROCESS', config: { title: 'Order ${input.price}' } }], transitions: [{ from: 'a', name: 'next', to: 'b' }] };
    expect(inputNames(reads)).toEqual(['price', 'number']);
    expect(labelsOf(knownAt({ definition: reads, id: 'b', asked: [], call: null, secrets: [] }, 'plain')).get('input.price')?.label).toBe('Given by the calling workflow › Price');
  });
  it('survive a definition that is still being written', () => {
    for (const d of [null, {}, { phases: 3 }, { phases: [null, { id: 1 }], transitions: [{}] }]) expect(knownAt({ definition: d, id: 'x', asked: [], call: { headers: {}, body: 'no json' }, secrets: [] }, 'call').length).toBe(2);
    expect(titled({ id: 'start', type: 'START' })).toBe('Start');
    expect(titled({ id: 'check_dates', type: 'DATA' })).toBe('Check dates');
  });
});

describe('the call of a webhook', () => {
  const kept = (body: string, more = {}) => ({ headers: { host: 'a' }, body, bodyBytes: body.length, ...more });
  const sample = { sampleHeaders: { host: 's' }, sampleBody: { of: 'sample' } };
  const of = (...calls: Parameters<typeof lastCallOf>) => lastCallOf(...calls)?.body;
  it('is the last one that started something, then one that was ignored, then the sample of its sender', () => {
    expect(of(kept('{"of":"accepted"}'), kept('{"of":"ignored"}'), sample)).toEqual({ of: 'accepted' });
    expect(of(undefined, kept('{"of":"ignored"}'), sample)).toEqual({ of: 'ignored' });
    expect(of(kept('a=form'), undefined, sample)).toEqual({ of: 'sample' });
    expect([of(undefined, undefined, sample), of(undefined, undefined, undefined)]).toEqual([{ of: 'sample' }, undefined]);
  });
  it('has its whole body, from the execution where the history has a part', () => {
    const part = (execution: { variables: unknown } | null) => kept('{"list":[1,', { bodyBytes: 20_000, execution });
    expect(of(part({ variables: { webhook: { body: { list: [1, 2] } } } }), undefined, sample)).toEqual({ list: [1, 2] });
    expect(of(part(null), kept('{"of":"ignored"}'), sample)).toEqual({ of: 'ignored' });
    expect(of(kept('"ü"', { bodyBytes: 4 }), undefined, sample)).toBe('ü');
  });
});

describe('what is said of a place', () => {
  it('is said of what is in it, too', () => {
    const problems = [{ path: 'config.body.a', message: 'A.' }, { path: 'config.bodyguard', message: 'B.' }];
    expect(below(problems, 'config.body')).toBe('A.');
    expect(within('config.rules[0].when', 'config.rules')).toBe(true);
  });
});

describe('what a phase shows', () => {
  const asks = { approvers: [], mode: 'any', shows: ['price', 'net'] };
  const line = {
    phases: [
      { id: 'start', type: 'START' }, { id: 'price', type: 'PROCESS', name: 'Ask for the price' }, { id: 'net', type: 'DATA', config: { kind: 'enrich', set: { n: '1' } } },
      { id: 'check', type: 'DATA', config: { kind: 'validate', rules: [] } }, { id: 'ask', type: 'APPROVAL', config: asks }, { id: 'order', type: 'PROCESS' }, { id: 'end', type: 'END' },
    ],
    transitions: [['start', 'price'], ['price', 'net'], ['net', 'check'], ['check', 'ask'], ['ask', 'order', 'approved'], ['ask', 'end', 'rejected'], ['order', 'end']].map(([from = '', to = '', name = 'next']) => ({ from, to, name })),
  };
  const shown = (d: { phases: object[] }) => ((d.phases.find((p) => 'id' in p && p.id === 'ask') as { config?: { shows?: unknown } } | undefined)?.config ?? {}).shows;
  it('is chosen from the phases that lead to it and leave something', () => {
    expect(showable(line, 'ask').map((p) => p['id'])).toEqual(['price', 'net']);
    expect(showable(line, 'order').map((p) => p['id'])).toEqual(['price', 'net', 'ask']);
    expect(showable(line, 'price')).toEqual([]);
  });
  it('is nothing of another branch', () => {
    const block = {
      phases: [
        { id: 'start', type: 'START' }, { id: 'first', type: 'PROCESS' }, { id: 'b', type: 'PARALLEL', branches: [{ name: 'A', start: 'a' }, { name: 'C', start: 'c' }], end: 'j' },
        { id: 'a', type: 'PROCESS' }, { id: 'c', type: 'PROCESS' }, { id: 'j', type: 'JOIN', next: 'again' }, { id: 'again', type: 'PROCESS' }, { id: 'end', type: 'END' },
      ],
      transitions: [['start', 'first'], ['first', 'b'], ['a', 'j'], ['c', 'j'], ['again', 'first', 'more'], ['again', 'end']].map(([from = '', to = '', name = 'next']) => ({ from, to, name })),
    };
    expect(showable(block, 'a').map((p) => p['id'])).toEqual(['first', 'a', 'again']);
    expect(showable(block, 'again').map((p) => p['id'])).toEqual(['first', 'a', 'c', 'again']);
  });
  it('follows when a phase is called otherwise, and when one is removed', () => {
    expect(shown(renamed(line as never, new Map([['price', 'cost']])))).toEqual(['cost', 'net']);
    expect(shown(edit(line as never, { do: 'remove', id: 'net' }))).toEqual(['price']);
  });
});

describe('participants who are found for each request', () => {
  const fields = [{ key: 'lead', label: 'Your manager', type: 'user' }, { key: 'by_mail', type: 'email' }, { key: 'price', type: 'number' }];
  const questions = questionsOf([...fields, { key: 'lead', label: 'Your manager', type: 'user' }]);
  it('are offered by the questions whose answers name people, each once', () => {
    expect(questions).toEqual([{ key: 'lead', label: 'Your manager' }, { key: 'by_mail', label: 'By mail' }]);
    expect(freeRules(rules, questions).map((r) => ruleSaid(r, questions))).toEqual(['The requester', 'The assignee of the request', 'The team of the service', 'Person in the answer “Your manager”', 'Person in the answer “By mail”']);
    expect(freeRules(decides, [])).toEqual([{ type: 'assignee' }, { type: 'serviceTeam' }, { type: 'answer', answer: '' }]); // nobody decides on their own
  });
  it('may be whom an earlier task was answered', () => {
    const ask = { id: 'ask', type: 'PROCESS', name: 'Choose a lead', config: { form: { fields } } };
    const decide = { id: 'decide', type: 'APPROVAL', config: { approvers: [{ type: 'answer', answer: 'lead', phaseId: 'ask' }] }, participants: [{ role: 'informed', type: 'answer', answer: 'lead', phaseId: 'ask' }, { role: 'informed', type: 'requester' }] };
    const d = { phases: [ask, decide], transitions: [] };
    const tasks = taskQuestions(d, new Set(['phases.ask.lead']));
    expect(tasks).toEqual([{ key: 'lead', label: 'Your manager', phase: 'ask', of: 'Choose a lead' }]);
    expect(freeRules(['answer'], tasks)).toEqual([{ type: 'answer', answer: '' }, { type: 'answer', answer: 'lead', phaseId: 'ask' }]);
    expect(freeRules(['answer'], [...questions, ...tasks]).map((r) => ruleSaid(r, [...questions, ...tasks]))).toEqual(['Person in the answer “Your manager”', 'Person in the answer “By mail”', 'Person in the answer “Your manager” of “Choose a lead”']);
    expect(ruleSaid({ type: 'answer', answer: 'lead', phaseId: 'ask' })).toBe('Person in the answer “Lead” of “Ask”');
    const to = renamed(d as never, new Map([['ask', 'choose']])).phases[1] as never as typeof decide;
    expect([to.config.approvers[0]?.phaseId, to.participants[0], to.participants[1]]).toEqual(['choose', { role: 'informed', type: 'answer', answer: 'lead', phaseId: 'choose' }, { role: 'informed', type: 'requester' }]);
  });
  it('are none where somebody is named', () => { expect([ruleSaid({ type: 'user', id: 'usr_1' }), isRule('user'), isRule('answer')]).toEqual(['', false, true]); });
});

it('a new rule of a decision has a name that no other has', () => { expect([freeName([]), freeName(['Rule 1', 'otherwise', 'Rule 2'])]).toEqual(['Rule 1', 'Rule 3']); });
