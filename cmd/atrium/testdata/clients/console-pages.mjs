// An owner with Chromium looks at every page of the web console: in both schemes, at 320 pixels and at twice the size. No page breaks
// its own policy, says an error to the console, has more than one h1 and main, or a finding of axe.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { arrive, file, rest, until } from './console-browser.mjs';

const { api, owner, demo, looks } = JSON.parse(process.env.ATRIUM_TEST);

const pages = [
  ['inbox', 'Inbox'], ['catalogue', 'Catalogue'], [`catalogue/${demo.offeringId}`, 'New laptop'], ['my-requests', 'My requests'], ['requests', 'Requests'],
  ['requests?view=board', 'Requests'], ['tasks', 'Tasks'], ['services', 'Services'], ['services/packs', 'Starter packs'], [`services/${demo.serviceId}`, 'IT Support'], ['workflows', 'Workflows'], ['agents', 'AI agents'],
  ['people', 'People'], ['keys', 'API keys'], ['webhooks', 'Webhooks'], ['policies', 'Access policies'], ['secrets', 'Secrets'], ['credits', 'Credits'], ['audit', 'Audit'],
  ['settings', 'Settings'], ['nowhere', 'Not found'], ['', /Welcome/], ['runs', 'AI agent runs'], ['proposals', 'Proposals'], ['executions', 'Executions'],
  ['routing', 'Routing rules'], ['calendars', 'Calendars'], ['schedules', 'Schedules'], ['schedules/new', 'New schedule'], ['organizations', 'Organizations'], ['service-accounts', 'Service accounts'], ['mail', 'Mail'], ['mailboxes', 'Mailboxes'],
  ['oauth-clients', 'OAuth clients'], ['plan', 'Plan and invoices'], ['notifications', 'Notifications'], ['figures', 'Reports'], ['requests/import', 'Import requests'],
];

// An owner has a webhook, whose deliveries stand on the figures from then on, each chart with its table, and what spreadsheets take
// for a formula defused in the file.
const team = await rest('POST', '/teams', { name: '=1+1' });
{
  const w = await arrive(owner, 'webhooks');
  await w.page.getByRole('button', { name: 'New webhook' }).click();
  await w.page.getByLabel('URL').fill('https://hooks.example.com/in');
  await w.page.getByLabel('request.created', { exact: true }).check();
  await w.page.getByRole('button', { name: 'Create', exact: true }).click();
  await w.page.getByRole('button', { name: 'I have stored it' }).click();
  const shown = await file('For the pages to show');
  await rest('PATCH', `/requests/${shown.id}`, { teamId: team.id });
  await until('an agent ran', async () => (await rest('GET', '/agent-runs')).length > 0);
  await w.load('figures', 'Reports');
  await w.page.getByRole('link', { name: /^Submitted: \d+, show the requests$/ }).click(); // a figure leads to what it counts
  await w.page.waitForURL(/requests\?createdAfter=.+&createdBefore=/);
  await w.page.getByRole('link', { name: 'For the pages to show' }).waitFor();
  await w.load('figures', 'Reports');
  const exported = {}; // ten files are what Chromium lets a page give at once
  for (const title of ['Submitted and completed', 'First response', 'Resolution', 'Service levels', 'Runs of AI agents', 'Decisions on proposals', 'Acceptance and cost, by AI agent', 'Deliveries of webhooks', 'Deliveries, by webhook']) {
    const section = w.page.locator('section').filter({ has: w.page.getByRole('heading', { name: title, exact: true }) });
    await section.getByRole('img', { name: `${title}; the table says the same` }).waitFor();
    await section.getByText('Table', { exact: true }).click();
    const rows = await section.getByRole('row').count();
    const [csv] = await Promise.all([w.page.waitForEvent('download'), w.page.getByRole('button', { name: `Export CSV of ${title}` }).click()]);
    exported[title] = (await readFile(await csv.path(), 'utf8')).trim().split('\r\n');
    assert.equal(exported[title].length, rows, title);
  }
  await w.page.getByRole('navigation', { name: 'Broken down by' }).getByRole('link', { name: 'Team', exact: true }).click();
  await w.page.getByRole('link', { name: '=1+1: 1, show the requests' }).waitFor();
  const [csv] = await Promise.all([w.page.waitForEvent('download'), w.page.getByRole('button', { name: 'Export CSV of Breakdown' }).click()]);
  const breakdown = (await readFile(await csv.path(), 'utf8')).trim().split('\r\n');
  const day = new Date().toISOString().slice(0, 10);
  const [heads, ...days] = exported['Deliveries of webhooks'];
  assert.equal(heads, 'Day,Succeeded,Failed,Pending');
  assert.equal(days.length, 30);
  assert.ok(days.at(-1).startsWith(day) && days.at(-1) !== `${day},0,0,0`, days.at(-1));
  assert.ok(breakdown.some((r) => r.startsWith("'=1+1,")));
  await w.end();
}
if (looks) {
  const b = await arrive(owner, 'inbox');
  // seen looks at the page that is open in the light, in the dark, and at 320 pixels. It is drawn anew for each, not loaded.
  const seen = async (name) => {
    await b.sound(`${name}-light-1280`);
    await b.page.emulateMedia({ colorScheme: 'dark' });
    await b.sound(`${name}-dark-1280`, { dark: true });
    await b.page.emulateMedia({ colorScheme: 'light' });
    await b.page.setViewportSize({ width: 320, height: 860 });
    await b.sound(`${name}-light-320`);
    await b.page.setViewportSize({ width: 1280, height: 860 });
  };
  for (const [path, title] of pages) { // TestWebConsoleHoldsStill loads them
    await b.go(path, title);
    await seen(path.replaceAll(/\W/g, '-'));
  }
  for (const [list, row] of [['agents', 'td a.name'], ['runs', '.rows a.name'], ['executions', '.rows a.name'], ['workflows', 'td a.name'], ['requests', 'td a.name']]) {
    await b.page.goto(`${api}/app/${list}`);
    await b.page.locator(row).first().click();
    await b.page.waitForURL(`${api}/app/${list}/*`);
    await b.page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await seen(`${list}-one`);
  }
  await b.end();
}

// Titles of any kind are text. They break no page at twice the size, and nothing moves where people asked for that.
if (looks) {
  const h = await arrive(owner, 'inbox', { viewport: { width: 640, height: 430 }, deviceScaleFactor: 2 });
  for (const title of ['<img src=x onerror="alert(1)">', 'طلب \u202Eجديد', 'W'.repeat(300)]) {
    const odd = await file(title);
    await h.go(`requests/${odd.id}`, title);
    await h.sound(`odd-${title.length}`);
  }
  for (const [path, title] of pages) {
    await h.go(path, title);
    await h.fits(`${path.replaceAll(/\W/g, '-')}-zoomed`);
    assert.deepEqual(await h.page.evaluate(() => document.getAnimations().map((a) => a.animationName)), [], path);
  }
  for (const width of [320, 390]) {
    await h.page.setViewportSize({ width, height: 860 });
    await h.page.goto(`${api}/docs`);
    await h.fits(`docs-${width}`);
  }
  await h.end();
}
console.log('console-pages: ok');
