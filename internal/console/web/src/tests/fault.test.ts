import { CombinedError } from '@urql/core';
import { describe, expect, it } from 'vitest';
import { faultOf, sentence, unproven } from '../app/fault';

describe('a refusal that asks for a recent proof', () => {
  it('is told by its reason, as the server says it', () => {
    const f = faultOf(new CombinedError({ graphQLErrors: [{ message: 'no', extensions: { code: 'forbidden', reason: 'reauthentication_required' } }] }));
    expect(unproven(f)).toBe(true);
    expect(f && sentence(f)).toBe('Nothing was changed: this needs a proof that it is you.');
    expect(unproven({ reason: 'policy' })).toBe(false);
    expect(unproven(null)).toBe(false);
  });
});
