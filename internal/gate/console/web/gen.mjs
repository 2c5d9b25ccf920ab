// gen.mjs writes src/gen from the schema and the documents beside the pages: their types, their texts, the values of enums, what the
// cache must know, and the manifest of what the pages may run. The texts carry __typename, which the cache needs, so that what is sent
// is what the manifest holds.
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import { preset } from '@graphql-codegen/client-preset';
import { buildSchema, isEnumType, Kind, parse, print, stripIgnoredCharacters, validate, visit } from 'graphql';
import { cacheOf, plain } from './cache.mjs';

// What a mutation answers is null where it was refused. network.ts leaves out such data, so the pages need not look for it.
const sdl = (await readFile(process.env.SCHEMA ?? '../../../../graph/schema.graphql', 'utf8'))
  .replace(/^type Mutation \{.*?^\}/ms, (mutations) => mutations.replace(/: (\w+Payload)$/gm, ': $1!'));
const schema = buildSchema(sdl);
const files = (await readdir('src', { recursive: true })).filter((f) => f.endsWith('.graphql')).sort();
const written = await Promise.all(files.map(async (f) => ({ location: f, document: parse(await readFile(join('src', f), 'utf8')) })));
const documents = written.map(({ location, document }) => ({ location, document: plain(document), rawSDL: print(plain(document)) }));

const joined = (list) => ({ kind: Kind.DOCUMENT, definitions: list.flatMap((d) => d.document.definitions) });
const all = joined(documents);
const faults = validate(schema, all);
if (faults.length > 0) throw new Error(faults.map((f) => f.message).join('\n'));

const sections = await preset.buildGeneratesSection({
  baseOutputDir: 'src/gen/', schema: parse(sdl), schemaAst: schema, documents, plugins: [], pluginMap: {},
  presetConfig: { fragmentMasking: false },
  config: {
    strictScalars: true, enumsAsTypes: true, useTypeImports: true, emitLegacyCommonJSImports: false, skipTypename: false,
    scalars: { JSON: 'any', StringMap: 'Record<string, string>', TagFilter: 'Record<string, string | string[]>', Time: 'string' },
  },
});
await mkdir('src/gen', { recursive: true });
for (const section of sections) {
  if (!section.filename.endsWith('graphql.ts')) continue;
  const text = await codegen(section);
  await writeFile('src/gen/types.ts', text.split('\n').filter((l) => !/^export const \w+ = \{"kind"/.test(l) && !/^import type \{ TypedDocumentNode/.test(l)).join('\n'));
}

// The lists are texts of few bytes in the bundle; cache.json is for the test that compares them with the manifest and the schema.
const cache = cacheOf(schema, joined(written));
const texts = (lists) => Object.fromEntries(Object.entries(lists).filter(([, l]) => l.length > 0).map(([name, l]) => [name, l.join(' ')]));
const constants = {
  paged: texts(cache.paged),
  stale: Object.fromEntries(Object.entries(cache.stale).map(([type, lists]) => [type, texts(lists)])),
};
await writeFile('src/gen/cache.ts', [
  // The cache embeds a type without an id by itself, and says so during development where it was not told.
  `export const embedded = import.meta.env.DEV ? '${cache.embedded.join(' ')}' : '${cache.embedded.filter((name) => schema.getType(name).getFields().id).join(' ')}';`,
  ...Object.entries(constants).map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 1)} as const;`), '',
].join('\n'));

// Each enum's values in the schema's order, under its name. The fields that lists are sorted by are shown nowhere.
const enums = Object.values(schema.getTypeMap()).filter((e) => isEnumType(e) && !/^__|Sort$/.test(e.name));
await writeFile('src/gen/enums.ts', enums.map((e) => `export const ${e.name} = [${e.getValues().map((v) => `'${v.name}'`).join(', ')}] as const;\n`).join(''));

const named = visit(all, {
  SelectionSet(node, _key, parent) {
    if (parent.kind === Kind.OPERATION_DEFINITION) return undefined;
    if (node.selections.some((s) => s.kind === Kind.FIELD && s.name.value === '__typename')) return undefined;
    return { ...node, selections: [...node.selections, { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }] };
  },
});
const fragments = new Map(named.definitions.filter((d) => d.kind === Kind.FRAGMENT_DEFINITION).map((d) => [d.name.value, d]));

function used(node, into = new Set()) {
  visit(node, { FragmentSpread(s) {
    if (into.has(s.name.value)) return;
    into.add(s.name.value);
    used(fragments.get(s.name.value), into);
  } });
  return into;
}

// Each folder's documents are a module of their own, so that the code of a page brings its own documents alone; documents.ts
// hands all of them on.
const manifest = {};
const folders = new Map();
const folderOf = new Map(documents.flatMap((d) => d.document.definitions.map((x) => [x.name.value, dirname(d.location).split('/').at(-1)])));
for (const o of named.definitions.filter((d) => d.kind === Kind.OPERATION_DEFINITION)) {
  const text = stripIgnoredCharacters([o, ...[...used(o)].sort().map((n) => fragments.get(n))].map((n) => print(n)).join('\n'));
  manifest[createHash('sha256').update(text).digest('hex')] = text;
  const kind = o.operation[0].toUpperCase() + o.operation.slice(1);
  const folder = folderOf.get(o.name.value);
  if (!folders.has(folder)) folders.set(folder, ["import { document } from '../../app/document';", "import type * as t from '../types';", '']);
  folders.get(folder).push(`export const ${o.name.value} = /* @__PURE__ */ document<t.${o.name.value}${kind}, t.${o.name.value}${kind}Variables>(${JSON.stringify(text)});`);
}
await mkdir('src/gen/of', { recursive: true });
for (const [folder, lines] of folders) await writeFile(`src/gen/of/${folder}.ts`, lines.join('\n') + '\n');
await writeFile('src/gen/documents.ts', [...folders.keys()].sort().map((f) => `export * from './of/${f}';\n`).join(''));
await mkdir('public', { recursive: true });
await writeFile('public/documents.json', JSON.stringify(Object.fromEntries(Object.entries(manifest).sort()), null, 1) + '\n');
await writeFile('public/cache.json', JSON.stringify(cache, null, 1) + '\n');
console.log(`${Object.keys(manifest).length} documents`);
