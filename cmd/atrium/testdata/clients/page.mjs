// A browser of the simplest kind: it keeps cookies, follows redirects on one site and posts forms.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';

export class Browser {
  cookies = new Map();

  // go requests a URL and follows redirects as long as they stay where follow allows. Returns {url, status, html, location}.
  async go(url, init = {}, follow = () => true) {
    for (let hops = 0; hops < 15; hops++) {
      const headers = { ...init.headers, cookie: [...this.cookies].map(([k, v]) => `${k}=${v}`).join('; ') };
      const res = await fetch(url, { ...init, headers, redirect: 'manual' });
      for (const line of res.headers.getSetCookie()) this.keep(line);
      const location = res.headers.get('location');
      if (res.status < 300 || res.status >= 400 || !location) {
        return { url: String(url), status: res.status, headers: res.headers, html: await res.text() };
      }
      await res.arrayBuffer();
      const next = new URL(location, url);
      if (!follow(next)) return { url: String(url), status: res.status, headers: res.headers, html: '', location: next };
      if (res.status === 303 || res.status === 302) init = {};
      url = next;
    }
    assert.fail('too many redirects');
  }

  keep(line) {
    const [pair, ...attributes] = line.split(';').map((s) => s.trim());
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    const gone = attributes.some((a) => /^max-age=(0|-\d+)$/i.test(a));
    if (gone) this.cookies.delete(name);
    else this.cookies.set(name, pair.slice(at + 1));
  }

  // submit posts the page's form that has the named field, filled in with values.
  async submit(page, field, values, follow) {
    const form = forms(page.html).find((f) => f.fields.has(field));
    assert.ok(form, `no form with a field ${field} on ${page.url}:\n${page.html}`);
    const body = new URLSearchParams();
    for (const [name, value] of form.fields) if (!(name in values) && value !== undefined) body.append(name, value);
    for (const [name, value] of Object.entries(values)) body.append(name, value);
    return this.go(new URL(form.action || page.url, page.url), {
      method: 'POST', body, headers: { origin: new URL(page.url).origin },
    }, follow);
  }
}

// forms returns the forms of a page, each with its action and its fields as they come filled in.
export function forms(html) {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(([, head, inner]) => {
    const fields = new Map();
    for (const [, element, tag] of inner.matchAll(/<(input|button|textarea|select)\b([^>]*)>/g)) {
      const name = attribute(tag, 'name');
      if (name) fields.set(name, element === 'input' ? attribute(tag, 'value') : undefined);
    }
    return { action: attribute(head, 'action'), fields };
  });
}

function attribute(tag, name) {
  const m = tag.match(new RegExp(`\\s${name}="([^"]*)"`));
  return m && m[1].replaceAll('&amp;', '&').replaceAll('&#43;', '+').replaceAll('&#34;', '"').replaceAll('&#39;', "'");
}

// totp returns the code of an otpauth:// URI at a moment (RFC 6238).
export function totp(uri, at = Date.now()) {
  const u = new URL(uri);
  const bits = [...u.searchParams.get('secret').replace(/=+$/, '')]
    .map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g).map((b) => parseInt(b, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(at / 1000 / Number(u.searchParams.get('period') ?? 30))));
  const mac = createHmac((u.searchParams.get('algorithm') ?? 'SHA1').toLowerCase(), key).update(step).digest();
  const offset = mac.at(-1) & 15;
  const digits = Number(u.searchParams.get('digits') ?? 6);
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits).padStart(digits, '0');
}

// otpauth returns the otpauth:// URI that a page shows.
export function otpauth(html) {
  const m = html.match(/otpauth:\/\/totp\/[^\s"<]+/);
  assert.ok(m, 'no otpauth URI on the page');
  return m[0].replaceAll('&amp;', '&');
}

// signIn takes the browser from an authorization URL through the sign-in pages to the client's redirect, and returns
// that URL.
export async function signIn(browser, url, redirectUri, { email, password, code, consent = 'allow' }) {
  const stay = (u) => !String(u).startsWith(redirectUri);
  let page = await browser.go(url, {}, stay);
  for (let steps = 0; steps < 8 && !page.location; steps++) {
    const fields = new Set(forms(page.html).flatMap((f) => [...f.fields.keys()]));
    if (fields.has('password')) page = await browser.submit(page, 'password', { email, password }, stay);
    else if (fields.has('code')) page = await browser.submit(page, 'code', { code: await code(page) }, stay);
    else if (fields.has('consent')) page = await browser.submit(page, 'consent', { consent }, stay);
    else assert.fail(`stuck on ${page.url} (${page.status}):\n${page.html}`);
  }
  assert.ok(page.location, 'the sign-in never came back');
  return page.location;
}
