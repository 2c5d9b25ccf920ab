// The protocol's own conformance suite against /mcp, for each revision that has a frozen list of what it requires. What does not
// apply to a server of tools alone, without sessions, stands in conformance/*.yml with the reason; an entry there that passes
// fails the suite, as does anything else that fails.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const { api, key } = JSON.parse(process.env.ATRIUM_TEST);

// Two of the tools that the suite calls by names of its own, and which of ours answers as they must: with a text, and with an error.
const tools = { test_simple_text: 'teams', test_error_handling: 'request' };
const renamed = (text) => Object.entries(tools).reduce((said, [theirs, ours]) => said.replaceAll(theirs, ours), text);

// The suite knows no credentials, so it speaks to a proxy that adds the key.
const agent = new https.Agent({ keepAlive: true });
const { hostname, port } = new URL(api);
const proxy = http.createServer(async (request, response) => {
  const { method, url: path, headers } = request;
  const body = renamed(await text(request));
  headers['x-api-key'] = key;
  if (headers['mcp-name']) headers['mcp-name'] = renamed(headers['mcp-name']);
  if (body) headers['content-length'] = Buffer.byteLength(body);
  https.request({ hostname, port, servername: 'localhost', agent, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  }).on('error', () => response.destroy()).end(body);
});
proxy.listen(0, '127.0.0.1');
await once(proxy, 'listening');

for (const revision of ['2025-11-25', '2026-07-28']) {
  const suite = spawn(process.execPath, ['--import', './conformance/node20.mjs', 'node_modules/@modelcontextprotocol/conformance/dist/index.js', 'server',
    '--url', `http://127.0.0.1:${proxy.address().port}/mcp`, '--requirements', revision, '--expected-failures', `conformance/${revision}.yml`,
    '--output-dir', await mkdtemp(join(tmpdir(), 'conformance-'))], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  suite.stdout.on('data', (text) => { said += text; });
  suite.stderr.on('data', (text) => { said += text; });
  const [code] = await once(suite, 'close');
  const [, summary] = said.split('=== SUMMARY ===');
  assert.equal(code, 0, `${revision}:\n${summary ?? said}`);
  console.log(`${revision}:\n${summary}`);
}
proxy.close();
agent.destroy();
console.log('conformance: ok');
