// An admin with Chromium presses what the pages offer: the server refuses none of it. The switch to the sandbox reaches the other tabs,
// and pages offer nothing there that is the live company's.
import assert from 'node:assert/strict';
import { arrive, join } from './console-browser.mjs';

const { api, admin, paths } = JSON.parse(process.env.ATRIUM_TEST);
await join(admin);
const b = await arrive(admin, 'settings');
const { page } = b;

let at = '';
const refused = [];
page.on('response', async (r) => {
  if (!r.url().endsWith('/graphql') || r.headers()['content-type']?.startsWith('text/event-stream')) return;
  const { errors } = await r.json().catch(() => ({}));
  for (const e of errors ?? []) if (e.extensions.code === 'forbidden' || /live company/.test(e.message)) refused.push(`${at}: ${r.request().postDataJSON().operationName}: ${e.message}`);
});

// What the page has asked and was not answered yet, but for streams.
const pending = new Set();
page.on('request', (r) => { if (r.url().endsWith('/graphql') && !r.headers().accept?.includes('event-stream')) pending.add(r); });
for (const ended of ['requestfinished', 'requestfailed']) page.on(ended, (r) => { pending.delete(r); });
// answered waits until the page has asked nothing for a frame and 30 ms, and all that it asked was answered.
const answered = async () => {
  for (let i = 0; i < 100; i++) {
    const before = pending.size;
    await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => setTimeout(done, 30)); }));
    if (before === 0 && pending.size === 0) return;
  }
};

// show comes to a page that keeps nothing of what was pressed before: by way of another one, and until it has read its rows anew.
const show = async (path) => {
  const here = new URL(page.url()).pathname === `/app/${path}`;
  await b.go(path, /./, here ? 'nowhere' : undefined);
  await answered();
};
// verbs are the buttons of a page, one for each thing that they do: a list has the same ones in each row.
const verbs = () => page.locator('#main').evaluate((main) => {
  const says = (el) => [...el.childNodes].filter((n) => !n.classList?.contains('hidden')).map((n) => n.textContent).join('').trim();
  return [...new Set([...main.querySelectorAll('button:not(:disabled)')].filter((el) => !el.closest('.filters, search, th')).map(says))].filter(Boolean);
});
// What only moves about, or ends the session that presses.
const beside = /^(Sign out|Sign out everywhere|Leave the sandbox|Switch to the sandbox|Clear|Show more|Copy.*|Export CSV.*|Board|Table|All|Explain|\d+ new|Denied|Allowed)$/;

// eachMenu opens the menus of a page, one after the other, until one has what is looked for; rows of each kind are among ten. It begins
// with the one at `first`.
const menus = page.locator('#main [aria-haspopup=menu]');
async function eachMenu(look, first = 0) {
  const n = Math.min(10, await menus.count());
  for (const i of [first, ...Array(n).keys()].filter((at, k) => at < n && (k === 0 || at !== first))) {
    await menus.nth(i).click();
    if (await look(i)) return true;
    await page.keyboard.press('Escape');
  }
  return false;
}
// inMenus returns what the menus of a page offer, each with the first menu that does.
const inMenus = async () => {
  const found = new Map();
  await eachMenu(async (i) => {
    const items = await page.getByRole('menuitem').evaluateAll((all) => all.map((el) => [...el.childNodes].filter((n) => n.nodeName !== 'KBD').map((n) => n.textContent).join('').trim()));
    items.forEach((says) => found.has(says) || found.set(says, i));
  });
  return found;
};

// press does what a button or a row's menu offers, which was in the menu at `menu` before; where that asks first, it answers yes.
async function press(path, verb, menu) {
  at = `${path}: ${verb}`;
  await show(path);
  const button = page.locator('#main').getByRole('button', { name: verb }).first();
  if (await button.isVisible() && !await button.isDisabled()) await button.click();
  else if (!await eachMenu(async () => {
    const item = page.getByRole('menuitem', { name: verb, exact: true });
    if (await item.count() === 0) return false;
    await item.click();
    return true;
  }, menu)) return;
  const dialog = page.locator('dialog[open]');
  if (await dialog.count() > 0) {
    for (const field of await dialog.locator('input:not([type=checkbox]):not([type=radio]), textarea').all()) {
      if (await field.isVisible() && await field.isEditable() && await field.inputValue() === '' && await field.getAttribute('type') !== 'datetime-local') await field.fill('x').catch(() => undefined);
    }
    const go = dialog.locator('[type=submit], button.danger').last();
    if (await go.count() > 0 && await go.isEnabled()) await go.click();
  }
  await answered();
}

for (const list of ['inbox', 'workflows', 'agents']) { // one row of each
  await show(list);
  await page.locator('#main a.name').first().waitFor();
  paths.push((await page.locator('#main a.name').first().getAttribute('href')).replace('/app/', ''));
}
const done = [];
for (const path of paths) {
  await show(path);
  for (const [verb, menu] of [...(await verbs()).map((v) => [v]), ...await inMenus()]) {
    if (beside.test(verb)) continue;
    done.push(`${path}: ${verb}`);
    await press(path, verb, menu);
  }
}
assert.ok(done.length > paths.length, done.join(', ')); // else the pages were not there
assert.deepEqual(refused, []);
const tab = await b.context.newPage();
await tab.goto(`${api}/app/requests`);
await tab.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
await show('settings');
await page.getByRole('button', { name: 'Switch to the sandbox' }).click();
for (const p of [page, tab]) await p.locator('.sandbox-word').waitFor();
for (const path of ['people', 'keys', 'settings']) { // few, for they are alike
  await show(path);
  await page.getByText('can only be changed in the live company').waitFor();
  assert.deepEqual((await verbs()).filter((v) => /^(New|Invite|Erase|Sign out everywhere)/.test(v) && v !== 'New team'), [], path);
}
await page.getByRole('button', { name: 'Leave the sandbox' }).click();
for (const p of [page, tab]) await p.locator('.sandbox-word').waitFor({ state: 'detached' });
await b.close();
console.log('console-offers: ok');
