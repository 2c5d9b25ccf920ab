// An owner makes a webhook for GitHub by choosing who calls: the page says what to do there. What comes is taken or ignored, with the
// reason; the mapping is tried on the last call, and each call shows what became of it. Another webhook has a header of its own.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { arrive, building, rest, until } from './console-browser.mjs';

const { api, demo, owner } = JSON.parse(process.env.ATRIUM_TEST);
const flow = await rest('POST', '/workflows', { name: 'Take what comes', definition: {
  phases: [{ id: 'start', type: 'START' }, { id: 'done', type: 'END' }], transitions: [{ from: 'start', name: 'next', to: 'done' }],
} });
await rest('POST', `/workflows/${flow.id}/publish`, {});
const offering = await rest('POST', `/services/${demo.serviceId}/offerings`, { name: 'What code says', workflowId: flow.id, form: { fields: [
  { key: 'where', type: 'text', label: 'Where', required: true }, { key: 'kind', type: 'select', label: 'Kind', required: true, options: ['Bug', 'Wish'] },
] } });

const b = await arrive(owner, 'webhooks', { locale: 'en-US', timezoneId: 'Europe/Berlin' });
const { page } = b;
const main = page.getByRole('main');
const dialog = page.getByRole('dialog');
const says = (text, exact = true) => main.getByText(text, { exact }).first().waitFor();

// The sender is chosen first, then what a call does. The secret is shown once.
await page.getByRole('button', { name: 'New inbound webhook' }).click();
await dialog.getByRole('button', { name: /^GitHub issues/ }).waitFor();
assert.equal(await dialog.getByRole('listitem').count(), 11);
await b.sound('inbound-senders');
await dialog.getByRole('button', { name: /^GitHub issues/ }).click();
assert.equal(await dialog.getByLabel('Name').inputValue(), 'GitHub issues');
await dialog.getByLabel('Submits a request for').selectOption({ value: offering.id });
await b.sound('inbound-new');

// What the offering's form requires is answered by the sender's sample, or the same for each call: else it is not made.
await dialog.getByRole('button', { name: 'Create' }).click();
await until('both questions are at fault', async () => (await dialog.getByText('Is required: the offering\'s form asks for it with each request.').count()) === 2);
await dialog.getByLabel('Value for Where').selectOption('webhook.body.issue.html_url');
await dialog.getByLabel('Value for Kind').selectOption({ label: 'Bug' });
await b.sound('inbound-answers');
await dialog.getByRole('button', { name: 'Create' }).click();
const secret = await dialog.getByLabel('Signing secret').textContent();
const url = await dialog.getByLabel('Address').textContent();
await dialog.getByRole('button', { name: 'I have stored it' }).click();
await page.getByRole('heading', { level: 1, name: 'GitHub issues' }).waitFor();
await says('On GitHub, open the repository or the organization, then Settings › Webhooks › Add webhook.');
await says(url, false);

// The condition of the sender stands there as rows, before any call has come.
const when = main.getByRole('group', { name: 'Which calls count' });
await until('the condition is shown as rows', async () => (await when.getByRole('group', { name: /^Condition \d/ }).count()) === 2);
await b.sound('inbound-made');

