// A console's calls, typed by what the generator made of the committed schema: what does not fit the schema any more does not
// compile. Run as an owner, and as an API key, which the admin layer refuses.
import assert from 'node:assert/strict';
import { Client, fetchExchange, type CombinedError, type TypedDocumentNode } from '@urql/core';
import * as gql from './gen/graphql.js';

const { api, token, key, company, email } = JSON.parse(process.env['ATRIUM_TEST'] ?? '') as Record<'api' | 'token' | 'key' | 'company' | 'email', string>;

const as = (headers: Record<string, string>) =>
  new Client({ url: `${api}/graphql`, exchanges: [fetchExchange], preferGetMethod: false, requestPolicy: 'network-only', fetchOptions: { headers } });
const owner = as({ authorization: `Bearer ${token}` });
const integration = as({ 'x-api-key': key });

type Variables = { [name: string]: unknown };

const send = async <D, V extends Variables>(client: Client, document: TypedDocumentNode<D, V>, variables: V) => {
  const mutation = document.definitions.some((d) => d.kind === 'OperationDefinition' && d.operation === 'mutation');
  return mutation ? client.mutation(document, variables).toPromise() : client.query(document, variables).toPromise();
};

async function run<D, V extends Variables>(document: TypedDocumentNode<D, V>, variables: V, client = owner): Promise<D> {
  const { data, error } = await send(client, document, variables);
  assert.equal(error?.message, undefined);
  assert.ok(data);
  return data;
}

async function refused<D, V extends Variables>(document: TypedDocumentNode<D, V>, variables: V, client = owner): Promise<CombinedError> {
  const { error } = await send(client, document, variables);
  assert.ok(error, 'it was allowed');
  return error;
}

const codeOf = (e: CombinedError) => e.graphQLErrors[0]?.extensions['code'];

// some returns a value that the schema lets be null, and that is there.
function some<T>(value: T | null | undefined): T {
  assert.ok(value !== null && value !== undefined);
  return value;
}

// Whoever calls is told who that is.
const { viewer } = await run(gql.ViewerDocument, {});
const role: gql.Role = viewer.role;
assert.deepEqual([viewer.type, role, viewer.email, viewer.company?.id], ['user', 'owner', email, company]);
assert.equal(viewer.company?.limits.queryCost, 20_000);
const asKey = (await run(gql.ViewerDocument, {}, integration)).viewer;
assert.deepEqual([asKey.id, asKey.company?.sandbox?.id], [viewer.id, viewer.company?.sandbox?.id]);

// The catalogue, with edges below edges.
const { organization } = some((await run(gql.CreateOrganizationDocument, { input: { name: 'Typed' } })).createOrganization);
const { team } = some((await run(gql.CreateTeamDocument, { input: { name: 'Typed', organizationId: organization.id, memberIds: [viewer.id] } })).createTeam);
const { service } = some((await run(gql.CreateServiceDocument, {
  input: { name: 'Typed', ownerTeamId: team.id, organizationId: organization.id, tags: { env: 'prod' } },
})).createService);
assert.equal(service.tags['env'], 'prod');
const form = { fields: [{ key: 'size', label: 'Size', type: 'number', required: true }] };
const { offering } = some((await run(gql.CreateOfferingDocument, { input: { serviceId: service.id, name: 'Typed', form, sla: { responseMinutes: 30 } } })).createOffering);
assert.equal(offering.sla?.responseMinutes, 30);
const shown = some((await run(gql.CatalogueDocument, { first: 100, filter: { q: 'Typed' } })).services);
const row = some(shown.edges[0]).node;
assert.deepEqual([shown.totalCount, row.id, row.ownerTeam?.members?.edges[0]?.node.email, row.organization?.name, row.offerings?.totalCount],
  [1, service.id, email, 'Typed', 1]);

