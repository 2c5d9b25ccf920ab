// A person signs in to the web application of one server through another one, which is its issuer.
import assert from 'node:assert/strict';
import { Browser, signIn } from './page.mjs';

const { application, email, password, invitation } = JSON.parse(process.env.ATRIUM_TEST);
const browser = new Browser();
if (invitation) { // accepted first, with the password
  const welcome = await new Browser().submit(await browser.go(invitation), 'password', { password }).catch(() => undefined);
  assert.notEqual(welcome?.status, 200, 'a form that was shown to another browser was taken');
  const done = await browser.submit(await browser.go(invitation), 'password', { password });
  assert.equal(done.status, 200, done.html);
}
const callback = await signIn(browser, `${application}/login?returnTo=/docs`, `${application}/login/callback`, { email, password });
const page = await browser.go(callback, {}, (u) => u.pathname !== '/docs');
if (!page.location) {
  console.log(page.status);
  process.exit();
}
assert.equal(String(page.location), `${application}/docs`, page.html);
const ask = await browser.go(`${application}/graphql`, {
  method: 'POST', headers: { 'content-type': 'application/json', 'x-requested-with': 'test' },
  body: JSON.stringify({ query: '{ viewer { email role } }' }),
});
console.log(ask.html);