const send = async (event, body, delivery) => {
  const raw = JSON.stringify(body);
  const sent = await fetch(url, { method: 'POST', body: raw, headers: {
    'content-type': 'application/json', 'x-github-event': event, 'x-github-delivery': delivery, 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`,
  } });
  assert.equal(sent.status, 202, await sent.clone().text());
  return sent.json();
};
const issue = { action: 'opened', issue: { title: 'Printer on fire', body: null, html_url: 'https://github.com/acme/printers/issues/1', labels: [{ name: 'hardware' }] } };
assert.equal((await send('ping', { zen: 'Design for failure.' }, 'd-1')).status, 'ignored');
assert.equal((await send('issues', { ...issue, action: 'closed' }, 'd-2')).status, 'ignored');
const taken = await send('issues', issue, 'd-3');
assert.equal(taken.status, 'accepted');
await until('the request is filed', async () => (await rest('GET', `/executions/${taken.executionId}`)).requestId);

// What became of each call.
await main.getByRole('button', { name: 'Refresh' }).click();
const calls = main.getByRole('list', { name: 'Calls' });
await until('three calls are shown', async () => (await calls.getByRole('listitem').count()) === 3);
await says('GitHub asks whether the address answers.');
await says('The condition is not met.');
await calls.getByRole('link', { name: 'Printer on fire' }).waitFor();
await b.sound('inbound-calls');
await calls.getByRole('button', { name: /^Resend the call/ }).nth(1).click();
await page.getByText('The call was ignored again.').waitFor();

// The builder offers the values of the call that has started something, and not those of the ping that came last.
assert.equal((await send('ping', { zen: 'Keep it logically awesome.' }, 'd-4')).status, 'ignored');
const hook = new URL(page.url()).pathname.replace('/app/', '');
await b.go(`workflows/${flow.id}`, 'Take what comes');
const { at, command } = building(page);
await at('start').focus();
await command('Set values');
await at('values').press('Enter');
await main.getByRole('button', { name: 'Add value' }).press('Enter');
await main.getByRole('button', { name: 'Choose a value' }).press('Enter');
const find = page.getByRole('searchbox', { name: 'Find a value' });
await find.fill('html_url');
await dialog.getByRole('button', { name: /^html_url/ }).waitFor();
await find.fill('zen');
await dialog.getByText('No value has this name').waitFor();
await page.keyboard.press('Escape');
await page.getByRole('button', { name: 'Discard' }).press('Enter');
await b.go(hook, 'GitHub issues');

// The mapping is tried on the last call, and a value of it is chosen.
await main.getByRole('button', { name: 'Test with the last call' }).click();
await says('Last call: Printer on fire');
await says('Last call: hardware');
const title = main.getByLabel('Value for Title');
assert.equal(await title.evaluate((e) => e.value), 'webhook.body.issue.title');
await title.selectOption({ value: 'webhook.body.issue.html_url' });
await says('Last call: https://github.com/acme/printers/issues/1');
await b.sound('inbound-mapping');

// A header of its own, in base64: the example says how to sign.
await main.getByLabel('Signature', { exact: true }).selectOption('header');
await main.getByRole('button', { name: 'Save' }).click();
await says('must be given for the style header', false);
await main.getByLabel('Header', { exact: true }).fill('X-Sig');
await main.getByLabel('Written as').selectOption('base64');
await main.getByRole('button', { name: 'Save' }).click();
await page.getByText('The webhook was saved.').waitFor();
await main.getByText('Example call', { exact: true }).click();
await until('the example signs so', async () => (await main.getByLabel('Example call').textContent()).includes('X-Sig: $(printf'));
assert.match(await main.getByLabel('Example call').textContent(), /^body='\{.*"issue":\{.*"html_url":.*x-github-event: issues/, 'it has what the mapping reads');
const raw = JSON.stringify(issue);
const signed = await fetch(url, { method: 'POST', body: raw, headers: { 'content-type': 'application/json', 'x-github-event': 'issues', 'x-sig': createHmac('sha256', secret).update(raw).digest('base64') } });
assert.equal((await signed.json()).status, 'accepted');

// The sender's own secret replaces it.
await main.getByRole('button', { name: 'Enter the sender’s secret' }).click();
await dialog.getByLabel('Secret').fill('chosen by the sender');
await dialog.getByRole('button', { name: 'Save' }).click();
await page.getByText('The secret was saved. Calls must be signed with it from now on.').waitFor();
const late = await fetch(url, { method: 'POST', body: raw, headers: { 'content-type': 'application/json', 'x-sig': createHmac('sha256', secret).update(raw).digest('base64') } });
assert.equal(late.status, 401);

// In German, on a phone, in the dark.
const id = new URL(page.url()).pathname.split('/').at(-1);
await b.context.addInitScript(() => { Object.defineProperty(navigator, 'languages', { configurable: true, get: () => ['de'] }); });
await page.setViewportSize({ width: 390, height: 844 });
await b.load(`inbound-webhooks/${id}`, 'GitHub issues');
await says('Die Bedingung ist nicht erfüllt.');
await says('Bei GitHub issues'); // what the server says is in the language of the profile, which has none
await b.sound('inbound-german');
await page.emulateMedia({ colorScheme: 'dark' });
await b.sound('inbound-dark', { dark: true });
await page.goto(`${api}/app/webhooks`);
await page.getByRole('button', { name: 'Neuer eingehender Webhook' }).click();
await dialog.getByRole('button', { name: /^GitHub issues/ }).waitFor();
await b.fits('inbound-senders-german');
await b.end();
console.log('console-inbound: ok');
