// A person with a real browser: forced enrolment without JavaScript, a second factor, recovery codes, a passkey.
import assert from 'node:assert/strict';
import http from 'node:http';
import * as client from 'openid-client';
import { open, shot } from './chromium.mjs';
import { otpauth, totp } from './page.mjs';

const { issuer, api, email, password, publicClient } = JSON.parse(process.env.ATRIUM_TEST);

// The application that the person uses: it waits for codes on loopback.
let arrived;
const app = http.createServer((req, res) => {
  res.end('back in the application');
  if (req.url.startsWith('/callback')) arrived(new URL(req.url, redirectUri));
}).listen(0, '127.0.0.1');
await new Promise((r) => app.once('listening', r));
const redirectUri = `http://127.0.0.1:${app.address().port}/callback`;
const config = await client.discovery(new URL(issuer), publicClient.clientId, undefined, client.None());

async function begin(parameters = {}) {
  const verifier = client.randomPKCECodeVerifier();
  const nonce = client.randomNonce();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri, scope: 'openid', state: 's', nonce, ...parameters,
    code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  });
  const callback = new Promise((r) => { arrived = r; });
  return { url: String(url), tokens: async () => client.authorizationCodeGrant(config, await callback, { pkceCodeVerifier: verifier, expectedState: 's', expectedNonce: nonce }) };
}

async function givePassword(page) {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

const giveCode = async (page, code) => {
  await page.locator('input[name=code]').first().fill(code);
  await page.getByRole('button', { name: /Continue|Confirm/ }).click();
};

// consent allows the application where the person is asked.
async function consent(page) {
  const allow = page.getByRole('button', { name: 'Allow' });
  const back = page.getByText('back in the application');
  await allow.or(back).waitFor();
  if (await allow.isVisible()) await allow.click();
  await back.waitFor();
}

// The company requires a second factor: before anything else works the person sets one up. All of it without JavaScript.
let uri, used, codes;
{
  const b = await open(issuer, { javaScriptEnabled: false });
  const { url, tokens } = await begin();
  await b.page.goto(url);
  await shot(b.page, '1-password');
  await givePassword(b.page);
  await b.page.getByText('authenticator app').first().waitFor();
  await shot(b.page, '2-enrol');
  await b.page.goto(url); // no way around it
  assert.match(await b.page.content(), /otpauth:\/\/totp\//);
  uri = otpauth(await b.page.content());
  used = totp(uri);
  await giveCode(b.page, '000000' === used ? '000001' : '000000');
  assert.match(await b.page.content(), /otpauth:\/\/totp\//, 'a wrong code enrols nothing');
  uri = otpauth(await b.page.content());
  used = totp(uri);
  await giveCode(b.page, used);
  await b.page.locator('[data-recovery-code]').first().waitFor();
  await shot(b.page, '3-recovery-codes');
  codes = await b.page.locator('[data-recovery-code]').allTextContents();
  assert.equal(new Set(codes).size, 10);
  await b.page.locator('form button').click();
  await consent(b.page);
  const { amr } = (await tokens()).claims();
  assert.ok(amr.includes('otp') && amr.includes('pwd'), String(amr));
  await b.close();
}

// In another browser: the code that enrolled is not taken again, a recovery code is, once.
for (const [round, taken] of [[1, true], [2, false]]) {
  const b = await open(issuer);
  const { url, tokens } = await begin();
  await b.page.goto(url);
  await givePassword(b.page);
  await b.page.locator('input[name=code]').waitFor();
  await shot(b.page, `4-second-factor-${round}`);
  await giveCode(b.page, used);
  await b.page.getByRole('alert').waitFor();
  await giveCode(b.page, codes[0]);
  if (taken) {
    await consent(b.page);
    assert.ok((await tokens()).claims().amr.includes('mfa'));
  } else {
    await b.page.getByRole('alert').waitFor();
    assert.ok(!b.page.url().startsWith(redirectUri));
  }
  assert.deepEqual(b.faults, []);
  await b.close();
}

// A passkey: made in the account's own pages, then it alone signs the person in.
{
  const b = await open(issuer);
  const cdp = await b.context.newCDPSession(b.page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', { options: {
    protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true,
  } });
  const first = await begin();
  await b.page.goto(first.url);
  await givePassword(b.page);
  await giveCode(b.page, codes[1]);
  await consent(b.page);
  await b.page.goto(`${issuer}/account/mfa`);
  await shot(b.page, '5-factors');
  await b.page.getByRole('link', { name: /passkey/i }).click();
  await b.page.getByRole('button', { name: 'Create a passkey' }).click();
  await b.page.getByRole('button', { name: 'Remove Passkey' }).waitFor();
  await shot(b.page, '6-passkey');
  await b.page.getByRole('button', { name: 'Sign out' }).click();
  await b.page.getByRole('button', { name: 'Sign out' }).waitFor({ state: 'detached' });

  const second = await begin();
  await b.page.goto(second.url);
  await shot(b.page, '7-password-with-passkey');
  await b.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await consent(b.page);
  const { amr } = (await second.tokens()).claims();
  assert.ok(amr.includes('mfa') && !amr.includes('pwd'), String(amr));

  // The web application's session: the cookie is one for GraphQL, with a header that no other site can set, and for
  // nothing else.
  await b.page.goto(`${api}/login?returnTo=/docs`);
  assert.equal(b.page.url(), `${api}/docs`);
  const cookie = (await b.context.cookies(api)).find((c) => c.name === '__Host-atrium_session');
  assert.ok(cookie.httpOnly && cookie.secure && cookie.sameSite === 'Lax');
  const ask = (headers) => b.context.request.post(`${api}/graphql`, {
    headers: { 'content-type': 'application/json', ...headers }, data: { query: '{ viewer { email type } }' },
  });
  const viewer = await ask({ 'x-requested-with': 'console' });
  assert.deepEqual(await viewer.json(), { data: { viewer: { email, type: 'user' } } });
  assert.equal((await ask({})).status(), 403);
  assert.equal((await ask({ 'x-requested-with': 'console', origin: 'https://evil.test' })).status(), 403);
  assert.equal((await b.context.request.get(`${api}/v1/services`)).status(), 401);
  await b.page.goto(`${api}/logout`);
  await shot(b.page, '8-logout');
  await b.page.getByRole('button', { name: /sign out/i }).click();
  await b.page.waitForURL((u) => !u.pathname.startsWith('/logout'));
  assert.equal((await ask({ 'x-requested-with': 'console', cookie: `${cookie.name}=${cookie.value}` })).status(), 401, 'the session is over');
  assert.deepEqual(b.faults, []);
  await b.close();
}
app.close();
console.log('browser: ok');
