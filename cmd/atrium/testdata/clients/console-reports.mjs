// The lead of a team reads last month's report: sees it beside the month before, filters by the team, tells its requests apart, and
// reaches the list behind a figure. Figures are said in German on a telephone, too.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { arrive, rest, until } from './console-browser.mjs';

const { api, demo, owner } = JSON.parse(process.env.ATRIUM_TEST);

// The lead lives in Berlin, whose days are not those of UTC. at is a moment of a day of the month so many months ago there.
const timezoneId = 'Europe/Berlin';
const [year, current] = new Intl.DateTimeFormat('sv', { timeZone: timezoneId }).format().split('-').map(Number);
const at = (monthsAgo, day, hour) => new Date(Date.UTC(year, current - 1 - monthsAgo, day, hour)).toISOString();
const team = await rest('POST', '/teams', { name: 'Service desk' });
await rest('POST', '/teams', { name: 'Field service' });
let n = 0;
const row = (of, monthsAgo, day, status) => [
  `OLD-${++n}`, `Old ${n}`, status, n % 2 ? 'HIGH' : 'LOW', of, at(monthsAgo, day, 8), at(monthsAgo, day, 9), status === 'COMPLETED' ? at(monthsAgo, day, 12) : '',
].join(',');
const table = [
  'Issue key,Summary,Status,Priority,Team,createdAt,acceptedAt,completedAt',
  ...[8, 9, 9, 10].map((day) => row('Service desk', 1, day, 'COMPLETED')), ...[9, 20].map((day) => row('Service desk', 1, day, 'IN_PROGRESS')),
  ...[8, 11, 12].map((day) => row('Field service', 1, day, 'COMPLETED')), ...[3, 14, 15, 16].map((day) => row('Service desk', 2, day, 'COMPLETED')),
].join('\n');
const brought = await rest('POST', '/requests/import', { csv: table, source: 'old', serviceId: demo.serviceId, offeringId: demo.offeringId, dryRun: true });
await until('the table was read', async () => (await rest('GET', `/request-imports/${brought.id}`)).status === 'CHECKED');
await rest('POST', `/request-imports/${brought.id}/start`, {});
await until('the requests are there', async () => (await rest('GET', `/request-imports/${brought.id}`)).status === 'COMPLETED');

const b = await arrive(owner, 'requests', { timezoneId });
const { page } = b;
const main = page.getByRole('main');
const tile = (name) => main.getByRole('link', { name: `${name}, show the requests`, exact: true }).first();

// The home leads to the report of the last 30 days; its time stands in the address.
await b.go('', /Welcome/);
await main.getByRole('link', { name: 'Reports', exact: true }).click();
await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
assert.equal(await main.getByRole('combobox', { name: 'Period' }).evaluate((s) => s.selectedOptions[0].text), 'The last 30 days');
await main.getByRole('combobox', { name: 'Period' }).selectOption('Last month');
await page.waitForURL(/\/app\/figures\?period=last_month$/);
await tile('Submitted: 9').waitFor();
const submitted = main.locator('.total').filter({ hasText: 'Submitted' });
assert.match(await submitted.innerText(), /125 % more than before,[\s\S]*before: 4/);
const first = (monthsAgo) => new Intl.DateTimeFormat('en', { month: 'short', year: 'numeric', timeZone: 'UTC' }).format(new Date(at(monthsAgo, 1, 12))).split(' ');
const [month, before] = [first(1), first(2)];
assert.match(await main.locator('.report-of').innerText(), new RegExp(`${month[0]} 1 – (28|29|30|31), ${month[1]}, compared with ${before[0]} 1 – (28|29|30|31), ${before[1]}\\. Days are in the time zone Europe/Berlin\\.`));

// By the key for filters the team is chosen, as in the list of requests. All figures are then those of the team.
await page.keyboard.press('f');
await page.getByRole('menuitem', { name: 'Team' }).press('Enter');
await page.getByRole('dialog', { name: 'Team' }).getByLabel('Service desk').check();
await page.waitForURL(new RegExp(`period=last_month&teamId=${team.id}$`));
await page.keyboard.press('Escape');
await tile('Submitted: 6').waitFor();
await main.getByRole('button', { name: 'Team: Service desk', exact: true }).waitFor();
assert.match(await submitted.innerText(), /50 % more than before/);
assert.match(await main.locator('.total').filter({ hasText: 'Completed' }).innerText(), /^Completed\s+4\s+as before,\s+before: 4$/);
assert.match(await main.locator('.total').filter({ hasText: 'Resolution' }).innerText(), /4 hr\s+as before,/);
await b.sound('reports');

// One breakdown is shown at a time, of one figure, the one to look at first at its top.
const breakdown = main.locator('section').filter({ has: page.getByRole('heading', { name: 'Breakdown' }) });
await breakdown.getByRole('link', { name: 'IT Support: 6, show the requests' }).waitFor();
const scrolled = () => page.evaluate(() => scrollY);
await breakdown.getByRole('link', { name: 'Priority', exact: true }).scrollIntoViewIfNeeded();
const was = await scrolled();
await breakdown.getByRole('link', { name: 'Priority', exact: true }).click();
await page.waitForURL(/by=priority/);
await breakdown.getByRole('link', { name: 'High: 3, show the requests' }).waitFor();
assert.equal(await scrolled(), was, 'the page stays where it is');
await breakdown.getByRole('combobox', { name: 'Figure' }).selectOption('Still open');
await page.waitForURL(/measure=open/);
assert.deepEqual((await breakdown.locator('ol li').allInnerTexts()).map((t) => t.split(/\s+/)), [['High', '1'], ['Low', '1']]);

