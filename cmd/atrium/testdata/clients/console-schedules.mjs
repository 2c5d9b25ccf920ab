// An owner plans with the keyboard alone that a request is submitted every week: sees when that will be while choosing it, runs it once,
// follows it to the request, pauses and changes it. A workflow is started the same way, planned from its own page.
import assert from 'node:assert/strict';
import { arrive, keyboard, rest, until } from './console-browser.mjs';
import { graph } from './console-company.mjs';

const { demo, owner } = JSON.parse(process.env.ATRIUM_TEST);
const hours = [{ from: '09:00', to: '17:00' }];
await graph('createCalendar', 'CreateCalendarInput', { name: 'Office', timeZone: 'Europe/Berlin', workingHours: { mon: hours, tue: hours, wed: hours, thu: hours, fri: hours } }, 'calendar { id }');
const flow = await rest('POST', '/workflows', { name: 'Access review', definition: {
  phases: [{ id: 'start', type: 'START' }, { id: 'count', type: 'DATA', config: { kind: 'enrich', set: { n: '1' } } }, { id: 'done', type: 'END' }],
  transitions: [{ from: 'start', name: 'next', to: 'count' }, { from: 'count', name: 'next', to: 'done' }],
} });
await rest('POST', `/workflows/${flow.id}/publish`, {});

const b = await arrive(owner, 'schedules', { locale: 'en-US', timezoneId: 'Europe/Berlin' });
const { page } = b;
const main = page.getByRole('main');
const { keys, focused, tab, chosen, pick } = keyboard(page);
const press = async (locator, key = 'Enter') => { await tab(locator); await keys(key); };
// named chooses one by the letters that it begins with, of a list that is long. What is typed within a second of other letters is one word with them.
const named = async (select, label) => {
  await tab(select);
  for (let i = 0; i < 5 && await chosen(select) !== label; i++) {
    if (i > 0) await page.waitForTimeout(1100);
    await page.keyboard.type(label);
  }
  assert.equal(await chosen(select), label);
};
const write = async (field, text) => { await tab(field); await keys('Control+a'); await page.keyboard.type(text); };
const says = (text) => main.getByText(text, { exact: true }).first().waitFor();
const next = page.getByRole('list', { name: 'The next 10 times' });
// falls reports on which days of the week the next times are, and at what time, once they are those.
const falls = (days, time) => until(`they are on ${days} at ${time}`, async () => {
  const found = (await next.getByRole('listitem').allTextContents()).map((s) => s.replace(/\s/g, ' '));
  return found.length === 10 && [...new Set(found.map((s) => s.slice(0, 3)))].sort().join() === [...days].sort().join() && found.every((s) => s.includes(time));
});

// Where there is none, the page says what they are for.
await main.getByText('There are no schedules yet').waitFor();
await b.sound('schedules-none');
await press(main.getByRole('link', { name: 'New schedule' }).first());
await page.getByRole('heading', { level: 1, name: 'New schedule' }).waitFor();

// Every week on Monday and Wednesday at 10:30: the next times are shown while that is chosen.
await falls(['Mon'], '9:00 AM');
const day = (name) => page.getByRole('checkbox', { name, exact: true });
await press(day('Monday'), 'Space');
await main.getByText('Choose a day to see the next times.').waitFor();
await press(day('Wednesday'), 'Space');
await falls(['Wed'], '9:00 AM');
await keys('Shift+Tab', 'Shift+Tab', 'Space');
await falls(['Mon', 'Wed'], '9:00 AM');
const time = page.getByLabel('Time of day');
await time.press('Shift+Tab');
await tab(time);
await page.keyboard.type('1030AM');
assert.equal(await time.inputValue(), '10:30');
await falls(['Mon', 'Wed'], '10:30 AM');
await until('the sentence is said', async () => (await main.getByRole('status').allTextContents()).some((s) => s.replace(/\s/g, ' ') === 'Every Monday and Wednesday at 10:30 AM'));

