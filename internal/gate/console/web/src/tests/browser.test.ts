import { describe, expect, it } from 'vitest';
import { browser, proofs } from '../parts/browser';

describe('a sign-in', () => {
  it('is called by its browser, and by how it was proved', () => {
    expect(browser('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36')).toBe('Chrome on Linux');
    expect(browser('curl/8.5')).toBe('curl/8.5');
    expect(browser('')).toBe('Unknown browser');
    expect(proofs(['pwd', 'otp', 'mfa', 'odd'])).toBe('password, one-time code, two factors, odd');
  });
});
