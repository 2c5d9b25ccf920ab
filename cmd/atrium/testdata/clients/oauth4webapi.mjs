// oauth4webapi against the running binary: every step by hand, with each of the protocol's checks of the answer.
import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';
import { Browser, signIn } from './page.mjs';

const { issuer, api, email, password, publicClient } = JSON.parse(process.env.ATRIUM_TEST);
const client = { client_id: publicClient.clientId };
const as = await oauth.discoveryRequest(new URL(issuer)).then((r) => oauth.processDiscoveryResponse(new URL(issuer), r));
assert.deepEqual(as.code_challenge_methods_supported, ['S256']);
assert.deepEqual(as.response_types_supported, ['code']);
assert.deepEqual(as.id_token_signing_alg_values_supported, ['ES256']);
assert.equal(as.authorization_response_iss_parameter_supported, true);

const verifier = oauth.generateRandomCodeVerifier();
const authorize = async (change = {}) => {
  const url = new URL(as.authorization_endpoint);
  const parameters = {
    client_id: client.client_id, redirect_uri: publicClient.redirectUri, response_type: 'code', scope: 'openid offline_access',
    state: 'st', nonce: 'no', code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256', ...change,
  };
  for (const [k, v] of Object.entries(parameters)) if (v !== undefined) url.searchParams.set(k, v);
  return url;
};
const back = (u) => !String(u).startsWith(publicClient.redirectUri);

// Code, tokens, refresh; every answer is held against the specifications by the library.
const params = oauth.validateAuthResponse(as, client, await signIn(new Browser(), await authorize(), publicClient.redirectUri, { email, password }), 'st');
const answer = await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), params, publicClient.redirectUri, verifier);
const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { expectedNonce: 'no', requireIdToken: true });
await oauth.validateApplicationLevelSignature(as, answer);
assert.equal(tokens.token_type, 'bearer');
assert.ok(tokens.expires_in <= 300);
const res = await oauth.protectedResourceRequest(tokens.access_token, 'GET', new URL(`${api}/v1/services`));
assert.equal(res.status, 200);
await oauth.processRefreshTokenResponse(as, client, await oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token));

// PKCE cannot be left out, weakened or guessed.
for (const change of [{ code_challenge: undefined, code_challenge_method: undefined }, { code_challenge_method: 'plain' }, { code_challenge_method: undefined }]) {
  const page = await new Browser().go(await authorize(change), {}, back);
  assert.equal(page.location?.searchParams.get('error'), 'invalid_request', JSON.stringify(change));
}
const other = oauth.validateAuthResponse(as, client, await signIn(new Browser(), await authorize(), publicClient.redirectUri, { email, password }), 'st');
const guess = await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), other, publicClient.redirectUri, oauth.generateRandomCodeVerifier());
await assert.rejects(oauth.processAuthorizationCodeResponse(as, client, guess), (e) => e.error === 'invalid_grant');

// A client or redirect URI that is not known gets a page, never a redirect.
for (const change of [
  { client_id: 'cli_nobody' }, { redirect_uri: 'https://evil.test/' }, { redirect_uri: `${publicClient.redirectUri}/` },
  { redirect_uri: `${publicClient.redirectUri}?x=1` }, { redirect_uri: publicClient.redirectUri.replace('127.0.0.1', 'localhost') },
]) {
  const page = await new Browser().go(await authorize(change), {}, (u) => u.origin === issuer);
  assert.equal(page.location, undefined, JSON.stringify(change));
  assert.ok(page.status >= 400 && page.status < 500, JSON.stringify(change));
}
for (const [change, error] of [[{ response_type: 'token' }, 'unsupported_response_type'], [{ response_type: 'code id_token' }, 'unsupported_response_type']]) {
  const page = await new Browser().go(await authorize(change), {}, back);
  assert.equal(page.location?.searchParams.get('error'), error);
}
// What the person denies is told to the client.
const denied = await signIn(new Browser(), await authorize({ prompt: 'consent' }), publicClient.redirectUri, { email, password, consent: 'deny' });
assert.equal(denied.searchParams.get('error'), 'access_denied');
assert.equal(denied.searchParams.get('state'), 'st');
console.log('oauth4webapi: ok');
