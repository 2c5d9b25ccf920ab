import { describe, expect, it } from 'vitest';
import { expressionsIn, keyOf, phasesOf } from '../pages/workflows/builder/expressions';
import { begun, offered, type Word } from '../parts/celwords';

const words: Word[] = [
  { code: 'request.title', label: 'Title' }, { code: 'request.fields.model', label: 'Which laptop?' }, { code: 'request.fields["in"]', label: 'In' },
  { code: 'phases.review.outcome', label: 'Outcome' }, { code: 'webhook.body.event.id', label: 'event.id' },
];
const at = (text: string, template = false) => { const i = text.indexOf('|'); return begun(text.replace('|', ''), i, template); };
const names = (said: string) => offered(said, words).map((w) => w.code);

describe('what is begun of an expression', () => {
  it.each([
    ['req|', 'req', 0], ['1 + request.fi|', 'request.fi', 4], ['request.fields["i|', 'request.fields["i', 0], ['size(phases.|', 'phases.', 5], ['!req|', 'req', 1], ['"a" + req|', 'req', 6],
  ])('of %s is %s', (text, said, from) => { expect(at(text)).toEqual({ said, from }); });
  it.each(['"req|', "'it is req|", '12ab|', '1 + |', '|'])('is nothing in %s', (text) => { expect(at(text)).toBeNull(); });
  it('is within ${…} in a template alone', () => {
    expect(at('Buy req|', true)).toBeNull();
    expect(at('Buy ${req|', true)).toEqual({ said: 'req', from: 6 });
    expect(at('Buy ${request.title} for req|', true)).toBeNull();
    expect(at('{"a": "${x} ${req|"}', true)).toEqual({ said: 'req', from: 14 });
  });
});

describe('what goes on from it', () => {
  it('is a value by its name, the short ones first', () => {
    expect(names('re')).toEqual(['request.title', 'request.fields.model', 'request.fields["in"]']);
    expect(names('request.fields.m')).toEqual(['request.fields.model']);
  });
  it('is a value by its label', () => { expect(names('lapt')).toEqual(['request.fields.model']); });
  it('is a function, and behind a value what it can do', () => {
    expect(names('si')).toEqual(['size(']);
    expect(names('request.title.st')).toEqual(['request.title.startsWith(']);
    expect(names('request.title')).toEqual([]);
  });
});

describe('the expressions of a definition', () => {
  const d = { phases: [
    { id: 'work', type: 'PROCESS', config: { title: 'Buy ${request.title}', instructions: '${not.one}', form: { fields: [{ key: 'a', help: '${no}' }] } } },
    { id: 'way', type: 'DECISION', config: { rules: [{ when: 'phases.work.a > 1', transition: 'x', name: 'A' }] } },
    { id: 'keep', type: 'DATA', config: { kind: 'enrich', set: { when: '1', b: 'phases.gone.x' } } },
    { id: 'nap', type: 'TIMER', config: { until: 'request.createdAt' } },
    { id: 'call', type: 'API_CALL', config: { method: 'GET', url: 'https://a/${request.id}', headers: { name: 'Bearer ${secrets.T}' }, body: { set: '${request.title}', n: 1 }, response: { id: 'response.body.id' } } },
    { id: 'each', type: 'FOR_EACH', in: 'request.fields.list', as: 'one', start: 'work' },
    { id: 'sub', type: 'CALL_WORKFLOW', config: { workflowId: 'wf_1', input: { in: ['${request.title}'] } } },
    { id: 'blank', type: 'TIMER', config: { until: ' ' } },
  ] };
  it('are found with their places', () => {
    expect(expressionsIn(d).map((e) => `${e.id} ${e.path} ${e.place} ${e.code}`)).toEqual([
      'work config.title VALUE request.title', 'way config.rules[0].when DECISION phases.work.a > 1', 'keep config.set.when VALUE 1', 'keep config.set.b VALUE phases.gone.x', 'nap config.until MOMENT request.createdAt',
      'call config.url CALL request.id', 'call config.headers.name CALL secrets.T', 'call config.body.set CALL request.title', 'call config.response.id RESPONSE response.body.id',
      'each in LIST request.fields.list', 'sub config.input.in[0] VALUE request.title',
    ]);
    expect(expressionsIn(null)).toEqual([]);
  });
  it('are asked again once a phase that they name is gone', () => {
    const e = expressionsIn(d)[1]!;
    expect(keyOf(e, phasesOf(d))).toBe(keyOf({ ...e, id: 'other', path: 'x' }, phasesOf(d)));
    expect(keyOf(e, phasesOf(d))).not.toBe(keyOf(e, new Set(['way'])));
  });
});
