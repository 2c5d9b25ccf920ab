// licences.mjs writes dist/licences.txt: what the licences of the bundled packages ask for.
import { readFile, readdir, writeFile } from 'node:fs/promises';

const lock = JSON.parse(await readFile('package-lock.json', 'utf8'));
const parts = [];
for (const [path, p] of Object.entries(lock.packages).sort()) {
  if (path === '' || p.dev || p.optional) continue;
  const files = await readdir(path).catch(() => []);
  const name = path.replace(/^.*node_modules\//, '');
  const text = await Promise.all(files.filter((f) => /^(licen[cs]e|notice)/i.test(f)).sort().map((f) => readFile(`${path}/${f}`, 'utf8')));
  parts.push(`${name} ${p.version} (${p.license ?? 'see below'})\n\n${text.join('\n').trim()}\n`);
}
await writeFile('dist/licences.txt', parts.join('\n---\n\n'));
