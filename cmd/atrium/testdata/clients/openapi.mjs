// The OpenAPI document as the server gives it: `redocly lint` has nothing to say, openapi-typescript makes types of it, and
// openapi/client.ts, which is compiled with them, works with the server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';

const { api } = JSON.parse(process.env.ATRIUM_TEST);
const res = await fetch(`${api}/openapi.json`);
assert.equal(res.status, 200);
await writeFile('openapi/openapi.json', await res.text());

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(`node_modules/.bin/${command}`, args, {
    encoding: 'utf8', env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

const { totals, problems } = JSON.parse(run('redocly', 'lint', 'openapi/openapi.json', '--format=json'));
assert.deepEqual(totals, { errors: 0, warnings: 0, ignored: 0 }, JSON.stringify(problems));
// As a module, because the compiler checks declarations of libraries only together with all of Node's, for 15 s more.
run('openapi-typescript', 'openapi/openapi.json', '-o', 'openapi/schema.ts');
run('tsc', '-p', 'openapi');
const { status, stdout, stderr } = spawnSync(process.execPath, ['openapi/out/client.js'], { encoding: 'utf8' });
assert.equal(status, 0, stdout + stderr);
process.stdout.write(stdout);
