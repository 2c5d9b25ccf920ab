import { describe, expect, it } from 'vitest';
import { flat, nested, said } from '../pages/inbound/mapping';
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
  expect(why('The condition could not be evaluated: no such key: level.')).toBe('The condition could not be evaluated: no such key: level.');
  expect(why('something else')).toBe('something else');
});
