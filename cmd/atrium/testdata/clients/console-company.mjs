// A company in which every page of the console has rows to show.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { rest, until } from './console-browser.mjs';

const { api, demo, token } = JSON.parse(process.env.ATRIUM_TEST);

// graph runs a mutation as the owner and returns its payload: keys may not make all of what is needed here.
export async function graph(name, type, input, selection) {
  const res = await fetch(`${api}/graphql`, {
    method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: `mutation($input: ${type}!) { ${name}(input: $input) { ${selection} } }`, variables: { input } }),
  });
  const { data, errors } = await res.json();
  assert.equal(errors, undefined, `${name}: ${JSON.stringify(errors)}`);
  return data[name];
}

// run starts an execution without a request that fails: what came in lacks the answer that its decision asks for.
async function fail() {
  const workflow = await rest('POST', '/workflows', { name: 'Sort what comes in', definition: {
    phases: [
      { id: 'start', type: 'START' }, { id: 'sort', type: 'DECISION', name: 'Sort', config: { rules: [{ when: 'webhook.body.level * 2 > 6', transition: 'high' }], default: 'low' } },
      { id: 'high', type: 'END' }, { id: 'low', type: 'END' },
    ],
    transitions: [{ from: 'start', name: 'next', to: 'sort' }, { from: 'sort', name: 'high', to: 'high' }, { from: 'sort', name: 'low', to: 'low' }],
  } });
  await rest('POST', `/workflows/${workflow.id}/publish`, {});
  const made = await graph('createInboundWebhook', 'CreateInboundWebhookInput', { name: 'Monitoring', workflowId: workflow.id }, 'inboundWebhook { id } signingSecret');
  const body = JSON.stringify({ source: 'a monitor' });
  const sent = await fetch(`${api}/v1/webhooks/inbound/${made.inboundWebhook.id}`, {
    method: 'POST', body, headers: { 'content-type': 'application/json', 'x-webhook-signature': `sha256=${createHmac('sha256', made.signingSecret).update(body).digest('hex')}` },
  });
  assert.equal(sent.status, 202, await sent.text());
  await until('the execution failed', async () => (await rest('GET', '/incidents?status=OPEN')).length > 0);
  return { workflow: workflow.id, inbound: made.inboundWebhook.id };
}

// write adds a mailbox, to which a stranger and a program write.
async function write() {
  const { mailbox, password } = await graph('createMailbox', 'CreateMailboxInput', { address: 'desk@demo.example', kind: 'webhook', offeringId: demo.offeringId }, 'mailbox { id url } password');
  for (const head of ['Subject: Who repairs scanners?', 'Subject: Away until Monday\r\nAuto-Submitted: auto-replied']) {
    const sent = await fetch(mailbox.url, {
      method: 'POST', headers: { authorization: `Basic ${btoa(`mail:${password}`)}`, 'content-type': 'message/rfc822' },
      body: `From: carla@customer.example\r\nTo: desk@demo.example\r\n${head}\r\n\r\nThe one on the second floor makes a noise.\r\n`,
    });
    assert.equal(sent.status, 202, await sent.text());
  }
  return mailbox.id;
}

// fill makes rows of every kind, and returns the ids of those that have pages of their own.
export async function fill() {
  const team = await rest('POST', '/teams', { name: 'The service desk' });
  const ids = await fail();
  for (let i = 0; i < 106; i++) { // more than a page has, of those that wait and of those that are done
    const r = await rest('POST', '/requests', {
      serviceId: demo.serviceId, offeringId: demo.offeringId, priority: ['LOW', 'MEDIUM', 'HIGH', 'URGENT'][i % 4], fields: { model: '14 inch' },
      title: i % 3 ? `A laptop for desk ${i}` : `A laptop for the colleague who moves to the desk number ${i} beside the window, with a dock and two screens`,
    });
    if (i % 2) await rest('PATCH', `/requests/${r.id}`, { teamId: team.id });
    if (i < 55) await rest('PATCH', `/requests/${r.id}`, { status: 'IN_PROGRESS' });
    if (i < 52) await rest('PATCH', `/requests/${r.id}`, { status: 'COMPLETED' });
    ids.request = r.id;
  }
  await rest('POST', `/requests/${ids.request}/comments`, { body: 'It is on its way.' });
  for (const service of await rest('GET', '/services')) {
    for (const o of await rest('GET', `/services/${service.id}/offerings`)) {
      const fields = { 'Report an incident': { affected: 3 }, 'Access to a system': { system: 'Billing', level: 'admin' } }[o.name];
      if (fields) await rest('POST', '/requests', { serviceId: service.id, offeringId: o.id, title: `${o.name}, please`, priority: 'MEDIUM', fields });
    }
  }
  ids.mailbox = await write();
  const parent = await rest('POST', '/organizations', { name: 'Headquarters' });
  await rest('POST', '/organizations', { name: 'Research', parentId: parent.id });
  await rest('POST', '/secrets', { name: 'DIRECTORY_TOKEN', value: 'a value', allowedHosts: ['directory.example'] });
  await graph('createCalendar', 'CreateCalendarInput', { name: 'Office hours', timeZone: 'Europe/Berlin', workingHours: { mon: [{ from: '09:00', to: '17:00' }] } }, 'calendar { id }');
  await graph('createRoutingRule', 'CreateRoutingRuleInput', { name: 'Urgent to the desk', when: "request.priority == 'URGENT'", teamId: team.id }, 'routingRule { id }');
  const plan = { name: 'Check the backups', offeringId: demo.offeringId, request: { title: 'Check the backups', fields: { model: '14 inch' } }, every: { unit: 'WEEK', at: '09:00', weekdays: ['mon', 'thu'] }, timeZone: 'Europe/Berlin' };
  ids.schedule = (await graph('createSchedule', 'CreateScheduleInput', plan, 'schedule { id }')).schedule.id;
  await graph('runSchedule', 'RunScheduleInput', { id: ids.schedule }, 'scheduleRun { id }');
  await graph('createOAuthClient', 'CreateOAuthClientInput', { name: 'Intranet', redirectUris: ['https://intranet.example/callback'] }, 'oauthClient { id }');
  await graph('createServiceAccount', 'CreateServiceAccountInput', { name: 'Importer' }, 'serviceAccount { id }');
  await graph('createAccessPolicy', 'CreateAccessPolicyInput', { name: 'Nobody deletes services', effect: 'Deny', action: 'delete', resource: 'Service' }, 'accessPolicy { id }');
  await graph('createSavedView', 'CreateSavedViewInput', { name: 'Urgent', scope: 'company', query: 'priority=URGENT' }, 'savedView { id }');
  ids.webhook = (await graph('createWebhookSubscription', 'CreateWebhookSubscriptionInput', { url: 'https://hooks.example.com/in', events: ['request.created'] }, 'webhookSubscription { id }')).webhookSubscription.id;
  const run = await until('an agent ran', async () => (await rest('GET', '/agent-runs'))[0]);
  [ids.run, ids.agent] = [run.id, run.agentId];
  ids.execution = (await rest('GET', '/executions'))[0].id;
  return ids;
}
