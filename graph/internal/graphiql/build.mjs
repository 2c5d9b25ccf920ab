// Bundles GraphiQL into dist/: one script, one style sheet, and the licences of all that is in them. build.sh runs it. What
// it writes depends on the files named in `sources` alone.
import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as esbuild from 'esbuild';

const sources = ['build.mjs', 'package-lock.json', 'package.json', 'page.css', 'page.jsx'];

// The fonts in GraphiQL's style sheet are nine tenths of it; the page uses the system's.
const withoutFonts = {
  name: 'without-fonts',
  setup(build) {
    build.onLoad({ filter: /graphiql\/dist\/style\.css$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/@font-face\s*\{[^}]*\}/g, ''), loader: 'css',
    }));
  },
};

const { metafile } = await esbuild.build({
  entryPoints: { graphiql: 'page.jsx' },
  outdir: 'dist',
  bundle: true,
  minify: true,
  legalComments: 'none', // licences.txt has them whole
  jsx: 'automatic',
  format: 'iife',
  target: 'es2022',
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [withoutFonts],
  metafile: true,
});

// Packages whose licence comes with another package of the same authors.
const elsewhere = {
  '@graphiql/plugin-doc-explorer': 'graphiql', '@graphiql/plugin-history': 'graphiql', 'react-compiler-runtime': 'react',
  'react-remove-scroll-bar': 'react-remove-scroll', 'toggle-selection': 'copy-to-clipboard',
};

const licences = new Map();
for (const file of Object.keys(metafile.inputs)) {
  const dir = file.match(/^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0];
  if (!dir || licences.has(dir)) continue;
  const { name, version, license } = JSON.parse(await readFile(path.join(dir, 'package.json'), 'utf8'));
  const from = elsewhere[name] ? path.join('node_modules', elsewhere[name]) : dir;
  const texts = (await readdir(from)).filter((f) => /^(licen[cs]e|notice|copying)/i.test(f)).sort();
  if (texts.length === 0) throw new Error(`${name} comes without its licence: say in which package it is`);
  const whole = (await Promise.all(texts.map((f) => readFile(path.join(from, f), 'utf8')))).join('\n').replaceAll('\r\n', '\n').trim();
  licences.set(dir, `${name} ${version} (${license})\n\n${whole}\n`);
}
await writeFile('dist/licences.txt', [...licences.values()].sort().join(`\n${'-'.repeat(80)}\n\n`));

// A test holds this against the sources, so that nobody changes them without building.
const sum = createHash('sha256');
for (const file of sources) sum.update(`${file}\n`).update(await readFile(file));
await writeFile('dist/sources.sha256', `${sum.digest('hex')}\n`);
