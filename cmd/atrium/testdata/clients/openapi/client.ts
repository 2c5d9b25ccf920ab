// An integration whose types are generated from the OpenAPI document: what it sends and reads is checked when it compiles.
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

const { api, key } = JSON.parse(process.env.ATRIUM_TEST!) as { api: string; key: string };
const atrium = createClient<paths>({ baseUrl: api, headers: { 'x-api-key': key } });

const made = await atrium.POST('/v1/services', {
  body: { name: 'Generated', tags: { site: 'berlin, mitte', 'cost.center': '4711' } }, params: { header: { 'Idempotency-Key': 'generated-1' } },
});
assert.ok(made.data, JSON.stringify(made.error));
const service: components['schemas']['Service'] = made.data.data;

// A map of tags is written as the server reads it: a comma in a value is part of the value.
const tagged = async (tag: Record<string, string>) => {
  const found = await atrium.GET('/v1/services', { params: { query: { tag, status: ['active', 'draft'], sort: '-createdAt' } } });
  return found.data?.data.map((s) => s.id);
};
assert.deepEqual(await tagged({ site: 'berlin, mitte', 'cost.center': '4711' }), [service.id]);
assert.deepEqual(await tagged({ site: 'berlin' }), []);

const patched = await atrium.PATCH('/v1/services/{id}', {
  params: { path: { id: service.id }, header: { 'If-Match': made.response.headers.get('etag')! } }, body: { description: null, status: 'draft' },
});
assert.equal(patched.data?.data.status, 'draft');
const refused = await atrium.POST('/v1/services', { body: { name: '' } });
assert.equal(refused.error?.error, 'validation_error');
assert.equal(refused.error?.details?.[0]?.field, 'name');
const gone = await atrium.DELETE('/v1/services/{id}', { params: { path: { id: service.id } } });
assert.equal(gone.response.status, 204);

// @ts-expect-error: a status that there is not does not compile
void (() => atrium.PATCH('/v1/services/{id}', { params: { path: { id: 'x' } }, body: { status: 'gone' } }));
console.log('openapi: ok');
