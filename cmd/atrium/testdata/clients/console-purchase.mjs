// An owner builds the process of a purchase in the console, by its forms alone: a task asks for the price, a value is computed, a decision made
// of rows sends what is dear to a team that approves within two days, a timer waits, and a shop is called with a secret. It is tried and
// published, offered with a service level that escalates, routed, filed by hand and by GitHub, then changed and published again. Somebody
// counts what was done: each text, choice and key that does something is one action.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { arrive, building, keyboard, rest, until } from './console-browser.mjs';

const mostActions = 120;
const { demo, owner } = JSON.parse(process.env.ATRIUM_TEST);
await rest('POST', '/secrets', { name: 'SHOP_KEY', value: 'a value', allowedHosts: ['shop.example'] });
const team = (await rest('GET', '/teams')).find((one) => one.name === 'Management');

const b = await arrive(owner, 'workflows');
const { page } = b;
const { keys, focused } = keyboard(page);
const { make, at, command } = building(page);
const side = page.getByRole('region', { name: 'Selected phase' });
const said = page.locator('.builder-tools [role=status]');

let actions = 0;
const acts = async (n, act) => { actions += n; return act(); };
const press = (locator, key = 'Enter') => acts(1, () => locator.press(key));
const type = (locator, text) => acts(1, async () => { await locator.focus(); await keys('Control+a'); await page.keyboard.type(text); });
const clear = (locator) => acts(1, async () => { await locator.focus(); await keys('Control+a', 'Backspace'); });
const choose = (locator, label) => acts(1, () => locator.selectOption({ label }));
const add = (text) => acts(3, () => command(text)); // the key, what is found, and Enter
const open = async (phase, name) => { // the focus comes to the form's first field
  await press(at(phase));
  await side.getByRole('heading', { name, exact: true }).waitFor();
  await side.locator('.phase-form :focus').waitFor();
};
const back = async (phase) => { await press(side.locator('.phase-form input').first(), 'Escape'); await focused(at(phase)); };
const field = (name) => side.getByRole('textbox', { name, exact: true });
const group = (name) => side.getByRole('group', { name, exact: true });
const more = async (name) => { await press(side.locator('summary', { hasText: name }).first()); };

// A new workflow has one task. Its form asks for the price.
const id = await acts(3, () => make('Purchase'));
await page.getByRole('heading', { level: 1, name: 'Purchase' }).waitFor();
await open('work', 'Work');
await type(field('Name'), 'Ask the price');
await choose(side.getByRole('combobox', { name: 'Add to “Responsible”' }), team.name);
await more('Form of the task');
await press(side.getByRole('button', { name: 'Add field' }));
await type(side.getByRole('textbox', { name: 'Label' }), 'Price');
await choose(group('Field 1').getByRole('combobox', { name: 'Type' }), 'Number');
await press(side.getByRole('checkbox', { name: 'Required' }), ' ');
await b.sound('purchase-task');
await back('work');

// A value is computed of the answer, which the picker finds by its label.
await add('Set values');
await open('values', 'Set values');
await press(side.getByRole('button', { name: 'Add value' }));
const value = group('Row 1');
await type(value.getByRole('textbox', { name: 'Name' }), 'price');
await press(value.getByRole('button', { name: 'Choose a value' }));
await type(page.getByRole('searchbox', { name: 'Find a value' }), 'Price');
await press(page.getByRole('dialog').getByRole('button', { name: /^Price/ }));
await b.sound('purchase-data');
await back('values');

// A decision over 500 is made of rows. The name of its way counts once it is left: the end stays while it is written, cleared and left empty.
await add('Decision');
await open('decision', 'Decision');
await press(side.getByRole('button', { name: 'Add rule' }));
const rule = group('Row 1');
await type(rule.getByLabel('Name', { exact: true }), 'Over 500');
await choose(rule.getByRole('combobox', { name: 'What' }), 'Price');
await choose(rule.getByRole('combobox', { name: 'How it is compared' }), 'is more than');
await type(rule.getByRole('textbox', { name: 'Value' }), '500');
await b.sound('purchase-decision');
await back('decision');

// What is dear is approved by a team. What it rejects ends otherwise by itself, and so does what nobody decides on in time, also once the days are
// written anew.
await add('Approval at Over 500');
await focused(at('approval'));
await open('approval', 'Approval');
await choose(side.getByRole('combobox', { name: 'Add to “Approvers”' }), team.name);
await press(side.getByRole('checkbox', { name: 'Has a deadline' }), ' ');
const leadsTo = (way) => side.getByRole('combobox', { name: `“${way}” leads to` });
assert.deepEqual(await Promise.all(['Rejected', 'Expired'].map((way) => leadsTo(way).inputValue())), ['end', 'end'], 'what is refused, or expires, ends');
const days = group('Deadline').getByRole('textbox', { name: 'Days' });
await clear(days);
await group('Deadline').getByText('Say how long.').waitFor();
await type(days, '2');
assert.equal(await leadsTo('Expired').inputValue(), 'end', 'it still is once the deadline was written anew');
await b.sound('purchase-approval');
await back('approval');

