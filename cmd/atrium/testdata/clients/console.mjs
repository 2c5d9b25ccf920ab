// People with Chromium at work in the web console: an owner, staff and a member, by mouse and by keys. No page breaks its own policy,
// says an error to the console, has more than one h1 and main, or a finding of axe.
import assert from 'node:assert/strict';
import { arrive, file, join, rest, until } from './console-browser.mjs';

const { api, owner, staff, member, other, demo } = JSON.parse(process.env.ATRIUM_TEST);
const status = (id, wanted) => until(`the request is ${wanted}`, async () => (await rest('GET', `/requests/${id}`)).status === wanted);

// An owner files from the catalogue: a fault is said beside its field, and a draft outlives a reload.
const b = await arrive(owner, `catalogue/${demo.offeringId}`);
const { page, said } = b;
await page.getByLabel('Title').fill('A laptop for Ana');
await page.getByRole('button', { name: 'Submit request', exact: true }).click();
const model = page.getByLabel('Model');
await page.locator('select[aria-invalid=true]').waitFor();
assert.ok(await model.evaluate((e) => document.getElementById(e.getAttribute('aria-describedby').split(' ').at(-1)).textContent.length > 0));
await page.reload();
await page.getByLabel('Model').selectOption('16 inch');
assert.equal(await page.getByLabel('Title').inputValue(), 'A laptop for Ana');
await page.getByRole('button', { name: 'Submit request', exact: true }).click();
await page.getByRole('heading', { level: 1, name: 'A laptop for Ana' }).waitFor();
const filed = page.url().split('/').at(-1);
assert.deepEqual((await rest('GET', `/requests/${filed}`)).fields, { model: '16 inch' });

// It is accepted, changed, taken back, commented on and completed.
await page.getByRole('button', { name: 'Accept' }).click();
await status(filed, 'IN_PROGRESS');
await page.getByRole('button', { name: 'Complete', exact: true }).waitFor(); // the page knows: an older one would be refused by its etag
await page.getByLabel('Priority').selectOption('URGENT');
await page.getByRole('button', { name: 'Undo' }).click();
await page.getByText('Undone.').waitFor();
assert.equal((await rest('GET', `/requests/${filed}`)).priority, 'MEDIUM');
await page.getByRole('button', { name: 'Edit', exact: true }).click();
await page.getByRole('dialog').getByLabel('Tags').fill('floor=3');
await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
const tags = (wanted) => until(`the tags are ${wanted}`, async () => JSON.stringify((await rest('GET', `/requests/${filed}`)).tags) === wanted);
await tags('{"floor":"3"}');
await page.getByText('“A laptop for Ana” was saved.').locator('..').getByRole('button', { name: 'Undo' }).click();
await tags('{}');

// What somebody else changes at the same moment is neither in the way nor lost; where it is the same field, theirs stays.
let meanwhile;
await page.route('**/graphql', async (route) => {
  const change = meanwhile;
  if (change && route.request().postDataJSON()?.operationName === 'UpdateRequest') {
    meanwhile = undefined;
    await rest('PATCH', `/requests/${filed}`, change);
  }
  await route.continue();
});
meanwhile = { title: 'A laptop for Ana Lima' };
await page.getByLabel('Priority').selectOption('HIGH');
await page.getByRole('status').getByText('Priority changed.').waitFor();
await page.getByRole('heading', { level: 1, name: 'A laptop for Ana Lima' }).waitFor();
meanwhile = { priority: 'LOW' };
await page.getByLabel('Priority').selectOption('URGENT');
await page.getByRole('status').getByText('Somebody has changed this meanwhile.').waitFor();
await page.waitForFunction(() => document.getElementById('fact-priority').value === 'LOW');
const both = await rest('GET', `/requests/${filed}`);
assert.deepEqual([both.title, both.priority], ['A laptop for Ana Lima', 'LOW']);
await page.unroute('**/graphql'); // while calls are intercepted a browser keeps no script
// A comment is Markdown: a key marks what is selected, it can be looked at before, and HTML stays what was typed.
const say = page.getByRole('textbox', { name: 'Comment' });
await say.fill('It is on its way. <img src=x onerror=alert(1)>');
await say.evaluate((e) => { e.setSelectionRange(13, 16); });
await say.press('Control+b');
assert.equal(await say.inputValue(), 'It is on its **way**. <img src=x onerror=alert(1)>');
await page.getByRole('button', { name: 'Preview' }).click();
await page.locator('.preview strong').getByText('way', { exact: true }).waitFor();
await b.sound('request-preview');
await page.getByRole('button', { name: 'Preview' }).click();
await page.getByRole('button', { name: 'Reply to staff' }).click(); // for oneself: others would be named
await page.locator('article strong').getByText('way', { exact: true }).waitFor();
await page.locator('article').getByText('<img src=x onerror=alert(1)>').waitFor();
await b.sound('request');
// What is pressed is shown at once, and a press that comes before the last one is written counts as well.
await page.route('**/graphql', async (call) => { await new Promise((r) => { setTimeout(r, 400); }); await call.continue(); });
for (const [press, then] of [['Watch', 'Stop watching'], ['Stop watching', 'Watch']]) {
  await page.getByRole('button', { name: press, exact: true }).click();
  await page.getByRole('button', { name: then, exact: true }).waitFor();
}
await page.getByRole('status').getByText('You no longer watch this request.').waitFor();
await page.unrouteAll({ behavior: 'wait' });

