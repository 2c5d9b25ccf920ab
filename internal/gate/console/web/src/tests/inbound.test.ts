import { describe, expect, it } from 'vitest';
import { exampleBody, sampleFields } from '../pages/inbound/example';
import { fixedAs, fixedChoices, fixedOf, flat, isOpen, nested, said } from '../pages/inbound/mapping';
import { curl, noSettings, sent, settingsOf, why } from '../pages/inbound/signing';

describe('what a request of a call is made of', () => {
  it('is written as it was read', () => {
    const stored = { title: 'webhook.body.title', tags: '["a"]', fields: { host: 'webhook.body.host' } };
    expect(flat(stored)).toEqual({ title: 'webhook.body.title', tags: '["a"]', 'fields.host': 'webhook.body.host' });
    expect(nested(flat(stored))).toEqual(stored);
  });
  it('is nothing when nothing is said', () => {
    expect(nested({})).toBeNull();
    expect(nested({ title: '  ' })).toBeNull();
    expect(flat(null)).toEqual({});
  });
  it('is shown as people read it', () => {
    expect([said(null), said(['a', 1]), said({ a: true }), said(false)]).toEqual(['–', 'a, 1', '{"a":true}', 'false']);
  });
});

describe('what answers a question', () => {
  it('can be the same for each call', () => {
    expect([fixedAs('Printer', 'text'), fixedAs('7', 'number'), fixedAs('7', 'text'), fixedAs('many', 'number')]).toEqual(['"Printer"', '7', '"7"', '"many"']);
    expect(['"Printer"', "'a'", '7', 'webhook.body.a', '"a" + "b"', ''].map(fixedOf)).toEqual(['Printer', 'a', '7', null, null, null]);
    expect(fixedChoices({ type: 'select', options: ['High', 'It’s "low"'] })).toEqual([['"High"', 'High'], [String.raw`"It’s \"low\""`, 'It’s "low"']]);
    expect(fixedChoices({ type: 'multiselect', options: ['a'] })).toEqual([['["a"]', 'a']]);
    expect([fixedChoices({ type: 'boolean' })?.map(([x]) => x), fixedChoices({ type: 'text' })]).toEqual([['true', 'false'], null]);
  });
  it('is needed where each request must answer', () => {
    expect([{ key: 'a', required: true }, { key: 'a' }, { key: 'a', required: true, visibleWhen: { b: 1 } }, { key: 'a', required: true, visibleWhen: {} }].map(isOpen)).toEqual([true, false, false, true]);
  });
  it('can be chosen from the sample of the sender', () => {
    expect(sampleFields({ event: { id: 'a', 'x-y': 1, in: true }, tags: [1] }, 'Body').map((f) => `${f.expression} ${f.label} ${f.type}`))
      .toEqual(['webhook.body.event.id event.id TEXT', 'webhook.body.event["in"] event.in BOOLEAN', 'webhook.body.event["x-y"] event.x-y NUMBER', 'webhook.body.tags tags LIST']);
    expect(sampleFields(null, 'Body')).toEqual([]);
  });
});

describe('an example call', () => {
  it('has what the mapping and the condition read', () => {
    expect(exampleBody(undefined, [])).toBe('{"title":"Printer is empty"}');
    expect(exampleBody(undefined, ['webhook.body.status == "firing" && has(webhook.body.labels.severity)', 'webhook.body.labels.host + webhook.body.disk_name', 'webhook.body.names.map(n, n)'])).toBe('{"status":"firing","labels":{"severity":"severity","host":"host"},"disk_name":"disk name"}');
  });
  it('is that of the sender', () => {
    expect(exampleBody({ event: { title: 'It’s down' } }, ['webhook.body.event.title', 'webhook.body.event.since'])).toBe('{"event":{"title":"It’s down","since":"since"}}');
  });
  it('is written for a shell, with the headers of the event', () => {
    const said = curl('https://a', 'github', noSettings, true, { body: '{"a":"it\'s"}', headers: { 'x-github-event': 'issues', 'content-type': 'text/plain' } });
    expect(said).toContain(String.raw`body='{"a":"it'\''s"}';`);
    expect(said.match(/x-github-event/g)).toHaveLength(1);
    expect(said).not.toContain('text/plain');
    expect(curl('https://a', 'github', noSettings)).toContain('x-github-event: issues');
  });
});

describe('how calls are signed', () => {
  it('has settings of its own style alone', () => {
    const all = { ...noSettings, header: 'X-Sig', prefix: 'v1=', username: 'robot' };
    expect(sent('header', all)).toEqual({ header: 'X-Sig', prefix: 'v1=' });
    expect(sent('basic', all)).toEqual({ username: 'robot' });
    expect(sent('hex', all)).toBeNull();
    expect(settingsOf('sns')).toEqual(['topicArn']);
  });
  it.each([
    ['hex', noSettings, 'x-webhook-signature: sha256=$('], ['header', { ...noSettings, header: 'X-Sig', encoding: 'base64' as const }, 'X-Sig: $('],
    ['bearer', noSettings, 'authorization: Bearer $SECRET'], ['bearer', { ...noSettings, header: 'X-Gitlab-Token' }, 'X-Gitlab-Token: $SECRET'],
    ['basic', { ...noSettings, username: 'robot' }, '"robot:$SECRET"'], ['stripe', noSettings, 't=$at,v1='], ['slack', noSettings, 'v0:$at:$body'], ['sns', { ...noSettings, topicArn: 'arn:x' }, "--topic-arn 'arn:x'"],
  ] as const)('shows an example of %s', (style, settings, part) => {
    const example = curl('https://atrium.test/v1/webhooks/inbound/whi_1', style, settings);
    expect(example).toContain(part);
    expect(example).toContain('https://atrium.test/v1/webhooks/inbound/whi_1');
  });
  it('needs nothing where nothing is verified', () => { expect(curl('https://a', 'hex', noSettings, false)).not.toContain('SECRET'); });
});

it('says why a call started nothing, in the language of the page', () => {
  expect(why('The condition is not met.')).toBe('The condition is not met.');
  expect(why('The condition could not be evaluated: index out of bounds: 0.')).toBe('The condition could not be evaluated: index out of bounds: 0.');
  expect(why('something else')).toBe('something else');
});
