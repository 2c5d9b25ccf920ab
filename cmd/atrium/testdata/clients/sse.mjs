// graphql-sse against the running binary: a stock client of the protocol watches requests, connects again by itself when
// the server dies, and hears of a server that stops.
import assert from 'node:assert/strict';
import { createClient } from 'graphql-sse';

const { api, token } = JSON.parse(process.env.ATRIUM_TEST);
const pause = () => new Promise((done) => { setTimeout(done, 100); });
const client = createClient({ url: `${api}/graphql`, headers: { authorization: `Bearer ${token}` }, retryAttempts: 600, retry: pause });

const all = async (results) => {
  const list = [];
  for await (const result of results) list.push(result);
  return list;
};

// A query in the same protocol.
const [first, ...more] = await all(client.iterate({ query: '{ viewer { email } }' }));
assert.ok(first.data.viewer.email);
assert.deepEqual(more, []);

// What is refused is no stream.
await assert.rejects(all(createClient({ url: `${api}/graphql`, retryAttempts: 0 }).iterate({ query: 'subscription { requestChanged { change } }' })),
  (error) => error.response.status === 401);

let connected = 0;
const events = client.iterate({ query: 'subscription ($filter: RequestFilter) { requestChanged(filter: $filter) { change request { id service { name } } } }', variables: { filter: { status: ['PENDING'] } } },
  { connected: () => { connected += 1; console.log(`connected ${connected}`); } });
for await (const { data, errors } of events) {
  if (errors) {
    console.log(`ending ${errors[0].extensions.code}`);
  } else {
    assert.ok(data.requestChanged.request.service.name);
    console.log(`event ${data.requestChanged.change} ${data.requestChanged.request.id}`);
  }
}
console.log('complete');
console.log('graphql-sse: ok');