// What is approved waits for an hour, then the shop is called with a secret; a price that is not dear goes there at once.
await add('Wait at Approved');
await open('wait', 'Wait');
await clear(group('How long').getByRole('textbox', { name: 'Days' }));
await type(group('How long').getByRole('textbox', { name: 'Hours' }), '1');
await b.sound('purchase-timer');
await back('wait');
await add('Call an address');
await open('call', 'Call an address');
await choose(side.getByRole('combobox', { name: 'Method' }), 'POST');
await type(field('Address'), 'https://shop.example/orders');
await choose(side.getByRole('combobox', { name: 'Token' }), 'SHOP_KEY');
await choose(side.getByRole('combobox', { name: 'What is sent' }), 'Text');
await type(field('Text'), 'Order it');
await more('Response');
await press(side.getByRole('button', { name: 'Keep a value' }));
const kept = group('Keep from the response');
await type(kept.getByRole('textbox', { name: 'Name' }), 'order');
await type(kept.getByRole('textbox', { name: 'Field of the response' }), 'order.number');
await press(side.getByRole('button', { name: 'Add status code' }));
await type(side.getByLabel('Outcome', { exact: true }), 'Not sold');
await b.sound('purchase-call');
await back('call');
await acts(1, () => at('decision').focus());
await add('Connect Otherwise to Call an address');
await until('the palette says where it has led the way', async () => (await said.textContent()) === '“Otherwise” leads to “Call an address” now.');
await acts(1, () => at('call').focus());
await add('Connect Not sold to Rejected');

// The names of the decision's ways are changed: each keeps its end. A name that another way has is refused.
await open('decision', 'Decision');
const name = rule.getByRole('textbox', { name: 'Name' });
await name.focus();
await keys('Control+a', 'Backspace', 'Tab');
await rule.getByText('A name is needed: the old one stays.').waitFor();
await name.focus();
await keys('Control+a');
await page.keyboard.type('otherwise');
await keys('Tab');
await rule.getByText('Another outcome has this name.').waitFor();
await name.focus();
await keys('Control+a');
await page.keyboard.type('Dear');
await keys('Tab');
assert.deepEqual(await Promise.all(['Dear', 'Otherwise'].map((way) => leadsTo(way).inputValue())), ['approval', 'call']);
await back('decision');

// The JSON tab shows all of it, and the same JSON pasted into another workflow opens as the same outline.
const outline = () => page.locator('.outline').innerText();
const built = await outline();
const path = page.url();
const view = (which) => page.getByRole('navigation', { name: 'Parts of the workflow' }).getByRole('link', { name: which }).press('Enter');
await view('JSON');
const json = page.getByLabel('Definition');
const text = await json.inputValue();
const { phases, transitions } = JSON.parse(text);
assert.deepEqual(phases.map((p) => p.type).sort(), ['API_CALL', 'APPROVAL', 'DATA', 'DECISION', 'END', 'END', 'PROCESS', 'START', 'TIMER']);
assert.deepEqual(transitions.map((w) => `${w.from} ${w.name} ${w.to}`).sort(), [
  'approval approved wait', 'approval expired end', 'approval rejected end', 'call Not sold end', 'call next done', 'decision Dear approval', 'decision otherwise call', 'start next work', 'values next decision', 'wait next call', 'work next values',
]);
assert.equal(phases.find((p) => p.id === 'end').requestAction, 'cancel');
const config = (of) => phases.find((p) => p.id === of).config;
assert.deepEqual(config('decision').rules.map((r) => r.transition), ['Dear']);
assert.match(config('decision').rules[0].when, /phases\.work\.price.* > 500/);
assert.deepEqual(config('approval'), { approvers: [{ type: 'team', id: team.id }], mode: 'any', deadline: '2d' });
assert.equal(config('wait').duration, '1h');
assert.equal(config('call').headers.authorization, 'Bearer ${secrets.SHOP_KEY}');

