// What the forms of a workflow's phases show of each example in the repository is what they write, as long as nothing is changed.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from '../app/digits';
import { spanOf, spanText } from '../pages/workflows/builder/duration';
import { entriesOf, written } from '../pages/workflows/builder/entries';
import { rekeyed } from '../pages/workflows/builder/fresh';
import { broken } from '../pages/workflows/builder/blocks';
import { shaped } from '../pages/workflows/builder/definition';
import { kinds } from '../pages/workflows/builder/kinds';
import { knownAt, labelsOf } from '../pages/workflows/builder/known';
import { formOf, scalar, scalarOf, turned } from '../pages/workflows/builder/payload';
import { isObject, merged, object, objects, put, text } from '../pages/workflows/builder/shape';
import { join, split } from '../pages/workflows/builder/template';
import { readValue, writeValue } from '../pages/workflows/builder/value';

const read = (file) => readFileSync(`${process.env.REPOSITORY ?? '../../../..'}/${file}`, 'utf8');

// types are the phase types as the engine's tests name them.
const types = { Process: 'PROCESS', Decision: 'DECISION', Data: 'DATA', Timer: 'TIMER', WebhookCallout: 'WEBHOOK_CALLOUT', APICall: 'API_CALL', Approval: 'APPROVAL', CallWorkflow: 'CALL_WORKFLOW' };

// examples are the definitions of the guides, of processes that many companies have (processes.json) and of the engine's tests.
function examples() {
  const guides = parse(read('rest/guides/phases.json')).map((p) => p['example']).filter(isObject);
  const processes = parse(readFileSync(new URL('processes.json', import.meta.url), 'utf8'));
  const engine = [...read('internal/workflow/definition/good_test.go').matchAll(/with\((\w+)[^)]*\)\(`(\{[^`]*\})`\)/g)].map((m) => ({ phases: [{ id: 'p', type: types[m[1]], config: parse(m[2]) }], transitions: [] }));
  return [...guides, parse(read('rest/guides/definition.json')), ...processes, ...engine];
}
const phases = examples().flatMap((d) => objects(d['phases']).map((phase) => ({ definition: d, phase, name: `${text(phase['type'])} ${text(phase['id'])}` })));
const config = (p) => object(p['config']);
const same = (now, was) => { expect(JSON.stringify(now)).toBe(JSON.stringify(was)); };

// texts are all texts in a value.
const texts = (v) => (typeof v === 'string' ? [v] : Array.isArray(v) ? v.flatMap(texts) : isObject(v) ? Object.values(v).flatMap(texts) : []);

// whole is an example with a beginning and an end, as it would stand in a workflow.
const whole = (d) => (objects(d['phases']).some((p) => p['type'] === 'START') ? d : {
  phases: [{ id: 'start', type: 'START' }, ...objects(d['phases']), { id: 'end', type: 'END' }], transitions: [{ from: 'start', name: 'next', to: text(objects(d['phases'])[0]?.['id']) }, ...objects(d['transitions'])],
});

describe('an example that is opened and written without a change', () => {
  it('is one of many, of all types', () => {
    expect(phases.length).toBeGreaterThan(50);
    const types = new Set(phases.map((p) => p.phase['type']));
    expect(['API_CALL', 'APPROVAL', 'DATA', 'DECISION', 'END', 'FOR_EACH', 'JOIN', 'PARALLEL', 'PROCESS', 'START', 'TIMER', 'WEBHOOK_CALLOUT'].filter((type) => !types.has(type))).toEqual([]);
    expect([...types].filter((type) => !(type in kinds))).toEqual([]);
  });
  it.each(phases)('keeps its blocks whole: $name', ({ definition }) => {
    const d = shaped(whole(definition));
    if (d) expect(broken(d)).toEqual([]);
  });
  it.each(phases)('has the same templates: $name', ({ phase: p }) => {
    const c = config(p);
    for (const one of texts([c['title'], c['url'], c['headers'], c['body'], c['data'], c['signingSecret']])) expect(join(split(one) ?? [])).toBe(one);
  });
  it.each(phases)('has the same rows: $name', ({ definition, phase: p }) => {
    const c = config(p);
    const known = labelsOf(knownAt({ definition, id: text(p['id']), asked: [], call: null, secrets: [] }, 'call'));
    for (const key of ['set', 'response', 'headers']) if (isObject(c[key])) same(written(entriesOf(object(c[key]))), c[key]);
    for (const code of texts([c['set'], c['response'], c['until']])) expect(writeValue(readValue(code, (x) => known.has(x)))).toBe(code);
    for (const key of Object.keys(c)) same(put(c, key, c[key]), c);
    for (const role of ['responsible', 'accountable', 'consulted', 'informed']) {
      const all = objects(p['participants']);
      same(merged(all, role, all.filter((x) => x['role'] === role)), all);
    }
  });
  it.each(phases)('sends the same: $name', ({ phase: p }) => {
    for (const sent of [config(p)['body'], config(p)['data']]) {
      same(turned(sent, formOf(sent)), sent);
      if (formOf(sent) === 'pairs') for (const v of Object.values(object(sent))) same(scalar(v, scalarOf(v) ?? 'text'), v);
    }
  });
  it.each(phases)('waits as long and asks the same: $name', ({ phase: p }) => {
    const c = config(p);
    for (const span of texts([c['duration'], c['deadline']])) expect(spanText(spanOf(span) ?? { d: '', h: '', m: '', s: '' })).toBe(span);
    const fields = objects(object(c['form'])['fields']);
    const again = rekeyed(fields, fields, new Set(), () => false);
    same(again.fields, fields);
    expect(again.fresh.size).toBe(0);
  });
});