// Requests: filed by both, changed, paged through with `after`.
const input = { serviceId: service.id, offeringId: offering.id, priority: 'HIGH' as const, fields: { size: 3 } };
const filed: string[] = [];
for (const [title, client] of [['One', owner], ['Two', integration], ['Three', owner]] as const) {
  const { request } = some((await run(gql.CreateRequestDocument, { input: { ...input, title } }, client)).createRequest);
  assert.deepEqual([request.status, request.priority, request.creator?.__typename === 'User' && request.creator.email], ['PENDING', 'HIGH', email]);
  filed.push(request.id);
}
const [one, two, three] = filed as [string, string, string];
const changed = some((await run(gql.UpdateRequestDocument, { input: { id: one, status: 'IN_PROGRESS', teamId: team.id, tags: { a: 'b' } } }, integration)).updateRequest).request;
assert.deepEqual([changed.status, changed.team?.name, changed.tags], ['IN_PROGRESS', 'Typed', { a: 'b' }]);
assert.equal(some((await run(gql.AcceptRequestDocument, { id: two })).acceptRequest).request.status, 'IN_PROGRESS');
assert.equal(some((await run(gql.DeclineRequestDocument, { id: three, reason: 'Not ours.' })).declineRequest).request.status, 'CANCELLED');
const seen: string[] = [];
for (let after: string | null | undefined = null, more = true; more;) {
  const page: NonNullable<gql.RequestsQuery['requests']> = some((await run(gql.RequestsDocument, { after, filter: { serviceId: [service.id] } })).requests);
  assert.equal(page.totalCount, 3);
  seen.push(...page.edges.map((e) => e.node.id));
  ({ hasNextPage: more, endCursor: after } = page.pageInfo);
}
assert.deepEqual(seen, [three, two, one]);
const found = some((await run(gql.AnythingDocument, { id: one })).node);
assert.equal(found.__typename === 'Request' && found.title, 'One');
assert.ok(some((await run(gql.WorkflowsDocument, {})).workflows).edges.length > 0);
assert.equal(some((await run(gql.CreditsDocument, {})).creditBalance).currency, 'usd');

// Errors carry their code, the fields that they are about, and the id to quote.
const faulty = await refused(gql.CreateRequestDocument, { input: { ...input, title: 'x', fields: { size: 'large' } } });
assert.equal(codeOf(faulty), 'validation_error');
assert.equal((faulty.graphQLErrors[0]?.extensions['details'] as { field: string }[])[0]?.field, 'fields.size');
assert.match(String(faulty.graphQLErrors[0]?.extensions['requestId']), /^rid_/);
assert.equal(codeOf(await refused(gql.UpdateRequestDocument, { input: { id: three, status: 'COMPLETED' } })), 'conflict');
assert.equal(codeOf(await refused(gql.DeleteServiceDocument, { id: 'svc_nobody' })), 'not_found');
assert.equal((await refused(gql.ViewerDocument, {}, as({}))).response?.status, 401);

// People.
assert.equal(some((await run(gql.UpdateCompanyDocument, { input: { sessionLifetimeMinutes: 90 } })).updateCompany).company.sessionLifetimeMinutes, 90);
const invited = some((await run(gql.InviteUserDocument, { input: { email: 'typed@demo.example', name: 'Ty Ped', role: 'agent' } })).inviteUser).user;
assert.equal(invited.status, 'invited');
const moved = some((await run(gql.UpdateUserDocument, { input: { id: invited.id, role: 'admin', attributes: { floor: '3' }, teamIds: [team.id] } })).updateUser).user;
assert.deepEqual([moved.role, moved.attributes, moved.teamIds], ['admin', { floor: '3' }, [team.id]]);
const gone = some((await run(gql.DeactivateUserDocument, { id: invited.id })).deactivateUser);
assert.deepEqual([gone.user.status, gone.remainingApiKeys], ['deactivated', []]);
assert.equal(some((await run(gql.PeopleDocument, { filter: { status: ['deactivated'] } })).users).totalCount, 1);
const robot = some((await run(gql.CreateServiceAccountDocument, { input: { name: 'Robot', role: 'agent' } })).createServiceAccount).serviceAccount;

// Keys and clients.
const made = some((await run(gql.CreateApiKeyDocument, { input: { name: 'Typed', scopes: ['requests:read'], serviceAccountId: robot.id } })).createApiKey);
assert.ok(made.value.startsWith('key_live_') && made.value.endsWith(made.apiKey.last4));
const narrow = as({ 'x-api-key': made.value });
assert.equal((await run(gql.AnythingDocument, { id: one }, narrow)).node?.id, one);
assert.equal(codeOf(await refused(gql.PeopleDocument, {}, narrow)), 'forbidden');
assert.equal(some((await run(gql.RevokeApiKeyDocument, { id: made.apiKey.id })).revokeApiKey).apiKey.status, 'revoked');
assert.equal((await refused(gql.ViewerDocument, {}, narrow)).response?.status, 401);
assert.ok(some((await run(gql.ApiKeysDocument, {})).apiKeys).edges.some((e) => e.node.id === made.apiKey.id));
const app = some((await run(gql.CreateOAuthClientDocument, { input: { name: 'Typed', redirectUris: ['https://app.example/cb'], confidential: true } })).createOAuthClient);
assert.ok(app.clientSecret);
await run(gql.DeleteOAuthClientDocument, { id: app.oauthClient.clientId });