// In another zone the person's own time stands beside it.
const zone = page.getByRole('combobox', { name: 'Time zone' });
await named(zone, 'America/New_York');
await next.getByText('Your time').first().waitFor();
await named(zone, 'Europe/Berlin');
await next.getByText('Your time').first().waitFor({ state: 'detached' });
await pick(page.getByRole('combobox', { name: 'Working days' }), 'Office');
await pick(page.getByRole('combobox', { name: 'On a non-working day' }), 'Skip it');
await falls(['Mon', 'Wed'], '10:30 AM');

// A cron expression is for those who want one. It begins with what was chosen, and its fault stands below it.
await press(main.getByText('Advanced', { exact: true }), 'Enter');
const byCron = page.getByRole('checkbox', { name: 'Write a cron expression' });
await press(byCron, 'Space');
const cron = page.getByRole('textbox', { name: 'Cron expression' });
assert.equal(await cron.inputValue(), '30 10 * * 1,3');
await cron.focus();
await write(cron, '30 10 * *');
await page.locator('input[aria-invalid=true]').waitFor();
await main.getByText('Correct what is marked to see the next times.').waitFor();
await b.sound('schedule-cron');
await write(cron, '0 8 * * 1-5');
await falls(['Mon', 'Tue', 'Wed', 'Thu', 'Fri'], '8:00 AM');
await press(byCron, 'Space');
for (const d of ['Tuesday', 'Thursday', 'Friday']) {
  await day(d).focus();
  await keys('Space');
}
await falls(['Mon', 'Wed'], '8:00 AM');

// What is missing is said where it is missing.
const create = main.getByRole('button', { name: 'Create', exact: true });
await press(create);
const offering = page.getByRole('combobox', { name: 'Service and offering' });
await focused(offering);
await main.getByText('Choose an offering.').waitFor();
await b.sound('schedule-missing');
const wanted = await until('the offerings are there', () => offering.evaluate((e, id) => [...e.options].find((o) => o.value === id)?.text, demo.offeringId));
await pick(offering, wanted);
await write(page.getByRole('textbox', { name: 'Title' }), 'Check the backups');
await pick(page.getByRole('combobox', { name: 'Model' }), '14 inch');
await main.getByText(/^Every Monday and Wednesday at 8:00\sAM, “Check the backups” is submitted for .+\.$/).waitFor();
await b.sound('schedule-new');
await press(create);

// It is there, by the name of its request, and has its next times. Run once, it leads to the request.
await page.getByRole('heading', { level: 1, name: 'Check the backups' }).waitFor();
await falls(['Mon', 'Wed'], '8:00 AM');
await says('It has not run yet.');
const address = new URL(page.url()).pathname.replace('/app/', '');
await press(main.getByRole('button', { name: 'Run now' }));
const now = page.getByRole('dialog', { name: 'Run “Check the backups” now?' });
await now.getByText('The request is a real one').waitFor();
await b.sound('schedule-run-now');
await press(now.getByRole('button', { name: 'Submit the request' }));
await main.getByText('The request was submitted.').waitFor();
const runs = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Last runs' }) });
await runs.getByText('Done', { exact: true }).waitFor();
await b.sound('schedule');
await page.emulateMedia({ colorScheme: 'dark' });
await b.sound('schedule-dark', { dark: true });
await page.emulateMedia({ colorScheme: 'light' });
await press(runs.getByRole('link', { name: 'Open the request' }));
await page.waitForURL(/\/requests\/req_/);
await page.getByRole('textbox', { name: 'Comment' }).waitFor(); // its title is that of the schedule
await page.getByRole('heading', { level: 1, name: 'Check the backups' }).waitFor();
assert.deepEqual((await rest('GET', `/requests/${page.url().split('/').at(-1)}`)).fields, { model: '14 inch' });

