// A single-page application of another origin, in Chromium: oauth4webapi, as npm has it, signs a person in and calls both
// doors with the token. Pages of origins that no client has get nothing, whatever they know.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { open } from './chromium.mjs';

const { issuer, api, email, password, publicClient, key } = JSON.parse(process.env.ATRIUM_TEST);
const library = await readFile(new URL(import.meta.resolve('oauth4webapi')));

// The application has two pages: the one that sends the person off, and the callback, which finishes in window.app.
async function application(issuer, api, clientId) {
  const oauth = await import('/oauth4webapi.js');
  const as = await oauth.processDiscoveryResponse(new URL(issuer), await oauth.discoveryRequest(new URL(issuer)));
  const client = { client_id: clientId };
  const redirectUri = `${location.origin}/callback`;
  if (location.pathname !== '/callback') {
    const verifier = oauth.generateRandomCodeVerifier();
    sessionStorage.setItem('verifier', verifier);
    const url = new URL(as.authorization_endpoint);
    url.search = new URLSearchParams({
      client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid profile email offline_access', state: 's',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
    });
    location.assign(url);
    return;
  }
  const params = oauth.validateAuthResponse(as, client, new URL(location.href), 's');
  const answer = await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), params, redirectUri, sessionStorage.getItem('verifier'));
  let tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { requireIdToken: true });
  await oauth.validateApplicationLevelSignature(as, answer); // reads the JWKS
  tokens = await oauth.processRefreshTokenResponse(as, client, await oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token));
  const call = async (method, path, body, headers = {}) => {
    const res = await oauth.protectedResourceRequest(tokens.access_token, method, new URL(api + path), new Headers({
      ...(body && { 'content-type': 'application/json' }), ...headers,
    }), body && JSON.stringify(body));
    return { status: res.status, etag: res.headers.get('etag'), limit: res.headers.get('ratelimit'), body: res.status === 204 ? null : await res.json() };
  };
  const user = await oauth.processUserInfoResponse(as, client, oauth.skipSubjectCheck, await oauth.userInfoRequest(as, client, tokens.access_token));
  const services = await call('GET', '/v1/services');
  const made = await call('POST', '/v1/services', { name: 'Made in a browser' }, { 'idempotency-key': 'spa-1' });
  const path = `/v1/services/${made.body.data.id}`;
  const stale = await call('PATCH', path, { name: 'Never' }, { 'if-match': '"stale"' });
  const changed = await call('PATCH', path, { name: 'Changed in a browser' }, { 'if-match': made.etag });
  const viewer = await call('POST', '/graphql', { query: '{ viewer { email } }' });
  const gone = await call('DELETE', path);
  const refused = await fetch(`${api}/v1/services`, { headers: { authorization: 'Bearer x' } }).then((r) => r.status);
  return { user, services, made, stale, changed, viewer, gone, refused, token: tokens.access_token, refresh: tokens.refresh_token };
}

const server = http.createServer((req, res) => {
  const script = req.url === '/oauth4webapi.js';
  res.setHeader('content-type', script ? 'text/javascript' : 'text/html');
  res.end(script ? library : '<!doctype html><title>app</title>');
}).listen(0, '127.0.0.1');
await new Promise((r) => server.once('listening', r));
const origin = `http://localhost:${server.address().port}`;

const b = await open(issuer);
await b.page.goto(origin);
const run = () => b.page.evaluate(`(${application})(${JSON.stringify(issuer)}, ${JSON.stringify(api)}, ${JSON.stringify(publicClient.clientId)})`);
await run();
await b.page.getByLabel('E-mail address').fill(email);
await b.page.getByLabel('Password').fill(password);
await b.page.getByRole('button', { name: 'Sign in', exact: true }).click();
await b.page.getByRole('button', { name: 'Allow' }).click();
await b.page.waitForURL(`${origin}/callback?**`);
const out = await run();
assert.equal(out.user.email, email);
assert.equal(out.services.status, 200);
assert.match(out.services.limit, /^"minute";r=/);
assert.equal(out.made.status, 201);
assert.ok(out.made.etag);
assert.equal(out.stale.status, 412);
assert.equal(out.changed.body.data.name, 'Changed in a browser');
assert.deepEqual(out.viewer.body, { data: { viewer: { email } } });
assert.equal(out.gone.status, 204);
assert.equal(out.refused, 401);

// What a page may not do: send the person's cookies along, or a key; and another origin's may not do anything.
const tried = (page, url, init) => page.evaluate(([url, init]) => fetch(url, init).then((r) => r.status, (e) => e.name), [url, init]);
const bearer = { headers: { authorization: `Bearer ${out.token}` } };
assert.equal(await tried(b.page, `${api}/v1/services`, bearer), 200);
assert.equal(await tried(b.page, `${api}/v1/services`, { ...bearer, credentials: 'include' }), 'TypeError');
assert.equal(await tried(b.page, `${api}/v1/services`, { headers: { 'x-api-key': key } }), 'TypeError');
const elsewhere = await b.context.newPage();
await elsewhere.goto(origin.replace('localhost', 'evil.localhost'));
for (const path of ['/v1/services', '/graphql', '/oauth2/userinfo', '/oauth2/token']) {
  assert.equal(await tried(elsewhere, api + path, bearer), 'TypeError', path);
}
assert.equal(await tried(elsewhere, `${api}/.well-known/openid-configuration`), 200);
assert.equal(await tried(elsewhere, `${api}/oauth2/keys`), 200);

// The page signs the person out of itself: the token ends.
const revoke = { token: out.refresh, client_id: publicClient.clientId };
assert.equal(await tried(b.page, `${api}/oauth2/revoke`, {
  method: 'POST', body: String(new URLSearchParams(revoke)), headers: { 'content-type': 'application/x-www-form-urlencoded' },
}), 200);
assert.equal(await tried(b.page, `${api}/v1/services`, bearer), 401);
assert.deepEqual(b.faults, []);
await b.close();
server.close();
console.log('spa: ok');