// Access policies: a draft, one that hides the service, why, and back.
const policy = { effect: 'Deny' as const, action: 'read', resource: 'Service', condition: { 'resource.tags.env': 'prod', 'principal.id': robot.id } };
assert.deepEqual(some((await run(gql.ValidateAccessPolicyDocument, { input: { ...policy, action: 'fly' } })).validateAccessPolicy).valid, false);
const { accessPolicy } = some((await run(gql.CreateAccessPolicyDocument, { input: { ...policy, name: 'Typed' } })).createAccessPolicy);
const why = some((await run(gql.ExplainAccessDocument, { principalId: robot.id, resourceId: service.id })).explainAccess);
assert.deepEqual([why.allowed, why.decidedBy.id], [false, accessPolicy.id]);
assert.ok(some((await run(gql.PoliciesDocument, { policies: [policy] })).replayAccessPolicies).examined >= 0);
await run(gql.DeleteAccessPolicyDocument, { id: accessPolicy.id });

// Webhooks, to an address that no name leads to.
const hook = some((await run(gql.CreateWebhookSubscriptionDocument, { input: { url: 'https://hooks.invalid/atrium', events: ['request.created'] } })).createWebhookSubscription);
assert.match(hook.signingSecret, /^whsec_/);
const sent = some((await run(gql.SendTestEventDocument, { input: { subscriptionId: hook.webhookSubscription.id, event: 'request.created' } })).sendTestEvent).webhookDelivery;
const deliveries = some((await run(gql.WebhooksDocument, { subscriptionId: hook.webhookSubscription.id })).webhookDeliveries);
assert.deepEqual(deliveries.edges.map((e) => e.node.id), [sent.id]);
await run(gql.DeleteWebhookSubscriptionDocument, { id: hook.webhookSubscription.id });

// Secrets, whose values nobody reads back, and the audit log of all this.
const { secret } = some((await run(gql.CreateSecretDocument, { input: { name: 'TYPED', value: 's3cret-value', allowedHosts: ['api.example.com'] } })).createSecret);
assert.equal(some((await run(gql.RotateSecretDocument, { id: secret.id, value: 's3cret-other' })).rotateSecret).secret.version, 2);
const log = some((await run(gql.AuditDocument, { first: 100, filter: { resourceId: [secret.id] } })).auditEntries);
assert.equal(log.totalCount, 2);
assert.ok(log.edges.every((e) => e.node.outcome === 'allowed' && e.node.actor.id === viewer.id));
const { export: exported } = some((await run(gql.ExportAuditDocument, { input: { format: 'jsonl', filter: { resourceType: ['Secret'] } } })).exportAudit);
assert.ok(exported.count >= 2 && !exported.content.includes('s3cret'));

// An API key does what REST does, and nothing of the admin layer, whoever is behind it.
const forKeys: Promise<CombinedError>[] = [
  refused(gql.UpdateCompanyDocument, { input: { name: 'x' } }, integration),
  refused(gql.InviteUserDocument, { input: { email: 'x@demo.example' } }, integration),
  refused(gql.CreateApiKeyDocument, { input: { name: 'x', scopes: ['services:read'] } }, integration),
  refused(gql.ApiKeysDocument, {}, integration),
  refused(gql.CreateServiceAccountDocument, { input: { name: 'x' } }, integration),
  refused(gql.CreateOAuthClientDocument, { input: { name: 'x', redirectUris: ['https://app.example/cb'] } }, integration),
  refused(gql.CreateAccessPolicyDocument, { input: { ...policy, name: 'x' } }, integration),
  refused(gql.ExplainAccessDocument, { principalId: robot.id, resourceId: service.id }, integration),
  refused(gql.CreateWebhookSubscriptionDocument, { input: { url: 'https://hooks.invalid/', events: ['request.created'] } }, integration),
];
for (const e of await Promise.all(forKeys)) {
  assert.equal(codeOf(e), 'forbidden', e.message);
  assert.equal(e.response?.status, 200);
}
console.log('typed: ok');