// It is tried, saved and published.
await view('Builder');
const panel = page.getByRole('region', { name: 'Try' });
await open('call', 'Call an address');
await press(side.getByRole('button', { name: 'Send once' }));
await side.getByText('Answer “Ask the price” in Try first: the workflow asks for it before this call.').waitFor();
await back('call');
await press(page.getByRole('button', { name: 'Try', exact: true }));
const ends = (says) => panel.getByRole('status').getByText(says).waitFor();
await ends('It stops at “Ask the price” until it has an answer.');
await type(panel.getByRole('spinbutton', { name: 'Price' }), '600');
await press(panel.getByRole('form', { name: 'Answer of “Ask the price”' }).getByRole('button', { name: 'Done' }));
await ends('It stops at “Approval” until it has an answer.');
await press(panel.getByRole('button', { name: 'Approve', exact: true }));
await ends('It stops at “Call an address” until it has an answer.');
await panel.getByText('Would send POST https://shop.example/orders').waitFor();
const call = { sent: { method: 'POST' }, answer: { status: 201, headers: {}, body: { order: { number: 'o1' } } }, unreadable: null, durationMs: 12 };
await page.route('**/graphql', (route) => (/sendWorkflowCall/i.test(route.request().postData() ?? '') ? route.fulfill({ json: { data: { sendWorkflowCall: { call } } } }) : route.continue()));
await press(panel.getByRole('button', { name: 'Send once' })); // the shop is in no network here
await panel.getByText('Answered with 201 after 12 ms.').waitFor();
await page.unroute('**/graphql');
assert.deepEqual(JSON.parse(await panel.getByRole('textbox', { name: 'Body' }).inputValue()), { order: { number: 'o1' } });
assert.equal(await panel.getByRole('textbox', { name: 'Status code' }).inputValue(), '201');
await press(panel.getByRole('button', { name: 'Use this answer' }));
await ends('It runs to its end.');
await b.sound('purchase-tried');
await press(panel.getByRole('button', { name: 'Close' }));
await press(page.getByRole('button', { name: 'Save draft' }));
await page.getByText('The draft was saved.').waitFor();
await press(page.getByRole('button', { name: 'Publish', exact: true }));
await press(page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }));
await page.getByText('Version 1 is published.').waitFor();

// An offering of a service takes it, with a service level that escalates twice; a rule routes the service's requests to the team; and issues on
// GitHub file them, too.
const dialogOf = (of) => page.getByRole('dialog', { name: of });
const go = (to, heading) => acts(1, () => b.go(to, heading));
await go(`services/${demo.serviceId}`, 'IT Support');
await press(page.getByRole('button', { name: 'New offering' }));
const offer = dialogOf('New offering');
await type(offer.getByLabel('Name', { exact: true }), 'Buy something');
await choose(offer.getByRole('combobox', { name: 'Workflow', exact: true }), 'Purchase');
await type(offer.getByLabel('First response (minutes)'), '60');
await type(offer.getByLabel('Resolution (minutes)'), '2880');
const escalations = offer.getByRole('group', { name: 'Escalations' });
for (const n of [1, 2]) {
  await press(escalations.getByRole('button', { name: 'Add escalation' }));
  await type(escalations.getByRole('group', { name: `Row ${n}`, exact: true }).getByLabel('After', { exact: true }), `${n * 45}`);
}
await choose(escalations.getByRole('group', { name: 'Row 2', exact: true }).getByLabel('Then'), 'Raise its priority by one');
await press(offer.getByRole('button', { name: 'Create' }));
await offer.waitFor({ state: 'detached' });
const offering = (await rest('GET', `/services/${demo.serviceId}/offerings`)).find((one) => one.name === 'Buy something');
assert.deepEqual([offering.workflowId, offering.sla.escalations.map((e) => e.do)], [id, ['notify', 'raise']]);

await go('routing', 'Routing rules');
await press(page.getByRole('button', { name: 'New routing rule' }));
const route = dialogOf('New routing rule');
await type(route.getByLabel('Name', { exact: true }), 'Purchases');
await choose(route.getByRole('combobox', { name: 'What' }), 'Service');
await choose(route.getByRole('combobox', { name: 'Value' }), 'IT Support');
await choose(route.getByRole('combobox', { name: 'Team' }), team.name);
await press(route.getByRole('button', { name: 'Create' }));
await page.getByText('The rule was created and applies from now on.').waitFor();

await go('webhooks', 'Webhooks');
await press(page.getByRole('button', { name: 'New inbound webhook' }));
const hook = page.getByRole('dialog');
await press(hook.getByRole('button', { name: /^GitHub issues/ }));
await acts(1, () => hook.getByLabel('Submits a request for').selectOption(offering.id));
await press(hook.getByRole('button', { name: 'Create' }));
const [secret, url] = [await hook.getByLabel('Signing secret').textContent(), await hook.getByLabel('Address').textContent()];
await press(hook.getByRole('button', { name: 'I have stored it' }));