// A note for staff is another tab, with a draft of its own that outlives a reload. An @ offers people by name, for the keyboard as well.
await page.getByRole('tab', { name: 'Internal note' }).click();
await say.pressSequentially('Ask @rob');
await page.getByRole('option', { name: /Robin Lead/, selected: true }).waitFor();
await b.sound('request-mention');
await say.press('Enter');
assert.equal(await say.inputValue(), 'Ask @lead@demo.example ');
await page.getByRole('tab', { name: 'Reply' }).click();
assert.equal(await say.inputValue(), '');
await page.reload();
await page.getByRole('tab', { name: /Internal note/ }).click();
assert.equal(await say.inputValue(), 'Ask @lead@demo.example ');
await page.getByRole('button', { name: 'Add note for staff' }).waitFor();
await say.press('Control+Enter');
await page.locator('article.internal').getByText('@Robin Lead').waitFor();

// Its author changes it, takes that back, and makes it public.
const note = page.locator('article.internal');
const on = async (item) => {
  await note.getByRole('button', { name: 'Actions for your comment' }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
};
await on('Edit');
await page.getByRole('dialog').getByRole('textbox', { name: 'Comment' }).fill('Ask the lead');
await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
await note.getByText('Ask the lead').waitFor();
await page.getByText('Your comment was changed.').locator('..').getByRole('button', { name: 'Undo' }).click();
await note.getByText('@Robin Lead').waitFor();
await on('Make public');
await b.sound('request-publish');
await page.getByRole('dialog').getByRole('button', { name: 'Make public' }).click();
await page.getByText('The note is public.').waitFor();
await page.locator('article:not(.internal)').getByText('@Robin Lead').waitFor();

// The title is changed where it stands, and can be taken back.
await page.getByRole('button', { name: 'Change the title' }).click();
await page.getByRole('textbox', { name: 'Title' }).fill('A laptop for nobody');
await page.keyboard.press('Enter');
await page.getByRole('heading', { level: 1, name: 'A laptop for nobody' }).waitFor();
await page.getByText('The title was changed.').locator('..').getByRole('button', { name: 'Undo' }).click();
await page.getByRole('heading', { level: 1, name: 'A laptop for Ana Lima' }).waitFor();
await page.getByRole('button', { name: 'Complete' }).click();
await status(filed, 'COMPLETED');

// No page asks for what its viewer may not have, and none offers what belongs to others: those of staff.
if (staff.link) await join(staff);
const s = await arrive(staff, 'inbox');
const refused = [];
s.page.on('response', async (r) => {
  if (r.url().endsWith('/graphql') && !r.headers()['content-type']?.startsWith('text/event-stream')) {
    const answer = await r.json().catch(() => ({}));
    if (answer.errors) refused.push(`${s.page.url()}: ${r.request().postDataJSON().operationName}: ${JSON.stringify(answer.errors[0])}`);
  }
});
for (const [path, title] of [['', /Welcome/], ['inbox', 'Inbox'], ['requests', 'Requests'], [`requests/${filed}`, 'A laptop for Ana'], ['tasks', 'Tasks'], ['services', 'Services'], [`services/${demo.serviceId}`, 'IT Support'], ['workflows', 'Workflows'], ['schedules', 'Schedules'], ['executions', 'Executions'], ['runs', 'AI agent runs'], ['proposals', 'Proposals'], ['people', 'People'], ['organizations', 'Organizations'], ['figures', 'Reports'], ['notifications', 'Notifications'], ['settings', 'Settings']]) {
  await s.go(path, title);
  assert.equal(await s.page.getByRole('main').getByRole('button', { name: /^(New (service|offering|workflow|team|organization|AI agent)|Invite|Deactivate|Delete|Edit|Publish)/ }).count(), 0, path);
}
assert.deepEqual((await s.page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents()).map((t) => t.trim()).filter(Boolean),
  ['Catalogue', 'My requests', 'Inbox', 'Requests', 'Tasks', 'Mail', 'Services', 'Workflows', 'Schedules', 'AI agents', 'People', 'Settings']);
await s.go('figures', 'Reports');
await s.page.getByRole('heading', { name: 'Runs of AI agents' }).waitFor();
assert.equal(await s.page.getByRole('heading', { name: /Deliveries|by AI agent/ }).count(), 0, 'staff see neither webhooks nor who the agents are');
assert.deepEqual(refused, []);

// Staff take a request in and finish it.
const theirs = await file('For staff');
await s.go(`requests/${theirs.id}`, theirs.title);
await s.page.getByRole('button', { name: 'Accept', exact: true }).click();
await status(theirs.id, 'IN_PROGRESS');
await s.page.getByRole('button', { name: 'Complete', exact: true }).click();
await status(theirs.id, 'COMPLETED');
await s.page.getByRole('button', { name: 'Reopen', exact: true }).click(); // it was not finished after all
await s.page.getByRole('dialog').getByLabel('Reason').fill('It broke again.');
await s.page.getByRole('dialog').getByRole('button', { name: 'Reopen', exact: true }).click();
await status(theirs.id, 'IN_PROGRESS');
await s.page.getByText('reopened the request: It broke again.').waitFor();
await s.sound('reopened');
await s.page.getByRole('button', { name: 'Complete', exact: true }).click();
await status(theirs.id, 'COMPLETED');
assert.deepEqual(refused, []);

// What a workflow asks is done where it is read: a decision with its reason, then a task with its form, below what came before.
const me = (await rest('GET', '/users?role=agent')).find((u) => u.email === staff.email).id; // whoever filed a request does not decide on it
const flow = await rest('POST', '/workflows', { name: 'Chairs', definition: {
  phases: [
    { id: 'start', type: 'START' }, { id: 'rate', type: 'DATA', name: 'Rate', config: { kind: 'enrich', set: { price: '60' } } },
    { id: 'approve', type: 'APPROVAL', name: 'Approve the chairs', config: { approvers: [{ type: 'user', id: me }], mode: 'all' } },
    { id: 'order', type: 'PROCESS', name: 'Order', participants: [{ role: 'responsible', type: 'user', id: me }], config: {
      title: 'Order the chairs', form: { fields: [{ key: 'orderNumber', label: 'Order number', type: 'text', required: true }] },
    } },
    { id: 'done', type: 'END' },
  ],
  transitions: [
    { from: 'start', name: 'next', to: 'rate' }, { from: 'rate', name: 'next', to: 'approve' }, { from: 'approve', name: 'approved', to: 'order' },
    { from: 'approve', name: 'rejected', to: 'done' }, { from: 'order', name: 'next', to: 'done' },
  ],
} });
await rest('POST', `/workflows/${flow.id}/publish`, {});
const ordered = await rest('POST', `/services/${demo.serviceId}/offerings`, { name: 'Chairs', workflowId: flow.id });
const chairs = await rest('POST', '/requests', { serviceId: demo.serviceId, offeringId: ordered.id, title: 'Ten chairs' });
await until('the decision waits', async () => (await rest('GET', '/approvals?pageSize=100')).some((a) => a.requestId === chairs.id));
await s.go(`requests/${chairs.id}?decide=reject`, chairs.title); // by a mail's link, which decides nothing
const decision = s.page.getByRole('article', { name: 'Decision: Approve the chairs' });
await decision.getByRole('button', { name: 'Reject' }).and(s.page.locator(':focus')).waitFor();
await s.page.getByText('Rate: Price').waitFor();
await decision.getByLabel('Reason for the decision').fill('They are needed.');
await s.sound('request-decision');
await decision.getByRole('button', { name: 'Approve' }).click();
const job = s.page.getByRole('article', { name: 'Task: Order the chairs' });
await job.getByLabel('Order number').fill('4711');
await s.page.reload();
await job.waitFor();
assert.equal(await job.getByLabel('Order number').inputValue(), '4711');
await s.sound('request-task');
await job.getByRole('button', { name: 'Mark as done' }).click();
await s.page.getByText('2 done').click();
await s.page.getByText('They are needed.').waitFor();
await s.page.getByText('4711', { exact: true }).waitFor();
assert.deepEqual(refused, []);
await s.sound('request-done');

// A view that is shared is there for others, by its name.
await s.go('requests?status=COMPLETED', 'Requests');
await s.page.getByRole('button', { name: 'Save view' }).click();
await s.page.getByRole('dialog').getByLabel('Name').fill('Done lately');
await s.page.getByLabel('Who sees it').selectOption('company');
await s.page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
await s.page.getByRole('link', { name: /Done lately/ }).waitFor();
await s.end();
await b.go('requests', 'Requests');
await page.getByRole('link', { name: /Done lately/ }).click();
await page.waitForURL(/status=COMPLETED/);
await page.getByRole('link', { name: 'A laptop for Ana' }).first().waitFor();
await b.sound('view');

// Two tabs live on one stream. The network goes: the page says so, and shows what was filed meanwhile once it is back, without a reload.
const live_ = (p) => p.waitForFunction(() => document.documentElement.dataset.live === 'live');
await b.go('inbox', 'Inbox');
await live_(page);
const tab = await b.context.newPage();
const own = [];
tab.on('request', (r) => { if (r.headers().accept?.includes('event-stream')) own.push(r.postDataJSON().operationName); });
await tab.goto(`${api}/app/inbox`);
await live_(tab);
const shared = await file('For both tabs');
await Promise.all([page, tab].map((p) => p.getByRole('button', { name: /new$/ }).or(p.getByRole('link', { name: shared.title })).first().waitFor()));
assert.deepEqual(own, [], 'the second tab has no stream of its own');
await tab.close();
await b.context.setOffline(true);
const cut = await file('While it was cut'); // its event makes the page ask for numbers, in vain
await page.getByText(/connection lost, trying again/).waitFor();
await b.context.setOffline(false);
await page.getByRole('link', { name: cut.title }).waitFor();
await page.getByText(/connection lost, trying again/).waitFor({ state: 'detached' });

// Who goes to a page whose code has not come yet, without a network, stays in the console, and is there once it is back.
await b.context.setOffline(true);
await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Secrets' }).click();
await page.getByText(/connection lost, trying again/).waitFor();
await b.context.setOffline(false);
await page.getByRole('heading', { level: 1, name: 'Secrets' }).waitFor();
said.splice(0); // the browser itself says that it was offline

// The inbox by keys alone, live: what others file shows up, and the focus is never lost.
await b.go('inbox', 'Inbox');
await live_(page);
const live = await file('Filed meanwhile');
const pill = page.getByRole('button', { name: /new$/ });
const row = page.getByRole('link', { name: 'Filed meanwhile' });
await pill.or(row).first().waitFor();
if (await pill.isVisible()) await pill.click({ timeout: 2_000 }).catch(() => undefined); // the list may be read again before it is pressed
await row.waitFor();
const marked = () => page.evaluate(() => document.activeElement?.closest('[data-row]')?.getAttribute('data-row') ?? null);
for (let i = 0; await marked() !== live.id; i++) { assert.ok(i < 50, 'j leads to each row'); await page.keyboard.press('j'); }
await page.keyboard.press('a');
await status(live.id, 'IN_PROGRESS');
const second = await marked();
assert.ok(second && second !== live.id, 'the focus went on to the next row');
await page.keyboard.press('d');
await page.getByRole('dialog').getByLabel('Reason').and(page.locator(':focus')).waitFor();
await page.keyboard.type('There are enough of these.');
await page.getByRole('dialog').getByRole('button', { name: 'Decline', exact: true }).click();
await status(second, 'CANCELLED');
await page.getByRole('dialog').waitFor({ state: 'detached' }); // keys of the page do nothing behind it
// The focus goes on from a row that is gone, in the frame after the dialog's last one.
await page.waitForFunction((was) => ![was, undefined].includes(document.activeElement?.closest('[data-row]')?.dataset.row), second);
const third = await marked();
await page.keyboard.press('Enter');
await page.waitForURL(`${api}/app/requests/${third}`);
await page.locator('.timeline li').first().waitFor();
await page.keyboard.press('Escape');
await page.waitForURL(`${api}/app/inbox`);
await page.keyboard.press('Control+k');
await page.getByPlaceholder('Type a page').fill('IT Supp');
await page.getByRole('option', { name: /^IT Support/ }).waitFor();
await page.getByPlaceholder('Type a page').fill('Sam');
await page.getByRole('option', { name: 'Sam Active' }).waitFor();
await page.keyboard.press('Enter');
await page.waitForURL(/people\?q=Sam/);
await page.getByText('sam@demo.example').waitFor();
assert.equal(await page.getByText('mia@demo.example').count(), 0);
await page.keyboard.press('Control+k');
await page.getByPlaceholder('Type a page').fill('secre');
await page.keyboard.press('Enter');
await page.waitForURL(`${api}/app/secrets`);
await page.keyboard.press('?');
await page.getByRole('dialog').getByText('Open the command menu', { exact: true }).waitFor();

// A key is another one from now on, and as it came once all are reset.
const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
await sheet.getByRole('button', { name: 'Change the key: Show all shortcuts' }).click();
await page.keyboard.press('k');
await sheet.getByText('k is taken: Previous row.').waitFor();
await sheet.getByRole('button', { name: 'Change the key: Show all shortcuts' }).click();
await page.keyboard.press('h');
await sheet.getByText('Show all shortcuts: h.').waitFor();
await b.sound('shortcuts');
await page.keyboard.press('Escape');
await sheet.waitFor({ state: 'detached' });
await page.reload();
await page.getByRole('heading', { level: 1, name: 'Secrets' }).waitFor();
await page.keyboard.press('h');
await sheet.getByRole('button', { name: 'Reset all keys' }).click();
await page.keyboard.press('Escape');
await sheet.waitFor({ state: 'detached' });

// A key is shown once, works, and can be revoked.
await b.go('keys', 'API keys');
await page.getByRole('button', { name: 'New API key' }).click();
await page.getByLabel('Name').fill('Console test');
await page.getByLabel('requests:read', { exact: true }).check();
await b.sound('new-key');
await page.getByRole('button', { name: 'Create', exact: true }).click();
const value = await page.getByLabel('API key', { exact: true }).textContent();
assert.match(value, /^key_live_/);
await page.getByRole('button', { name: 'I have stored it' }).click();
assert.ok(!(await page.content()).includes(value));
assert.equal((await rest('GET', `/requests/${filed}`, undefined, value)).id, filed);
const refusal = await (await fetch(`${api}/v1/requests/${filed}`, { method: 'PATCH', headers: { 'x-api-key': value, 'content-type': 'application/json' }, body: '{"priority":"LOW"}' })).json();
await page.getByRole('button', { name: 'Revoke Console test' }).click();
await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
await page.getByText('“Console test” is revoked.').waitFor();

// Several requests are selected by keys and changed at once; that is taken back at once, too.
const many = [await file('Bulk one'), await file('Bulk two')];
await b.go('requests?q=Bulk', 'Requests');
await page.getByRole('link', { name: 'Bulk two' }).waitFor();
await page.keyboard.press('j');
await page.keyboard.press('x');
await page.getByText('1 selected').waitFor();
await page.keyboard.press('Escape');
await page.getByText('1 selected').waitFor({ state: 'detached' });
await page.keyboard.press('x');
await page.keyboard.press('Control+a');
await page.getByText('2 selected').waitFor();
await page.keyboard.press('p');
await page.getByRole('dialog').getByLabel('Priority').selectOption('URGENT');
await b.sound('bulk');
await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
await page.getByText('2 requests were changed.').waitFor();
for (const r of many) assert.equal((await rest('GET', `/requests/${r.id}`)).priority, 'URGENT');
await page.getByRole('button', { name: 'Undo' }).click();
await page.getByText('Undone.').waitFor();
for (const r of many) assert.equal((await rest('GET', `/requests/${r.id}`)).priority, 'HIGH');

// What is said stands inside of the dialog that is open, where it can be pressed. A window without room for both shows the request in one.
await page.setViewportSize({ width: 1100, height: 860 });
await b.go(`requests?peek=${many[0].id}`, 'Requests');
const peek = page.getByRole('dialog');
await peek.getByLabel('Priority').selectOption('LOW');
await peek.getByRole('status').getByText('Priority changed.').waitFor();
await peek.getByRole('button', { name: 'Undo' }).click();
await peek.getByRole('status').getByText('Undone.').waitFor();
assert.equal((await rest('GET', `/requests/${many[0].id}`)).priority, 'HIGH');
await page.setViewportSize({ width: 1280, height: 860 });

// A read that fails for a while takes nothing away, and is repeated until it succeeds. What is not there has no stream to wait for.
const away = async (route) => {
  const { operationName } = route.request().postDataJSON();
  if (operationName !== 'RequestOne') return route.fallback();
  return route.fulfill({ status: 503, contentType: 'application/json', body: JSON.stringify({ errors: [{ message: 'The database is away.', extensions: { code: 'unavailable' } }] }) });
};
await b.go(`requests/${many[1].id}`, 'Bulk two');
await live_(page);
await page.route('**/graphql', away);
let failed = 0;
page.on('response', (r) => { if (r.status() === 503) failed++; });
await until('the page was read again, in vain', async () => { // the stream of requests may open after that of notices
  await rest('POST', `/requests/${many[1].id}/comments`, { body: 'While it was away.' });
  await page.waitForTimeout(1000);
  return failed > 0;
});
await page.getByRole('heading', { level: 1, name: 'Bulk two' }).waitFor();
await page.unroute('**/graphql', away);
await page.getByText('While it was away.').first().waitFor();
said.splice(0); // the browser itself says that a call was answered with 503
const none = page.waitForResponse((r) => r.request().postDataJSON()?.operationName === 'ExecutionMoved' && r.status() === 404);
await page.goto(`${api}/app/executions/exe_01k9zexamp1e0f0a0webh00k00`);
await none;
await page.getByText(/was not found/).waitFor();
await page.waitForTimeout(1500); // longer than the first pause before a stream is opened anew
assert.equal(await page.getByText(/connection lost, trying again/).count(), 0);
said.splice(0); // nor is the 404

// What the agent proposes stands on the request's page and is applied there: another offering for a request that reads like others.
const astray = await file('VPN does not connect from home any more');
await b.go(`requests/${astray.id}`, astray.title);
const proposal = page.getByRole('article', { name: /Proposal/ });
await proposal.getByLabel('Offering to apply').waitFor();
await proposal.getByRole('button', { name: 'Apply' }).click();
await proposal.getByText('Applied', { exact: true }).waitFor();
const { serviceId, offeringId } = await rest('GET', `/requests/${astray.id}`);
assert.notEqual(offeringId, demo.offeringId);

// A person moves it back. The dialog asks what the form of that offering asks.
await page.getByRole('button', { name: 'More actions' }).click();
await page.getByRole('menuitem', { name: 'Move' }).click();
await page.getByRole('dialog').getByLabel('Offering').selectOption('New laptop');
await page.getByRole('dialog').getByLabel('Model').waitFor();
await b.sound('move');
await page.getByRole('dialog').getByRole('button', { name: 'Move', exact: true }).click();
await page.getByText('Moved to “New laptop”.').waitFor();
assert.equal((await rest('GET', `/requests/${astray.id}`)).offeringId, demo.offeringId);

// A proposal is edited before it is applied.
const vpn = await rest('POST', '/requests', { serviceId, offeringId, title: astray.title });
await b.go(`requests/${vpn.id}`, vpn.title);
await proposal.getByRole('button', { name: 'Apply' }).waitFor();
await proposal.getByLabel('Team to apply').selectOption({ label: 'Workplace' });
await proposal.getByRole('button', { name: 'Apply edited' }).click();
await proposal.getByText('Applied', { exact: true }).waitFor();
const workplace = (await rest('GET', '/teams')).find((t) => t.name === 'Workplace');
assert.equal((await rest('GET', `/requests/${vpn.id}`)).teamId, workplace.id);

// A policy that makes agents wait is written; what somebody else changes meanwhile is said, and what was written is not lost.
await b.go('policies', 'Access policies');
await page.getByRole('button', { name: 'New access policy' }).click();
await page.getByLabel('Name').fill('Urgent needs a person');
await page.getByLabel('Effect').selectOption('Require approval');
await page.getByLabel('Action', { exact: true }).last().selectOption('update');
await page.getByRole('button', { name: 'Try on past decisions' }).click();
await page.getByText(/^Of the last \d+ decisions/).waitFor();
await page.getByRole('button', { name: 'Create', exact: true }).click();
await page.getByText('Urgent needs a person').first().waitFor();
const elsewhere = await b.context.newPage();
await elsewhere.goto(`${api}/app/policies`);
await page.getByRole('button', { name: 'Edit Urgent needs a person' }).click();
assert.equal(await page.getByLabel('Effect').inputValue(), 'RequireApproval');
await page.getByLabel('Description').fill('Agents ask first.');
await elsewhere.getByRole('button', { name: 'Disable Urgent needs a person' }).click();
await elsewhere.getByText('The policy no longer applies.').waitFor();
await elsewhere.close();
await page.getByRole('button', { name: 'Save', exact: true }).click();
await page.getByText('Somebody has changed this meanwhile.').waitFor();
await page.getByRole('button', { name: 'Cancel', exact: true }).click();
await page.getByRole('button', { name: 'Edit Urgent needs a person' }).click();
assert.equal(await page.getByLabel('Description').inputValue(), 'Agents ask first.');
await page.getByRole('button', { name: 'Keep what I wrote' }).click();
await page.getByRole('button', { name: 'Save', exact: true }).click();
await page.getByText('The policy was saved').waitFor();

// A refusal is explained by its decision.
await b.go(`policies?decision=${refusal.decisionId}`, 'Access policies');
await page.locator('.notice').getByText('requests:write').waitFor();
await page.getByRole('status').getByText('decided by').waitFor();

// Who did what is found by the resource and the action. Until the answer is there, the entries before it stand, and are marked as such.
await b.go('audit', 'Audit');
await page.locator('tbody tr').first().waitFor();
let answer;
const answered = new Promise((r) => { answer = r; });
const hold = async (route) => { await answered; await route.continue().catch(() => undefined); }; // it may be on its way since nothing is held any more
await page.route('**/graphql', hold);
await page.getByLabel('Resource', { exact: true }).selectOption('APIKey');
await page.getByLabel('Action').fill('apikey.revoked');
await page.keyboard.press('Enter');
await page.waitForURL(/action=apikey.revoked/);
await page.locator('[aria-busy=true]').getByRole('link').first().waitFor();
await b.sound('audit-behind');
answer();
await page.unroute('**/graphql', hold);
await page.waitForFunction(() => {
  const found = [...document.querySelectorAll('[aria-busy=false] tbody td .name')].map((e) => e.textContent);
  return found.length > 0 && found.every((action) => action === 'apikey.revoked');
});

// The proof of an audit entry is computed anew in the browser.
await b.go('audit', 'Audit');
await page.getByRole('link', { name: 'company.created' }).or(page.locator('tbody tr').last().getByRole('link')).first().click();
await page.getByRole('button', { name: 'Show the proof' }).click();
await page.getByText('Proved: the hashes lead to the root').waitFor();
await page.getByRole('button', { name: 'Close' }).click();
await page.getByRole('button', { name: 'Verify the log' }).click();
await page.getByText('Intact: nothing has changed').waitFor();

// A workflow with a fault says so at its phase; mended, it is published.
await b.go('workflows', 'Workflows');
await page.getByRole('button', { name: 'New workflow' }).click();
await page.getByLabel('Name').fill('Tried out');
await page.getByRole('button', { name: 'Create', exact: true }).click();
await page.getByRole('link', { name: 'JSON' }).click();
const definition = page.getByLabel('Definition');
await definition.waitFor();
const good = await definition.inputValue();
await definition.fill(good.replace('${request.title}', '${request.nothing +}'));
await page.getByRole('button', { name: 'Save', exact: true }).click();
await page.getByRole('list', { name: 'Phases' }).locator('.fault').waitFor();
await definition.fill(good.replace('"name": "Work"', '"name": "Do the work"'));
await page.getByRole('button', { name: 'Save', exact: true }).click();
await page.getByText('The draft was saved.').waitFor();
await page.getByRole('button', { name: 'Publish' }).click();
await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
await page.getByText('Version 1 is published.').waitFor();
await page.getByRole('button', { name: 'Dismiss' }).first().waitFor({ state: 'detached' }); // what fades in has no contrast to measure
await b.sound('workflow');
await page.setViewportSize({ width: 500, height: 860 });
const picture = page.getByRole('group', { name: 'Picture of the workflow' });
const scrolls = () => picture.evaluate((e) => e.scrollWidth > e.clientWidth);
assert.ok(await scrolls());
await page.getByRole('button', { name: 'Whole picture' }).click();
assert.ok(!await scrolls());
await page.setViewportSize({ width: 1280, height: 860 });
await page.getByRole('button', { name: 'Whole picture' }).waitFor({ state: 'detached' });

assert.deepEqual(b.faults, []);

// Pages are left while what they ask for is on its way, by links and by the address: nothing is said of it, here or in the console.
const slowly = async (route) => {
  if (!route.request().headers().accept?.includes('event-stream')) await new Promise((r) => { setTimeout(r, 300); });
  await route.continue().catch(() => undefined); // who asked is gone
};
await page.route('**/graphql', slowly);
const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
for (let i = 0, n = await links.count(); i < n; i++) await links.nth(i).click();
for (const path of ['requests', `requests/${filed}`, 'figures', 'audit', 'people']) {
  await Promise.all([page.waitForRequest((r) => r.url().endsWith('/graphql')), page.goto(`${api}/app/${path}`, { waitUntil: 'commit' })]);
}
await page.unroute('**/graphql', slowly);
await page.locator('tbody tr').first().waitFor();
await page.getByText(/connection lost|could not be loaded/).waitFor({ state: 'detached' });
assert.equal(await page.locator('.toast').count(), 0);
assert.deepEqual(said, []);
assert.deepEqual(b.faults, []);

// A script of the page cannot run another document.
const smuggled = await page.evaluate(async () => (await fetch('/graphql', {
  method: 'POST', headers: { 'content-type': 'application/json', 'x-requested-with': 'x' }, body: JSON.stringify({ query: '{ viewer { email } }' }),
})).status);
assert.equal(smuggled, 400);
await b.close();

// A member comes by an invitation, sees what members may do, and is told why not elsewhere.
if (member.link) await join(member);
const m = await arrive(member, 'catalogue');
await m.page.getByRole('heading', { level: 1, name: 'Catalogue' }).waitFor();
const nav = await m.page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();
assert.deepEqual(nav.map((t) => t.trim()).filter(Boolean), ['Catalogue', 'My requests', 'Tasks', 'Settings']);
await m.go(`catalogue/${demo.offeringId}`, 'New laptop');
await m.page.getByLabel('Title').fill('For a member');
await m.page.getByLabel('Model').selectOption('13 inch');
await m.page.getByRole('button', { name: 'Submit request', exact: true }).click();
await m.page.getByRole('heading', { level: 1, name: 'For a member' }).waitFor();
await m.page.getByRole('button', { name: 'More actions' }).click();
await m.page.getByRole('menuitem', { name: 'Cancel request' }).waitFor();
await m.page.keyboard.press('Escape');
assert.equal(await m.page.getByRole('button', { name: /Accept|Complete|Decline/ }).count(), 0);
await m.sound('member-request');

// Once it is complete, they may open it again for some days: by the button, or by what they say.
const mine = m.page.url().split('/').at(-1);
for (const again of ['button', 'comment']) {
  for (const to of ['IN_PROGRESS', 'COMPLETED'].slice(again === 'button' ? 0 : 1)) await rest('PATCH', `/requests/${mine}`, { status: to });
  await m.page.getByRole('button', { name: 'Reopen', exact: true }).waitFor();
  if (again === 'button') {
    await m.page.getByRole('button', { name: 'Reopen', exact: true }).click();
    await m.page.getByRole('dialog').getByRole('button', { name: 'Reopen', exact: true }).click();
    await m.page.getByRole('dialog').waitFor({ state: 'detached' });
  } else {
    await m.page.getByText('A public comment reopens your request.').waitFor();
    await m.page.getByRole('textbox', { name: 'Comment' }).fill('It broke again.');
    await m.page.getByRole('button', { name: 'Reply to staff' }).click();
  }
  await status(mine, 'IN_PROGRESS');
  await m.page.getByRole('button', { name: 'Reopen', exact: true }).waitFor({ state: 'detached' });
}

// Their home finds what can be asked for and what they have asked for; what waits for their answer stands first.
await m.go('', /Welcome/);
await m.page.getByRole('region', { name: 'IT Support' }).getByRole('link', { name: 'Access to a system' }).waitFor();
await m.sound('member-home');
await m.page.getByLabel('Search the catalogue and your requests').fill('laptop');
await m.page.getByRole('link', { name: 'New laptop' }).waitFor();
await m.page.getByLabel('Search the catalogue and your requests').fill('for a mem');
await m.page.getByRole('link', { name: 'For a member' }).waitFor();
await m.sound('member-home-found');
await m.page.keyboard.press('Enter');
await m.page.waitForURL(`${api}/app/requests/${mine}`);
await rest('PATCH', `/requests/${mine}`, { waiting: true });
await m.load('', /Welcome/);
await m.page.getByRole('list', { name: 'Waiting for you' }).getByRole('link', { name: 'For a member' }).waitFor();
for (const [path, title] of [['my-requests', 'My requests'], ['tasks', 'Tasks'], ['settings', 'Settings']]) {
  await m.go(path, title);
  await m.sound(`member-${path}`);
}
const mia = (await rest('GET', '/users')).find((u) => u.email === member.email);

// A member who is asked to decide sees the price on which they do, without a right to the execution; in the list's dialog, on the page of
// the request and at home, on a narrow screen too. The order that follows shows what its phase chooses.
const price = { form: { fields: [{ key: 'amount', label: 'Price in euros', type: 'number', required: true }, { key: 'internal', label: 'Internal note', type: 'text' }] } };
const buying = await rest('POST', '/workflows', { name: 'Desks', definition: {
  phases: [
    { id: 'start', type: 'START' }, { id: 'price', type: 'PROCESS', name: 'Ask for the price', config: price }, { id: 'note', type: 'PROCESS', name: 'Internal check' },
    { id: 'approve', type: 'APPROVAL', name: 'Approve the desk', config: { approvers: [{ type: 'user', id: mia.id }], mode: 'all', shows: ['price'] } },
    { id: 'order', type: 'PROCESS', name: 'Order the desk', participants: [{ role: 'responsible', type: 'user', id: mia.id }] }, { id: 'done', type: 'END' },
  ],
  transitions: [
    { from: 'start', name: 'next', to: 'price' }, { from: 'price', name: 'next', to: 'note' }, { from: 'note', name: 'next', to: 'approve' },
    { from: 'approve', name: 'approved', to: 'order' }, { from: 'approve', name: 'rejected', to: 'done' }, { from: 'order', name: 'next', to: 'done' },
  ],
} });
await rest('POST', `/workflows/${buying.id}/publish`, {});
const desks = await rest('POST', `/services/${demo.serviceId}/offerings`, { name: 'Desks', workflowId: buying.id });
const desk = await rest('POST', '/requests', { serviceId: demo.serviceId, offeringId: desks.id, title: 'A desk' });
for (const [title, variables] of [['Ask for the price', { amount: 1200 }], ['Internal check', { secretly: 'too much' }]]) {
  let task;
  await until(`${title} waits`, async () => (task = (await rest('GET', `/tasks?requestId=${desk.id}&status=OPEN`)).find((x) => x.title === title)));
  await rest('POST', `/tasks/${task.id}/complete`, { variables });
}
await until('the member is asked', async () => (await rest('GET', `/approvals?requestId=${desk.id}&status=PENDING`)).length === 1);
await m.load('', /Welcome/);
await m.page.getByRole('button', { name: 'Approve A desk' }).click();
await m.page.getByRole('dialog').getByText('Ask for the price: Price in euros').waitFor();
await m.page.getByRole('dialog').getByText('1200', { exact: true }).waitFor();
assert.equal(await m.page.getByRole('dialog').getByText(/Internal check|too much/).count(), 0, 'nothing that is not shown');
await m.sound('member-decides');
await m.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
await m.go(`requests/${desk.id}`, 'A desk');
await m.page.getByRole('article', { name: 'Decision: Approve the desk' }).getByText('Ask for the price: Price in euros').waitFor();
await m.sound('member-decision');
await m.go('tasks', 'Tasks');
await m.page.getByRole('button', { name: 'Approve A desk' }).click();
await m.page.getByRole('dialog').getByText('Ask for the price: Price in euros').waitFor();
await m.page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
await m.page.getByRole('button', { name: 'Complete Order the desk' }).click();
await m.page.getByRole('dialog').getByText('Approve the desk: Outcome').waitFor();
await m.page.getByRole('dialog').getByText('Approved', { exact: true }).waitFor();
await m.sound('member-orders');
await m.page.keyboard.press('Escape');
assert.deepEqual((await rest('GET', `/audit?outcome=denied&actorId=${mia.id}`)).map((e) => e.action), [], 'pages ask for nothing that the person may not read');
for (const [path, title] of [['keys', 'API keys'], ['inbox', 'Inbox'], ['audit', 'Audit']]) {
  await m.go(path, title);
  await m.page.getByText(/may not/).first().waitFor();
}

// Who is deactivated is taken from the page that they have open within a minute, and told why.
await m.go('my-requests', 'My requests');
const d = await arrive(owner, 'people?q=Mia');
await d.page.getByRole('button', { name: 'Actions for Mia', exact: true }).click();
await d.page.getByRole('menuitem', { name: 'Deactivate', exact: true }).click();
await d.page.getByRole('dialog').getByRole('button', { name: 'Deactivate', exact: true }).click();
await d.page.getByRole('dialog').locator('strong').getByText(/\d API keys? stays? valid/).waitFor(); // the number comes with the answer; the question says it without one
await d.end();
const deactivated = Date.now();

// Somebody of another company meets nothing of this one, whatever address they open.
const o = await arrive(other, 'requests');
await o.page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
for (const path of [`requests/${filed}`, `services/${demo.serviceId}`, `catalogue/${demo.offeringId}`]) {
  await o.page.goto(`${api}/app/${path}`);
  await o.page.getByText(/was not found/).waitFor();
  assert.equal(await o.page.getByText(/A laptop for Ana|IT Support|New laptop/).count(), 0, path);
}

// They find at home what sets a company up. A list of people is sent line by line; what cannot be sent stays with the reason.
await o.go('', /Welcome/);
const steps = o.page.getByRole('region', { name: 'Set up Other' });
await steps.getByText('1 of 8 done').waitFor(); // the company came with a key
await o.sound('start');
await steps.getByRole('link', { name: 'Invite people' }).click();
const list = o.page.getByRole('dialog', { name: 'Invite people' });
await list.getByLabel('Names and addresses').fill(`Ann Fox <ann@other.example>\nbob@other.example, agent\nnobody\n${other.email}`);
await list.getByText('3 people can be invited. 1 line cannot be sent.').waitFor();
await list.getByText('Line 3: There is no e-mail address.').waitFor();
await o.sound('invite-list');
await list.getByRole('button', { name: 'Send 3 invitations' }).click();
await list.getByText(/is a member already/).waitFor();
assert.equal(await list.getByLabel('Names and addresses').inputValue(), `${other.email}, member\nnobody`);
await o.page.keyboard.press('Escape');
for (const invited of [/Ann Fox.*ann@other.example.*Member.*Invited/, /bob.*bob@other.example.*Staff.*Invited/]) await o.page.getByRole('row').filter({ hasText: invited }).waitFor();
await o.go('', /Welcome/);
await steps.getByText('2 of 8 done').waitFor();
await o.end();

// The member's page has meanwhile been open.
for (let i = 1; new URL(m.page.url()).pathname.startsWith('/app'); i++) {
  assert.ok(Date.now() - deactivated < 70_000, 'the session ends within a minute');
  await m.page.waitForTimeout(500);
  if (i % 30 === 0) await m.page.reload().catch(() => undefined); // which it may be leaving at that moment
}
await m.page.getByText('You have no access here').or(m.page.getByLabel('E-mail address')).first().waitFor();
await m.close();
console.log('console: ok');
