import { CombinedError } from '@urql/core';
import { describe, expect, it } from 'vitest';
import { faultOf, sentence, unproven, type Fault } from '../app/fault';
import { below, faultAt, faultBelow } from '../ui/faults';

describe('a refusal that asks for a recent proof', () => {
  it('is told by its reason, as the server says it', () => {
    const f = faultOf(new CombinedError({ graphQLErrors: [{ message: 'no', extensions: { code: 'forbidden', reason: 'reauthentication_required' } }] }));
    expect(unproven(f)).toBe(true);
    expect(f && sentence(f)).toBe('Nothing was changed. Confirm your identity first.');
    expect(unproven({ reason: 'policy' })).toBe(false);
    expect(unproven(null)).toBe(false);
  });
});

const refused = (code: string, details: { field: string; message: string }[] = [], message = 'The service has requests.') =>
  faultOf(new CombinedError({ graphQLErrors: [{ message, extensions: { code, details } }] })) as Fault;

describe('a refusal', () => {
  it('speaks of a change meanwhile where one was missed, not of every conflict', () => {
    expect(sentence(refused('conflict'))).toBe('The service has requests.');
    expect(sentence(refused('precondition_failed'))).toContain('meanwhile');
  });
  it('of an empty text says what a form would', () => {
    const f = refused('validation_error', [{ field: 'name', message: 'Must have at least 1 character.' }, { field: 'slug', message: 'Must have at least 2 characters.' }]);
    expect(faultAt(f, 'name')).toBe('Is required.');
    expect(faultAt(f, 'slug')).toBe('Must have at least 2 characters.');
  });
  it('of one of many things stands at their field, and says of which', () => {
    const f = refused('validation_error', [{ field: 'tags.', message: 'Must have a key.' }, { field: 'tags.env', message: 'Is too long.' }, { field: 'title', message: 'Is required.' }]);
    expect(below(f, 'tags')).toEqual(['tags.', 'tags.env']);
    expect(faultBelow(f, 'tags')).toBe('Must have a key. env: Is too long.');
    expect(faultBelow(f, 'description')).toBeUndefined();
  });
});
