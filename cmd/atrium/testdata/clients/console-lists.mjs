// Staff at work in the lists of the web console: rows are selected by range, changed together, refused one by one and taken back; filters
// stand as chips and in the address; a request is read beside its list; cards are moved on the board and back again.
import assert from 'node:assert/strict';
import { arrive, file, rest, until } from './console-browser.mjs';

const { owner } = JSON.parse(process.env.ATRIUM_TEST);
const filed = [];
for (const name of ['One', 'Two', 'Three', 'Four', 'Five']) filed.push(await file(`Row ${name}`));
const b = await arrive(owner, 'requests?q=Row');
const { page } = b;
const of = (r) => rest('GET', `/requests/${r.id}`);
const bar = page.getByRole('toolbar', { name: 'Selected requests' });
const row = (name) => page.getByRole('row').filter({ has: page.getByRole('link', { name: `Row ${name}`, exact: true }) });
const marked = () => page.evaluate(() => document.activeElement?.closest('[data-row]')?.dataset.row ?? null);
const calls = [];
page.on('request', (r) => { if (r.url().endsWith('/graphql')) calls.push(r.postDataJSON()?.operationName); });

// Each row is 36 pixels high. A range is selected by a press with Shift, and by keys.
await row('Five').waitFor();
assert.deepEqual(await page.locator('[data-row]').evaluateAll((rows) => [...new Set(rows.map((r) => r.getBoundingClientRect().height))]), [36]);
await row('Five').getByRole('checkbox').click();
await row('Three').getByRole('checkbox').click({ modifiers: ['Shift'] });
await bar.getByText('3 selected').waitFor();
await page.keyboard.press('Escape');
await bar.waitFor({ state: 'detached' });
await page.keyboard.press('Control+a');
await bar.getByText('5 selected').waitFor();
await b.sound('lists-selected');

// Five rows are changed by one call. What the server refuses is said for its row, the others are changed; that is taken back.
calls.splice(0);
await bar.getByRole('button', { name: 'Priority' }).click();
await page.getByRole('dialog').getByLabel('Priority').selectOption('LOW');
await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
await page.getByText('5 requests were changed.').waitFor();
assert.equal(calls.filter((c) => c.startsWith('Update')).length, 1);
let meanwhile = filed[1];
await page.route('**/graphql', async (route) => {
  if (meanwhile && route.request().postDataJSON()?.operationName === 'UpdateRequests') {
    const { id } = meanwhile;
    meanwhile = undefined;
    await rest('PATCH', `/requests/${id}`, { description: 'Said meanwhile' });
  }
  await route.continue();
});
await bar.getByRole('button', { name: 'Priority' }).click();
await page.getByRole('dialog').getByLabel('Priority').selectOption('URGENT');
await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
const results = page.getByRole('dialog', { name: '1 of 5 was not changed' });
await results.getByRole('listitem').filter({ hasText: 'Row Two' }).getByText(/meanwhile/).waitFor();
await page.unroute('**/graphql'); // while calls are intercepted a browser keeps no script
await b.sound('lists-results');
assert.deepEqual(await Promise.all(filed.map(async (r) => (await of(r)).priority)), ['URGENT', 'LOW', 'URGENT', 'URGENT', 'URGENT']);
await results.getByText(/^4 requests were changed/).locator('..').getByRole('button', { name: 'Undo' }).click();
await results.getByText('Undone.').waitFor();
assert.deepEqual(await Promise.all(filed.map(async (r) => (await of(r)).priority)), ['LOW', 'LOW', 'LOW', 'LOW', 'LOW']);
await results.getByRole('button', { name: 'Close', exact: true }).last().click();

// The bar offers what all of them allow: one that was accepted cannot be declined.
await bar.getByRole('button', { name: 'Accept', exact: true }).waitFor();
await rest('PATCH', `/requests/${filed[0].id}`, { status: 'IN_PROGRESS' });
await bar.getByRole('button', { name: 'Accept', exact: true }).waitFor({ state: 'detached' });
await bar.getByRole('button', { name: 'Assign', exact: true }).waitFor();
await page.keyboard.press('Escape');