// A figure leads to the requests that it counts, and back to the report as it was.
await tile('Still open: 2').click();
await page.waitForURL(/\/app\/requests\?/);
await main.getByRole('button', { name: 'Team: Service desk', exact: true }).waitFor();
await until('two requests are listed', async () => await main.locator('tbody tr').count() === 2);
assert.deepEqual((await main.locator('tbody a.name').allInnerTexts()).toSorted(), ['Old 5', 'Old 6']);
await page.goBack();
await tile('Submitted: 6').waitFor();
assert.match(page.url(), /by=priority&measure=open/);

await tile('Completed: 4').click(); // in the time, whenever they were submitted
await page.waitForURL(/completedAfter=/);
await until('four requests are listed', async () => await main.locator('tbody tr').count() === 4);
await page.goBack();
await tile('Submitted: 6').waitFor();

// The table below a chart leads to the requests of a day; so does the chart to people with a mouse.
const submittedOf = main.locator('section').filter({ has: page.getByRole('heading', { name: 'Submitted and completed', exact: true }) });
await submittedOf.getByText('Table', { exact: true }).click();
const day = at(1, 9, 0).slice(0, 10);
await submittedOf.getByRole('row').filter({ hasText: day }).getByRole('link', { name: '3', exact: true }).click();
await until('three requests of the day are listed', async () => await main.locator('tbody tr').count() === 3);
await page.goBack();
await tile('Submitted: 6').waitFor();
await submittedOf.locator('.at').nth(8).click();
await until('the chart led there, too', async () => /\/app\/requests\?/.test(page.url()) && await main.locator('tbody tr').count() === 3);
await page.goBack();
await tile('Submitted: 6').waitFor();

// Files: one of each table, and one of all.
const file = async (name) => {
  const [csv] = await Promise.all([page.waitForEvent('download'), main.getByRole('button', { name, exact: true }).click()]);
  return (await readFile(await csv.path(), 'utf8')).trim().split(/\r?\n/);
};
const resolution = await file('Export CSV of Resolution');
assert.equal(resolution[0], 'Day,Median (minutes),90th percentile (minutes)');
assert.ok(resolution.includes(`${day},240,240`), resolution.join('\n'));
const groups = await file('Export CSV of Breakdown');
assert.deepEqual(groups.slice(1).map((r) => r.split(',').slice(0, 2).join()).toSorted(), ['High,3', 'Low,3']);
const all = await file('Export all as CSV');
assert.ok(all.some((r) => r.startsWith('total,')) && all.some((r) => r.includes(day)), all.slice(0, 5).join('\n'));

// The report is mailed each week, with the keyboard: what is kept are the filters and the breakdown.
await main.getByRole('button', { name: 'Mail weekly' }).press('Enter');
const asks = page.getByRole('dialog', { name: 'Mail this report weekly' });
await asks.getByText('Every Monday at 7:00 (UTC)').waitFor();
await asks.getByRole('button', { name: 'Mail weekly' }).press('Enter');
await until('the name is asked for', async () => await asks.getByLabel('Name').getAttribute('aria-invalid') === 'true');
await b.sound('reports-mail');
await asks.getByLabel('Name').fill('Service desk');
await page.keyboard.press('Enter');
await asks.waitFor({ state: 'detached' });
const mailed = main.getByRole('list', { name: 'Mailed to you' });
await mailed.getByText(/^Next: /).waitFor();
const [kept] = await rest('GET', '/report-subscriptions');
assert.deepEqual([kept.name, kept.query], ['Service desk', `teamId=${team.id}&by=priority`]);
assert.match(kept.nextAt, /T07:00:00/);
await mailed.getByRole('link', { name: 'Service desk' }).press('Enter');
await page.waitForURL(new RegExp(`/app/figures\\?period=last_week&teamId=${team.id}&by=priority$`));
await b.sound('reports-mailed');

// A time that is too long is refused in place: the bar stays, and leads out of it.
await b.load('figures?period=custom&from=2020-01-01&to=2026-01-01', 'Reports');
await main.getByText('This could not be loaded').waitFor();
await main.getByLabel('From', { exact: true }).waitFor();
await main.getByRole('combobox', { name: 'Period' }).selectOption('Last month');
await tile('Submitted: 9').waitFor();

// German, on a telephone, in the dark.
await b.context.addInitScript(() => { Object.defineProperty(navigator, 'languages', { configurable: true, get: () => ['de'] }); });
await page.setViewportSize({ width: 390, height: 860 });
await page.emulateMedia({ colorScheme: 'dark' });
await page.goto(`${api}/app/figures?period=last_month&teamId=${team.id}&by=team`);
await page.getByRole('heading', { level: 1, name: 'Berichte' }).waitFor();
await main.getByRole('link', { name: 'Gestellt: 6, Anfragen anzeigen', exact: true }).first().waitFor();
await main.getByRole('button', { name: 'Team: Service desk', exact: true }).waitFor();
assert.match(await main.locator('.total').filter({ hasText: 'Gestellt' }).innerText(), /50 % mehr als zuvor/);
await main.locator('section').filter({ has: page.getByRole('heading', { name: 'Aufschlüsselung' }) }).getByRole('link', { name: 'Service desk: 6, Anfragen anzeigen' }).waitFor();
await main.getByText('Jeden Montag um 7:00 Uhr (UTC)').waitFor();
await b.sound('reports-german-390');

// Nothing is mailed any more once it was deleted.
await main.getByRole('button', { name: 'Service desk löschen' }).press('Enter');
await page.getByRole('dialog').getByRole('button', { name: 'Löschen', exact: true }).press('Enter');
await main.getByRole('list', { name: 'Ihnen gemailt' }).waitFor({ state: 'detached' });
assert.deepEqual(await rest('GET', '/report-subscriptions'), []);
await b.end();
console.log('console-reports: ok');
