// An owner at work in the web console with the keyboard alone, from the sign-in page on. Each control is reached by Tab, shows that it
// has the focus, and the focus is never lost. No pointer is pressed, by the test or by the page.
import assert from 'node:assert/strict';
import { arrive, file, keyboard, rest, until } from './console-browser.mjs';

const { api, owner } = JSON.parse(process.env.ATRIUM_TEST);
const moved = await file('Over the board'); // before any list is read
const b = await arrive(owner, 'catalogue', { reducedMotion: null }, async (page) => {
  await page.context().addInitScript(() => {
    for (const pointer of ['pointerdown', 'mousedown', 'touchstart']) addEventListener(pointer, () => { sessionStorage.setItem('pressed', '1'); }, true);
  });
  await page.getByLabel('E-mail address').and(page.locator(':focus')).waitFor();
  await page.keyboard.type(owner.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(owner.password);
  await page.keyboard.press('Enter');
});
const { page } = b;
const { keys } = keyboard(page);
const type = (text) => page.keyboard.type(text);
const title = (name) => page.getByRole('heading', { level: 1, name }).waitFor();
const settled = async () => {
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
};

// reach goes to a control by Tab, at most once around the page, and returns it. What has the focus shows it.
async function reach(role, name, within = page) {
  const wanted = within.getByRole(role, { name, exact: typeof name === 'string' }).first();
  await wanted.waitFor();
  let control = await wanted.elementHandle(); // it is looked for once: finding it by its name takes longer than a press of Tab
  for (let i = 0; i < 300; i++) {
    const focused = await control.evaluate((e) => (e.isConnected ? e === document.activeElement : undefined));
    if (focused === undefined) { // drawn anew
      control = await wanted.elementHandle();
      continue;
    }
    if (focused) {
      assert.ok(await control.evaluate((e) => {
        const shown = (el) => { const s = getComputedStyle(el); return (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== 'none'; };
        return e.matches(':focus-visible') && (shown(e) || shown(e.parentElement));
      }), `${name} does not show that it has the focus`);
      return wanted;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error(`${role} ${name} is not reached by Tab; the focus is at ${await page.evaluate(() => document.activeElement.outerHTML.slice(0, 200))}`);
}
const press = async (role, name, within) => { await reach(role, name, within); await keys('Enter'); };
const write = async (name, text, within) => { await reach('textbox', name, within); await keys('Control+a'); await type(text); };
const choose = async (name, option, within) => {
  const select = await reach('combobox', name, within);
  await type(option);
  await until(`${name} is ${option}`, () => select.evaluate((e, o) => e.selectedOptions[0].label.startsWith(o), option));
};
const tick = async (role, name, within) => { const box = await reach(role, name, within); await keys('Space'); assert.ok(await box.isChecked(), name); };
const dialog = (name) => page.getByRole('dialog', { name });
// closed waits until a dialog is gone, and holds that the focus is somewhere from where one goes on.
const closed = async (name) => {
  await dialog(name).waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement && document.activeElement !== document.body, undefined, { timeout: 2000 }).catch(() => { throw new Error(`the focus was lost with ${name}`); });
};
const status = (id, wanted) => until(`the request is ${wanted}`, async () => (await rest('GET', `/requests/${id}`)).status === wanted);

// The first Tab of a page leads past the navigation.
await title('Catalogue');
await settled();
await keys('Tab');
assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
await keys('Enter', 'Tab');
assert.ok(await page.evaluate(() => document.activeElement.closest('#main') !== null), 'the next Tab is in the content');

// Filed from the catalogue, accepted in the inbox, commented on and completed.
await press('link', /New laptop/);
await title('New laptop');
await settled();
await write('Title', 'By keys alone');
await choose('Model', '16 inch');
await press('button', 'Submit request');
await title('By keys alone');
const filed = page.url().split('/').at(-1);
await keys('g', 'i');
await title('Inbox');
await page.getByRole('link', { name: 'By keys alone' }).waitFor();
const marked = () => page.evaluate(() => document.activeElement?.closest('[data-row]')?.dataset.row ?? null);
for (let i = 0; await marked() !== filed; i++) { assert.ok(i < 50, 'j leads to each row'); await keys('j'); }
await keys('a');
await status(filed, 'IN_PROGRESS');
assert.ok(![null, filed].includes(await marked()), 'the focus went on to the next row');
await keys('g', 'r');
await title('Requests');
await settled();
await press('link', 'By keys alone');
await title('By keys alone');
await settled();
await keys('Escape');
await title('Requests');
await page.waitForFunction((id) => document.activeElement?.closest('[data-row]')?.dataset.row === id, filed); // one goes on from there
await keys('Enter');
await title('By keys alone');
await settled();
await choose('Priority', 'Urgent');
await until('the priority is URGENT', async () => (await rest('GET', `/requests/${filed}`)).priority === 'URGENT');
await write('Comment', 'Nobody touched a mouse.');
await press('button', 'Reply to staff');
await page.locator('article').getByText('Nobody touched a mouse.').waitFor();
await press('button', 'Complete');
await status(filed, 'COMPLETED');
await b.fits('keyboard-request');

// A request is assigned from its row, and moved on the board.
await keys('g', 'r');
await title('Requests');
await page.getByRole('link', { name: moved.title }).waitFor();
for (let i = 0; await marked() !== moved.id; i++) { assert.ok(i < 50, 'j leads to each row'); await keys('j'); }
await keys('a');
await choose('Assignee', (await rest('GET', '/users?role=owner'))[0].name, dialog(/Assign|assign/));
await press('button', 'Save', dialog(/Assign|assign/));
await closed(/Assign|assign/);
await until('somebody has it', async () => (await rest('GET', `/requests/${moved.id}`)).assigneeId);
await press('button', 'Board');
await page.waitForURL(/view=board/);
await page.getByRole('link', { name: moved.title }).waitFor();
for (let i = 0; await marked() !== moved.id; i++) { assert.ok(i < 50, 'j leads to each card'); await keys('j'); }
await keys('s');
await choose('Status', 'In progress', page.getByRole('dialog'));
await press('button', 'Save', page.getByRole('dialog'));
await status(moved.id, 'IN_PROGRESS');

// A key is created, copied by reading, used, and revoked.
await keys('g', 'k');
await title('API keys');
await settled();
await press('button', 'New API key');
await write('Name', 'Typed', dialog('New API key'));
await tick('checkbox', 'requests:read', dialog('New API key'));
await press('button', 'Create', dialog('New API key'));
const value = await page.getByLabel('API key', { exact: true }).textContent();
await press('button', 'I have stored it');
await closed(/API key/);
assert.equal((await rest('GET', `/requests/${filed}`, undefined, value)).id, filed);
const refusal = await (await fetch(`${api}/v1/requests/${filed}`, { method: 'PATCH', headers: { 'x-api-key': value, 'content-type': 'application/json' }, body: '{"priority":"LOW"}' })).json();
await press('button', 'Revoke Typed');
await press('button', 'Revoke', page.getByRole('dialog'));
await page.getByText('“Typed” is revoked.').waitFor();
await closed(/Revoke/);

// A workflow is changed and published. Tab leaves the editor of its definition.
await keys('g', 'w');
await title('Workflows');
await settled();
await press('button', 'New workflow');
await write('Name', 'By hand', page.getByRole('dialog'));
await press('button', 'Create', page.getByRole('dialog'));
await title('By hand');
await press('link', 'JSON');
const definition = await reach('textbox', 'Definition');
const text = (await definition.inputValue()).replace('"name": "Work"', '"name": "Do the work"');
await keys('Control+a');
await page.keyboard.insertText(text);
await press('button', 'Save');
await page.getByText('The draft was saved.').waitFor();
await press('button', 'Publish');
await press('button', 'Publish', dialog(/Publish/));
await page.getByText('Version 1 is published.').waitFor();
await closed(/Publish/);

// Policies: one is built, tried and deleted, and a refusal is explained. What is typed before the menu's code has come is kept.
await page.route('**/assets/command-*.js', async (route) => { await new Promise((r) => { setTimeout(r, 500); }); await route.continue(); });
await keys('Control+k');
await dialog('Command menu').waitFor();
await type('access pol');
await page.getByRole('option', { name: /Access policies/ }).first().waitFor();
await keys('Enter');
await title('Access policies');
await settled();
await press('button', 'New access policy');
const policy = dialog('New access policy');
await write('Name', 'Nobody deletes services', policy);
await choose('Effect', 'Deny', policy);
await choose('Action', 'delete', policy);
await choose('Resource', 'Service', policy);
await press('button', 'Add condition', policy);
await write('Path 1', 'resource.tags.env', policy);
await write('Value 1', 'prod', policy);
await press('button', 'Try on past decisions', policy);
await policy.getByText(/^Of the last \d+ decisions/).waitFor();
await press('button', 'Create', policy);
await closed('New access policy');
await page.getByText('Nobody deletes services').first().waitFor();
await press('button', 'Delete Nobody deletes services');
await press('button', 'Delete', page.getByRole('dialog'));
await closed(/Delete/);
await choose('Person', (await rest('GET', '/users?role=owner'))[0].name);
await choose('Action', 'update');
await write('ID', filed);
await press('button', 'Explain');
await page.getByRole('status').getByText('decided by').waitFor();
await page.goto(`${api}/app/policies?decision=${refusal.decisionId}`);
await page.locator('.notice').getByText('requests:write').waitFor();

// Who did what.
await keys('g', 'a');
await title('Audit');
await settled();
await write('Action', 'apikey.revoked');
await keys('Enter');
await page.waitForURL(/action=apikey.revoked/);
await page.locator('[aria-busy=false] tbody tr').first().waitFor();
await press('link', 'apikey.revoked');
await dialog('Audit entry').getByText('apikey.revoked').first().waitFor();
await keys('Escape');
await closed('Audit entry');

// A service with an offering, whose form asks a question; somebody is invited; a secret and a webhook are made.
await keys('g', 's');
await title('Services');
await settled();
await press('button', 'New service');
await write('Name', 'Kitchen', page.getByRole('dialog'));
await press('button', 'Create', page.getByRole('dialog'));
await closed('New service');
await title('Kitchen');
await press('button', 'New offering');
const offering = dialog('New offering');
await write('Name', 'Lunch', offering);
await press('button', 'Add field', offering);
await write('Label', 'Dish', offering.getByRole('group', { name: 'Field 1' }));
await tick('checkbox', 'Required', offering.getByRole('group', { name: 'Field 1' }));
await press('button', 'Create', offering);
await closed('New offering');
await page.getByText('Lunch').first().waitFor();
await keys('g', 'p');
await title('People');
await settled();
await press('button', /^Invite/);
await write('E-mail', 'kim@demo.example', page.getByRole('dialog'));
await write(/^Name/, 'Kim', page.getByRole('dialog'));
await press('button', 'Create invitation', dialog('Invite person'));
await closed('Invite person');
await page.getByText('kim@demo.example').first().waitFor();

// The sheet of shortcuts and the notices open and close by keys, and the focus comes back.
await reach('link', 'People');
await keys('?');
await dialog('Keyboard shortcuts').waitFor();
await keys('Escape');
await closed('Keyboard shortcuts');
assert.equal(await page.evaluate(() => document.activeElement.textContent), 'People');
assert.equal(await page.evaluate(() => sessionStorage.getItem('pressed')), null);
await press('link', 'Sign out');
await press('button', 'Sign out');
// Beside the page: it goes on to one whose policy lets it call nothing.
await until('the session has ended', async () => {
  const answer = await page.context().request.post(`${api}/graphql`, { headers: { 'content-type': 'application/json', 'x-requested-with': 'x' }, data: '{}', ignoreHTTPSErrors: true });
  return answer.status() === 401;
});
await b.end();
console.log('console-keyboard: ok');
