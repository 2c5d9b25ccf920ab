// Types are generated from the schema by GraphQL Code Generator's client preset, and typed/console.ts is compiled with them
// by TypeScript, into typed/out. A schema that breaks the console fails one of the two; `breaks` are changes of which that
// is expected, with what is said then.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { codegen } from '@graphql-codegen/core';
import { preset } from '@graphql-codegen/client-preset';
import { buildSchema, parse } from 'graphql';

const { schema, breaks } = JSON.parse(process.env.ATRIUM_TEST);
const dir = 'typed';
await mkdir(path.join(dir, 'gen'));
const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

async function generate(sdl) {
  const documents = await Promise.all((await readdir(dir)).filter((f) => f.endsWith('.graphql')).map(async (f) => {
    const rawSDL = await readFile(path.join(dir, f), 'utf8');
    return { location: f, rawSDL, document: parse(rawSDL) };
  }));
  const sections = await preset.buildGeneratesSection({
    baseOutputDir: `${dir}/gen/`, schema: parse(sdl), schemaAst: buildSchema(sdl), documents, plugins: [], pluginMap: {},
    presetConfig: { fragmentMasking: false },
    config: {
      strictScalars: true, enumsAsTypes: true, useTypeImports: true, emitLegacyCommonJSImports: false,
      scalars: { JSON: 'unknown', StringMap: 'Record<string, string>', TagFilter: 'Record<string, string | string[]>', Time: 'string' },
    },
  });
  for (const section of sections) {
    if (section.filename.endsWith('graphql.ts')) await writeFile(section.filename, await codegen(section));
  }
}

function compile(...options) {
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', dir, ...options], { encoding: 'utf8' });
  return status === 0 ? '' : stdout;
}

const sdl = await readFile(schema, 'utf8');
await generate(sdl);
assert.equal(compile(), '');

for (const { from, to, says } of breaks) {
  const broken = sdl.replace(from, to);
  assert.notEqual(broken, sdl, `the schema does not have: ${from}`);
  assert.match(await generate(broken).then(() => compile('--noEmit'), String), new RegExp(says));
}
console.log('typed: compiled');
