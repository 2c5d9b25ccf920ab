import { describe, expect, it } from 'vitest';
import { pieces } from '../pages/requests/links';

const found = (text: string) => pieces(text).flatMap((p) => p.href ?? []);

describe('addresses in comments', () => {
  it.each([
    ['See https://a.example/x?y=1&z=2.', ['https://a.example/x?y=1&z=2']],
    ['(http://a.example/b_(c)) and HTTPS://B.example, too', ['http://a.example/b_(c)', 'HTTPS://B.example']],
    ['javascript:alert(1) data:text/html,x ftp://a.example www.a.example', []],
    ['https:// and https://', []],
    ['https://a.example"onclick=alert(1) <https://b.example>', ['https://a.example', 'https://b.example']],
    ['https://a.example/\u202egpj.exe', ['https://a.example/']],
  ])('of %j are links', (text, wanted) => {
    expect(found(text)).toEqual(wanted);
    expect(pieces(text).map((p) => p.text).join('')).toBe(text);
  });
});
