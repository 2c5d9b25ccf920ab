import { describe, expect, it } from 'vitest';
import { example, signsItself } from '../pages/keys/example';

describe('the first call by a new key', () => {
  it('has the key, and reads what its scopes let it read', () => {
    expect(example('https://a.test', 'key_1', ['teams:write', 'users:read'])).toBe("curl https://a.test/v1/users -H 'x-api-key: key_1'");
    expect(example('https://a.test', 'key_1', ['requests:write'])).toBeNull();
  });
  it.each([['https://127.0.0.1:8443', true], ['https://localhost:8443', true], ['https://[::1]:8443', true], ['https://api.example.com', false], ['http://127.0.0.1', false], ['https://127.example.com', false]])('of %s meets a certificate of its own: %s', (url, own) => {
    expect(signsItself(url)).toBe(own);
  });
});