// Paused it has no next run. It can be taken back, changed, and goes on.
await b.go(address, 'Check the backups');
await press(main.getByRole('button', { name: 'Pause', exact: true }));
await page.getByRole('status').getByText('It is paused.').waitFor();
await main.getByText('nothing runs until somebody resumes it').waitFor();
await press(main.getByRole('button', { name: 'Resume', exact: true }));
await falls(['Mon', 'Wed'], '8:00 AM');
await press(main.getByRole('link', { name: 'Edit', exact: true }));
await page.getByRole('heading', { level: 1, name: 'Edit “Check the backups”' }).waitFor();
assert.equal(await page.getByRole('combobox', { name: 'Model' }).inputValue(), '14 inch');
await press(day('Wednesday'), 'Space');
await write(page.getByRole('textbox', { name: 'Name' }), 'Backups');
await press(main.getByRole('button', { name: 'Save', exact: true }));
await page.getByRole('heading', { level: 1, name: 'Backups', exact: true }).waitFor();
await falls(['Mon'], '8:00 AM');

// The page of a workflow lists the schedules that start it, and leads to a new one.
await b.go(`workflows/${flow.id}?view=used`, 'Access review');
await says('No schedule starts it.');
await press(main.getByRole('link', { name: 'New schedule' }));
await page.getByRole('heading', { level: 1, name: 'New schedule' }).waitFor();
await pick(page.getByRole('combobox', { name: 'Repeats' }), 'Every month');
await until('the workflow is chosen', () => page.getByRole('combobox', { name: 'Workflow' }).evaluate((e) => e.selectedOptions[0].textContent === 'Access review'));
await press(create);
await page.getByRole('heading', { level: 1, name: 'Access review' }).waitFor();
await press(main.getByRole('button', { name: 'Run now' }));
await press(page.getByRole('dialog').getByRole('button', { name: 'Start the workflow' }));
await main.getByText('The workflow was started.').waitFor();
await press(main.getByRole('link', { name: 'Open the execution' }).first());
await page.waitForURL(/\/executions\/exe_/);
await b.go(`workflows/${flow.id}?view=used`, 'Access review');
await main.getByText(/^Every month on day 1 at 9:00\sAM$/).waitFor();
await b.sound('schedules-of-workflow');

// The list says what runs when, and what came of it.
await b.go('schedules', 'Schedules');
const row = main.getByRole('row').filter({ has: page.getByRole('link', { name: 'Backups' }) });
await row.getByText('Done', { exact: true }).waitFor();
assert.match((await row.textContent()).replace(/\s/g, ' '), /Submits “Check the backups” for .+Every Monday at 8:00 AM.*Mon, .+8:00 AM · in /);
await b.sound('schedules');

// In German, on a phone.
await b.context.addInitScript(() => { Object.defineProperty(navigator, 'languages', { configurable: true, get: () => ['de'] }); });
await page.setViewportSize({ width: 390, height: 800 });
await b.load('schedules', 'Zeitpläne');
await main.getByText('Jeden Montag um 08:00 Uhr').waitFor();
await b.sound('schedules-german');
await b.load(address, 'Backups');
await page.getByRole('list', { name: 'Die nächsten 10 Termine' }).waitFor();
await b.sound('schedule-german');
await b.load(`${address}/edit`, '„Backups“ bearbeiten');
await page.getByRole('checkbox', { name: 'Montag', checked: true }).waitFor();
await page.getByRole('list', { name: 'Die nächsten 10 Termine' }).waitFor();
await b.sound('schedule-edit-german');

// It is deleted; the request that it submitted stays.
await b.load(address, 'Backups');
await press(main.getByRole('button', { name: 'Löschen', exact: true }));
await page.getByRole('dialog').getByRole('button', { name: 'Löschen', exact: true }).press('Enter');
await page.getByRole('heading', { level: 1, name: 'Zeitpläne' }).waitFor();
await until('it is gone', async () => await main.getByRole('link', { name: 'Backups' }).count() === 0);
await b.end();
console.log('console-schedules: ok');