// A row's verbs stand in one menu, which works by keys. What destroys stands last.
await row('Two').getByRole('button', { name: 'Actions for Row Two' }).focus();
await page.keyboard.press('Enter');
const menu = page.getByRole('menu');
assert.deepEqual((await menu.getByRole('menuitem').allTextContents()).slice(-2), ['Decline', 'Cancel request']);
await b.sound('lists-menu');
await page.keyboard.press('m'); // by its first letter
await page.waitForFunction(() => document.activeElement?.textContent === 'Move');
await page.keyboard.press('Escape');
await menu.waitFor({ state: 'detached' });
assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Actions for Row Two');

// Filters take several values. Each is a chip, stands in the address, and can be taken away; so do the columns.
const filter = async (name) => {
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('menuitem', { name }).click();
};
await filter('Status');
await page.getByRole('dialog').getByLabel('Pending').check();
await page.getByRole('dialog').getByLabel('Completed').check();
await page.waitForURL(/status=PENDING,COMPLETED/);
await page.keyboard.press('Escape');
await filter('Due');
await page.getByRole('dialog').getByLabel('Within 7 days').check();
await page.waitForURL(/dueBefore=7d/);
await b.sound('lists-filter');
await page.keyboard.press('Escape');
await row('One').waitFor({ state: 'detached' });
await row('Two').waitFor();
await page.getByRole('button', { name: 'Remove the filter Status' }).click();
await row('One').waitFor();
await filter('Tags');
await page.getByLabel('Tag', { exact: true }).fill('site');
await page.getByLabel('Value').fill('Berlin, Lisbon');
await page.keyboard.press('Enter');
await page.waitForURL(/tag.site=Berlin,Lisbon/);
await page.getByText('No request matches').waitFor();
await page.getByRole('button', { name: 'Clear the filters' }).click();
await row('Five').waitFor();
await page.getByRole('button', { name: 'Columns' }).click();
await page.getByRole('dialog').getByLabel('Requester').check();
await page.waitForURL(/columns=.*requester/);
await page.keyboard.press('Escape');
await page.getByRole('columnheader', { name: 'Requester' }).waitFor();

// The inbox has what is due first at the top, another order in its address, and shows a request beside the list, which follows the keys.
await b.go('inbox', 'Inbox');
await page.getByLabel('Sort by').selectOption('Newest first');
await page.waitForURL(/sort=-createdAt/);
await row('Five').getByRole('link').focus();
await page.keyboard.press(' ');
const beside = page.getByRole('group', { name: 'Request beside the list' });
await beside.getByText('Row Five', { exact: true }).waitFor();
await page.keyboard.press('j');
await beside.getByText('Row Four', { exact: true }).waitFor();
await b.sound('lists-beside');
await page.keyboard.press('Escape');
await beside.waitFor({ state: 'detached' });
assert.equal(await marked(), filed[3].id, 'one goes on from the row that was shown');
await page.keyboard.press('x');
await page.keyboard.press('j');
await page.keyboard.press('x');
await page.keyboard.press('a');
await until('both are accepted', async () => (await of(filed[3])).status === 'IN_PROGRESS' && (await of(filed[2])).status === 'IN_PROGRESS');

// The board has what is open and what was finished lately. A card that is dropped is completed, and comes back.
await b.go('requests?view=board&q=Row', 'Requests');
const column = (name) => page.getByRole('region', { name });
assert.deepEqual(await page.locator('.board > section').evaluateAll((all) => all.map((s) => s.getAttribute('aria-label'))), ['Pending', 'In progress', 'Completed']);
const card = (name) => column('In progress').getByRole('listitem').filter({ hasText: `Row ${name}` });
await card('Four').dragTo(column('Completed'));
await until('it is completed', async () => (await of(filed[3])).status === 'COMPLETED');
await page.getByText('Completed “Row Four”.').locator('..').getByRole('button', { name: 'Undo' }).click();
await until('it is back', async () => (await of(filed[3])).status === 'IN_PROGRESS');
await card('Four').waitFor();
await page.keyboard.press('ArrowRight');
await page.keyboard.press('ArrowRight');
assert.ok(await page.evaluate(() => document.activeElement.closest('section')?.getAttribute('aria-label') === 'In progress'));
await page.keyboard.press('x');
await bar.getByText('1 selected').waitFor();
await b.sound('lists-board');
await b.end();
console.log('console-lists: ok');
