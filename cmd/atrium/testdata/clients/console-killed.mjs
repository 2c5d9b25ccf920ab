// A person with three tabs of the web console, whose server is killed and started again: the tabs say so, go on by themselves, and
// lose nothing that was begun. Each line that is printed tells the test that it may go on.
import assert from 'node:assert/strict';
import { arrive } from './console-browser.mjs';

const { api, owner, demo, request } = JSON.parse(process.env.ATRIUM_TEST);
const b = await arrive(owner, 'inbox');
const said = [...b.said]; // from the sign-in on
const tabs = { inbox: b.page, request: await b.context.newPage(), form: await b.context.newPage() };
for (const tab of Object.values(tabs)) {
  tab.setDefaultTimeout(90_000); // the server is away in between
  tab.on('console', (m) => { if (m.type() === 'error' && !/net::ERR_|status of (401|503)/.test(m.text())) said.push(m.text()); }); // a server that has just begun may be busy
}
await tabs.inbox.getByRole('link', { name: 'Filed before' }).waitFor();
await tabs.request.goto(`${api}/app/requests/${request}`);
await tabs.request.getByRole('textbox', { name: 'Comment' }).fill('Half a com');
await tabs.form.goto(`${api}/app/catalogue/${demo.offeringId}`);
await tabs.form.getByLabel('Title').fill('A laptop for');
await tabs.form.getByLabel('Model').selectOption('14 inch');
const all = (check) => Promise.all(Object.values(tabs).map(check));
const live = (p) => p.waitForFunction(() => document.documentElement.dataset.live === 'live');
const lost = (p) => p.getByText(/connection lost, trying again/);
await all(live);
await all((p) => p.evaluate(() => { window.neverLoadedAnew = true; }));
console.log('open');

// Killed: every tab says so. What was begun can be gone on with, and what is sent is refused without being lost.
await all((p) => lost(p).waitFor());
await tabs.request.getByRole('textbox', { name: 'Comment' }).fill('Half a comment');
await tabs.request.getByRole('button', { name: /^Reply to/ }).click();
await tabs.request.getByText(/The connection was lost\. It is not known/).first().waitFor();
assert.equal(await tabs.inbox.getByRole('link', { name: 'Filed before' }).count(), 1);
console.log('lost');

// Back at the same address: the list is as it is by now, and live.
await tabs.inbox.getByRole('link', { name: 'Filed meanwhile' }).or(tabs.inbox.getByRole('button', { name: /new$/ })).first().waitFor();
await all((p) => lost(p).waitFor({ state: 'detached' }));
await all(live);
console.log('back');
const came = tabs.inbox.getByRole('link', { name: 'Filed live' });
for (let i = 0; !await came.isVisible(); i++) {
  assert.ok(i < 90, 'what was filed since is never shown');
  await tabs.inbox.getByRole('button', { name: /new$/ }).click({ timeout: 1000 }).catch(() => undefined); // it stands behind it, unless the list was read anew
}
await tabs.inbox.getByRole('link', { name: 'Filed meanwhile' }).waitFor();
await all(async (p) => assert.ok(await p.evaluate(() => window.neverLoadedAnew), 'no tab was loaded anew'));

// The drafts are where they were, and are sent.
assert.equal(await tabs.request.getByRole('textbox', { name: 'Comment' }).inputValue(), 'Half a comment');
await tabs.request.getByRole('button', { name: /^Reply to/ }).click();
await tabs.request.locator('article').getByText('Half a comment').waitFor();
assert.equal(await tabs.form.getByLabel('Model').inputValue(), '14 inch');
await tabs.form.getByLabel('Title').fill(`${await tabs.form.getByLabel('Title').inputValue()} Ana`);
await tabs.form.getByRole('button', { name: 'Submit request', exact: true }).click();
await tabs.form.getByRole('heading', { level: 1, name: 'A laptop for Ana' }).waitFor();
assert.deepEqual(b.faults, []);
assert.deepEqual(said, []);
await b.close();
console.log('console-killed: ok');
