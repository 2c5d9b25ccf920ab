// An owner starts from a pack with the keyboard alone: looks at what it makes, installs it, and files a request for one of its offerings.
// Installed again it makes nothing. A file is planned before it is installed, and a broken one is refused with its document named; a
// service that was saved as a template is such a file.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { arrive, keyboard, rest, until } from './console-browser.mjs';

const { owner, other } = JSON.parse(process.env.ATRIUM_TEST);
const b = await arrive(owner, 'services');
const { page } = b;
const { keys, focused, tab, pick } = keyboard(page);
const link = (name) => page.getByRole('link', { name, exact: true });
const button = (name) => page.getByRole('button', { name, exact: true });
const heading = (name) => page.getByRole('heading', { level: 1, name, exact: true });
const everything = page.getByText('Everything in this pack is there.');
const press = async (control) => {
  await tab(control);
  await keys('Enter');
};
const both = async (name) => {
  await b.sound(name);
  await page.emulateMedia({ colorScheme: 'dark' });
  await b.sound(`${name}-dark`, { dark: true });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 390, height: 860 });
  await b.fits(`${name}-390`);
  await page.setViewportSize({ width: 1280, height: 860 });
};

// The list says of each pack what it makes; j and Enter open one.
await press(link('Start from a pack'));
await heading('Starter packs').waitFor();
const marketing = page.getByRole('region', { name: 'Marketing requests' });
await marketing.getByText(/1 service, \d+ offerings, \d+ workflows/).waitFor();
await both('packs');
for (let i = 0; i < 40 && !await link('Marketing requests').evaluate((e) => e === document.activeElement); i++) await keys('j');
await keys('Enter');
await heading('Marketing requests').waitFor();
await page.getByText('Texts, pictures, campaigns and pages are asked for in one place').waitFor();
const made = (kind) => page.getByRole('list', { name: kind, exact: true }).getByRole('listitem');
await made('Offerings').filter({ hasText: 'Change the website' }).getByText('New', { exact: true }).waitFor();
assert.equal(await made('Services').count(), 1);
const offerings = await made('Offerings').count();
assert.ok(await made('Workflows').count() > 1);
await both('pack');

// What exists already stays as it is.
const team = await rest('POST', '/teams', { name: 'The old marketing', slug: 'marketing' });
await keys('Escape');
await heading('Starter packs').waitFor();
await press(link('Marketing requests'));
await page.getByText(/\d of them exists? already and stays? as /).waitFor();
await made('Teams').filter({ hasText: 'Exists already' }).waitFor();

// One press installs it. The focus goes to what it has made, and the page says that all of it is there.
await press(button('Install'));
await page.getByText('“Marketing requests” is installed.').waitFor();
await page.getByText('The new teams have no members yet.').waitFor();
await everything.waitFor();
await focused(page.locator('.page-head').getByRole('link', { name: 'Open “Marketing”' }));
assert.equal((await rest('GET', `/teams/${team.id}`)).name, 'The old marketing');
assert.equal(await button('Install').count(), 0);
await page.locator('.toast').getByRole('link', { name: 'Open “Marketing”' }).waitFor();
await both('pack-installed');
const services = async () => (await rest('GET', '/services?pageSize=100')).filter((s) => s.name === 'Marketing');
const [service] = await services();
assert.equal(service.ownerTeamId, team.id);
assert.equal((await rest('GET', `/services/${service.id}/offerings`)).length, offerings);

// Its offerings can be asked for at once, and their workflow runs.
await keys('Enter');
await heading('Marketing').waitFor();
await press(link('Change the website'));
await heading('Change the website').waitFor();
await tab(page.getByLabel('Title', { exact: true }));
await page.keyboard.type('The new opening hours');
await tab(page.getByLabel('Which page?'));
await page.keyboard.type('Contact');
await tab(page.getByLabel('What should it say instead?'));
await page.keyboard.type('Open from eight to six.');
await pick(page.getByLabel('It names or shows other people or companies'), 'No');
await press(button('Submit request'));
await page.getByText('Submitted “The new opening hours”.').waitFor();
await page.waitForURL('**/requests/req_*');
const request = page.url().replace(/.*\//, '');
await until('its workflow asks the team', async () => (await rest('GET', '/tasks?pageSize=100')).some((x) => x.requestId === request));

// Installed again it makes nothing.
await b.go('services/packs', 'Starter packs');
await marketing.getByText('Installed', { exact: true }).waitFor();
await press(link('Marketing requests'));
await everything.waitFor();
assert.equal(await button('Install').count(), 0);
const again = await rest('POST', '/packs/install', { pack: 'marketing-requests', language: 'en' });
assert.deepEqual([...new Set(again.items.map((i) => i.action))], ['keep']);
assert.equal((await services()).length, 1);

// A broken file is refused, and says in which documents it is.
let next = null;
page.on('filechooser', (chooser) => { void chooser.setFiles(next); }); // heard all the time: the browser has to know before it is pressed
const give = async (name, text) => {
  next = { name, mimeType: 'application/yaml', buffer: Buffer.from(text) };
  await tab(button('Choose a YAML file'));
  await keys('Enter');
};
const visitors = (workflow) => `kind: Pack
key: visitors
spec: {name: Visitors, description: Guests are expected at the entrance.}
---
kind: Service
key: reception
spec: {name: Reception}
---
kind: Offering
key: expect-a-guest
spec: {serviceId: Service/reception, name: Expect a guest${workflow}}
`;
await b.load('services/packs', 'Starter packs');
await give('broken.yaml', visitors(', workflowId: Workflow/nowhere'));
const refused = page.getByRole('alert').filter({ hasText: '“broken.yaml” cannot be installed.' });
await refused.getByText('Offering/expect-a-guest', { exact: true }).waitFor();
await refused.getByText(/workflowId/).waitFor();
await both('packs-broken');
await give('latin.yaml', Buffer.from([0x6b, 0xfc]));
await page.getByText('This is not a YAML file in UTF-8.').waitFor();

// One that is whole is shown as a pack is, and installed in one press.
await give('visitors.yaml', visitors(''));
await heading('Visitors').waitFor();
await page.getByText('1 service, 1 offering', { exact: true }).waitFor();
await press(button('Install'));
await page.getByText('“Visitors” is installed.').waitFor();
await everything.waitFor();
await focused(page.locator('.page-head').getByRole('link', { name: 'Open “Reception”' }));
await keys('Enter');
await heading('Reception').waitFor();

// A service that is saved as a template is a file that can be installed: here all of it is there.
const [saved] = await Promise.all([page.waitForEvent('download'), press(button('Save as template'))]);
assert.equal(saved.suggestedFilename(), 'reception.yaml');
const template = await readFile(await saved.path(), 'utf8');
assert.match(template, /kind: Service\b/);
assert.doesNotMatch(template, /\b(svc|off|team|wf)_[0-9a-z]/);
await b.go('services/packs', 'Starter packs');
await give('reception.yaml', template);
await everything.waitFor();
assert.equal(await button('Install').count(), 0);
await b.end();

// The owner of a company that begins finds the packs at home and in the empty list of services.
const o = await arrive(other, 'services');
await o.page.locator('.state').getByRole('link', { name: 'Start from a pack' }).waitFor();
await o.go('', /Welcome/);
await o.sound('start-packs');
await o.page.getByRole('region', { name: /^Set up / }).getByRole('link', { name: 'Start from a pack' }).press('Enter');
await o.page.getByRole('heading', { level: 1, name: 'Starter packs' }).waitFor();
await o.page.getByRole('region', { name: 'IT service desk' }).waitFor();
await o.end();
console.log('console-packs: ok');
