// openid-client against the running binary: what a stock client library does, and what must be refused to it.
import assert from 'node:assert/strict';
import * as client from 'openid-client';
import { Browser, signIn } from './page.mjs';

const { issuer, api, email, password, publicClient, confidentialClient } = JSON.parse(process.env.ATRIUM_TEST);
const person = { email, password };

async function flow(config, redirectUri, scope, browser = new Browser()) {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const nonce = client.randomNonce();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri, scope, state, nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  });
  const callback = await signIn(browser, url, redirectUri, person);
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  return { callback, checks, tokens: await client.authorizationCodeGrant(config, callback, checks) };
}

const refused = (promise, code) => assert.rejects(promise, (e) => {
  assert.equal(e.error ?? e.cause?.error, code, e.stack);
  return true;
});

const call = (token) => fetch(`${api}/v1/requests`, { headers: { authorization: `Bearer ${token}` } });

// A public client: code with PKCE, an ID token, the API, userinfo.
const config = await client.discovery(new URL(issuer), publicClient.clientId, undefined, client.None());
const first = await flow(config, publicClient.redirectUri, 'openid profile email offline_access');
const claims = first.tokens.claims();
assert.equal(claims.iss, issuer);
assert.match(claims.sub, /^usr_/);
assert.ok(claims.auth_time <= Date.now() / 1000 + 1);
assert.deepEqual(claims.amr, ['pwd']);
assert.equal((await call(first.tokens.access_token)).status, 200);
assert.equal((await call(first.tokens.id_token)).status, 401, 'an ID token is no access token');
const info = await client.fetchUserInfo(config, first.tokens.access_token, claims.sub);
assert.equal(info.email, email);

// The refresh token rotates. The old one gives a sibling, for a tab that refreshes at the same time; once a later one was used it is
// refused, and with it the whole family ends.
const second = await client.refreshTokenGrant(config, first.tokens.refresh_token);
assert.notEqual(second.refresh_token, first.tokens.refresh_token);
assert.equal((await call(second.access_token)).status, 200);
const sibling = await client.refreshTokenGrant(config, first.tokens.refresh_token);
assert.notEqual(sibling.refresh_token, second.refresh_token);
assert.equal((await call(sibling.access_token)).status, 200);
await client.refreshTokenGrant(config, sibling.refresh_token);
await refused(client.refreshTokenGrant(config, first.tokens.refresh_token), 'invalid_grant');
await refused(client.refreshTokenGrant(config, second.refresh_token), 'invalid_grant');
assert.equal((await call(second.access_token)).status, 401, 'a reused refresh token ends the access tokens, too');

// A code is good once; its replay ends what it gave.
const browser = new Browser();
const third = await flow(config, publicClient.redirectUri, 'openid', browser);
assert.equal(third.tokens.refresh_token, undefined, 'without offline_access there is no refresh token');
assert.equal((await call(third.tokens.access_token)).status, 200);
await refused(client.authorizationCodeGrant(config, third.callback, third.checks), 'invalid_grant');
assert.equal((await call(third.tokens.access_token)).status, 401, 'a replayed code ends what it gave');

// Revocation ends the family, whichever of its tokens is named.
const fourth = await flow(config, publicClient.redirectUri, 'openid offline_access');
await client.tokenRevocation(config, fourth.tokens.refresh_token);
await refused(client.refreshTokenGrant(config, fourth.tokens.refresh_token), 'invalid_grant');
assert.equal((await call(fourth.tokens.access_token)).status, 401);

// A confidential client: its secret by either method, narrowed scopes, introspection.
for (const auth of [client.ClientSecretBasic, client.ClientSecretPost]) {
  const own = await client.discovery(new URL(issuer), confidentialClient.clientId, undefined, auth(confidentialClient.clientSecret));
  const { tokens } = await flow(own, confidentialClient.redirectUri, 'openid services:read');
  assert.equal((await call(tokens.access_token)).status, 403, 'requests:read was not asked for');
  const state = await client.tokenIntrospection(own, tokens.access_token);
  assert.equal(state.active, true);
  assert.equal(state.scope.split(' ').includes('services:read'), true);
  const wrong = await client.discovery(new URL(issuer), confidentialClient.clientId, undefined, auth('wrong'));
  await assert.rejects(client.tokenIntrospection(wrong, tokens.access_token));
}

// Signing out at the provider ends the browser's sign-in and the tokens that came from it.
const out = await flow(config, publicClient.redirectUri, 'openid offline_access', browser);
const end = client.buildEndSessionUrl(config, { id_token_hint: out.tokens.id_token, post_logout_redirect_uri: publicClient.postLogoutRedirectUri, state: 'bye' });
const gone = await browser.go(end, {}, (u) => !String(u).startsWith(publicClient.postLogoutRedirectUri));
assert.equal(gone.location?.searchParams.get('state'), 'bye', gone.html);
assert.equal((await call(out.tokens.access_token)).status, 401);
await refused(client.refreshTokenGrant(config, out.tokens.refresh_token), 'invalid_grant');
const again = await browser.go(client.buildAuthorizationUrl(config, {
  redirect_uri: publicClient.redirectUri, scope: 'openid', state: 's', nonce: 'n', prompt: 'none',
  code_challenge: await client.calculatePKCECodeChallenge(client.randomPKCECodeVerifier()), code_challenge_method: 'S256',
}), {}, (u) => !String(u).startsWith(publicClient.redirectUri));
assert.equal(again.location.searchParams.get('error'), 'login_required');
assert.equal(again.location.searchParams.get('iss'), issuer);
console.log('openid-client: ok');
