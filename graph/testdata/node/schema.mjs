// Judges the schema with GraphQL's reference implementation. Reads {committed, current, introspection} on standard input
// and prints {faults, breaking, told}: what is wrong with the current schema, what in it breaks clients of the committed
// one, and how what introspection tells differs from the current one.
import { readFileSync } from 'node:fs';
import { buildClientSchema, buildSchema, findBreakingChanges, lexicographicSortSchema, printSchema, validateSchema } from 'graphql';

const { committed, current, introspection } = JSON.parse(readFileSync(0, 'utf8'));
const schema = buildSchema(current);
const lines = (s) => new Set(printSchema(lexicographicSortSchema(s)).split('\n'));
const [told, kept] = [lines(buildClientSchema(introspection)), lines(schema)];
console.log(JSON.stringify({
  faults: validateSchema(schema).map((e) => e.message),
  breaking: findBreakingChanges(buildSchema(committed), schema).map((c) => c.description),
  told: [...[...told].filter((l) => !kept.has(l)), ...[...kept].filter((l) => !told.has(l))],
}));
