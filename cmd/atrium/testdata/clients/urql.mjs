// urql against the running binary: a stock GraphQL client reads, writes, pages and is refused.
import assert from 'node:assert/strict';
import { Client, fetchExchange, gql } from '@urql/core';

const { api, token } = JSON.parse(process.env.ATRIUM_TEST);
const as = (headers) => new Client({ url: `${api}/graphql`, exchanges: [fetchExchange], preferGetMethod: false, fetchOptions: { headers } });
const client = as({ authorization: `Bearer ${token}` });

const made = await client.mutation(gql`
  mutation ($input: CreateServiceInput!) { createService(input: $input) { service { id slug status offerings { totalCount } } } }
`, { input: { name: 'Made by urql', tags: { team: 'clients' } } }).toPromise();
assert.equal(made.error, undefined);
assert.equal(made.data.createService.service.slug, 'made-by-urql');
assert.equal(made.data.createService.service.offerings.totalCount, 0);

// Every request, a page of one at a time.
const page = gql`query ($after: String) { requests(first: 1, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { node { id service { name } creator { name ... on User { email } } } } } }`;
const seen = new Set();
for (let after = null, more = true; more;) {
  const { data, error } = await client.query(page, { after }, { requestPolicy: 'network-only' }).toPromise();
  assert.equal(error, undefined);
  for (const { node } of data.requests.edges) seen.add(node.id);
  more = data.requests.pageInfo.hasNextPage;
  after = data.requests.pageInfo.endCursor;
  if (!more) assert.equal(seen.size, data.requests.totalCount);
}
assert.ok(seen.size > 1);

// What is refused says so in the extensions, and leaves its neighbours alone.
const refused = await client.query(gql`{ viewer { id } service(id: "svc_nobody") { id } }`, {}).toPromise();
assert.ok(refused.data.viewer.id);
assert.equal(refused.data.service, null);
assert.equal(refused.error.graphQLErrors[0].extensions.code, 'not_found');
const faulty = await client.mutation(gql`mutation { createService(input: { name: "" }) { service { id } } }`, {}).toPromise();
assert.equal(faulty.error.graphQLErrors[0].extensions.code, 'validation_error');
assert.equal(faulty.error.graphQLErrors[0].extensions.details[0].field, 'name');
const nobody = await as({}).query(gql`{ viewer { id } }`, {}).toPromise();
assert.equal(nobody.error.response.status, 401);
console.log('urql: ok');
