// The README's recipe for a token, as a newcomer follows it: token.mjs is the block of code as it stands there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Browser, signIn } from './page.mjs';

const { api, email, password, clientId } = JSON.parse(process.env.ATRIUM_TEST);
const recipe = spawn(process.execPath, ['token.mjs', clientId], { stdio: ['ignore', 'pipe', 'inherit'] });
const lines = createInterface({ input: recipe.stdout })[Symbol.asyncIterator]();
const [, url] = (await lines.next()).value.split(' ');
const redirect = new URL(url).searchParams.get('redirect_uri');
const callback = await signIn(new Browser(), url, redirect, { email, password });
await fetch(callback).catch(() => undefined); // the recipe ends itself once it has answered
const token = (await lines.next()).value;
const res = await fetch(`${api}/v1/requests`, { headers: { authorization: `Bearer ${token}` } });
assert.equal(res.status, 200);
assert.equal((await fetch(`${api}/v1/services`, { headers: { authorization: `Bearer ${token}` } })).status, 403, 'it asked for requests:read alone');
console.log('readme: ok');