// It is used: from the catalogue, and by GitHub.
await go(`catalogue/${offering.id}`, 'Buy something');
await type(page.getByLabel('Title', { exact: true }), 'A desk');
await press(page.getByRole('button', { name: 'Submit request' }));
const asked = async (title) => {
  let found;
  await until(`${title} waits for its price`, async () => {
    found = (await rest('GET', '/requests?sort=-createdAt')).find((r) => r.title === title);
    return found?.executionId && (await rest('GET', `/executions/${found.executionId}`)).phaseId === 'work';
  });
  return found;
};
assert.equal((await asked('A desk')).teamId, team.id, 'it is routed by its service');
const issue = JSON.stringify({ action: 'opened', issue: { title: 'A chair', body: null, html_url: 'https://github.com/acme/office/issues/1', labels: [] } });
const sent = await fetch(url, { method: 'POST', body: issue, headers: {
  'content-type': 'application/json', 'x-github-event': 'issues', 'x-github-delivery': 'd-1', 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(issue).digest('hex')}`,
} });
assert.equal((await sent.json()).status, 'accepted');
assert.equal((await asked('A chair')).sla.state, 'ON_TRACK');
assert.ok(actions <= mostActions, `it took ${actions} actions, ${mostActions} at most`);
assert.equal((await rest('GET', `/workflows/${id}`)).version, 1);

// What is refused while the history is shown is said in the builder, at its phase.
await b.go(`workflows/${id}`, 'Purchase');
await open('approval', 'Approval');
await type(days, '5');
await back('approval');
await page.getByRole('button', { name: 'Save draft' }).press('Enter');
const publish = page.getByRole('button', { name: 'Publish', exact: true }).and(page.locator(':enabled'));
const dialog = page.getByRole('dialog');
await publish.waitFor();
await view('History');
await publish.press('Enter');
const details = [{ field: 'definition.phases[call].config.url', message: 'is not allowed' }];
await page.route('**/graphql', (route) => (/publishWorkflow/i.test(route.request().postData() ?? '') ? route.fulfill({ json: { data: null, errors: [{ message: 'Refused.', extensions: { code: 'validation_error', details } }] } }) : route.continue()));
await dialog.getByRole('button', { name: 'Publish', exact: true }).press('Enter');
await page.getByRole('region', { name: 'Problems' }).getByRole('button', { name: 'Call an address: Address: is not allowed' }).waitFor();
await page.unroute('**/graphql');

// What version 2 changes is said in the words of the forms.
await publish.press('Enter');
await dialog.getByRole('listitem').filter({ hasText: 'Approval › Deadline' }).waitFor();
assert.equal(await dialog.locator('.changes').innerText().then((s) => s.replace(/\s+/g, ' ')), 'Approval › Deadline 2 days 5 days');
await b.sound('purchase-differences');
await page.setViewportSize({ width: 390, height: 800 });
await b.fits('purchase-differences-narrow');
await page.setViewportSize({ width: 1280, height: 860 });
await dialog.getByRole('button', { name: 'Publish', exact: true }).press('Enter');
await page.getByText('Version 2 is published.').waitFor();

// Duplicated twice, there are two copies.
for (const copy of ['Purchase (copy)', 'Purchase (copy 2)']) {
  await page.getByRole('button', { name: 'Duplicate' }).press('Enter');
  await page.getByRole('heading', { level: 1, name: copy, exact: true }).waitFor();
  if (copy === 'Purchase (copy)') await page.goBack();
  if (copy === 'Purchase (copy)') await page.getByRole('heading', { level: 1, name: 'Purchase', exact: true }).waitFor();
}
assert.notEqual(page.url(), path);
await page.locator('[data-phase=approval]').press('Delete');
assert.equal(await page.getByRole('button', { name: 'Duplicate' }).isDisabled(), true, 'a copy is of the saved draft');
await view('JSON');
await json.fill(text);
await view('Builder');
assert.equal(await outline(), built);

// The switch shows the outline or the picture alone, also once the page is opened again.
await page.getByRole('button', { name: 'Picture', exact: true }).press('Enter');
await page.locator('.outline').waitFor({ state: 'detached' });
await b.sound('purchase-picture');
await page.reload();
await page.locator('.picture').waitFor();
assert.equal(await page.locator('.outline').count(), 0);
await page.getByRole('button', { name: 'Outline', exact: true }).press('Enter');
await page.locator('.outline').waitFor();
assert.equal(await page.locator('.picture').count(), 0);

// In a narrow window, what a workflow is for and the switch stay within it.
const described = (await rest('GET', '/workflows')).find((w) => w.description?.length > 80);
await page.setViewportSize({ width: 390, height: 800 });
await b.load(`workflows/${described.id}`, described.name);
await page.locator('.outline [data-phase]').first().waitFor();
await b.sound('purchase-narrow');
await b.end();
console.log(`console-purchase: ok, ${actions} actions`);
