// An owner brings 1,000 requests of another system in with the keyboard alone: sees what the columns are, says what is not known, leaves
// three rows out and comes to the list of the others. A file of many rows goes in parts; what was begun is found again.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arrive, keyboard, rest, until } from './console-browser.mjs';

const { demo, owner } = JSON.parse(process.env.ATRIUM_TEST);
const head = 'Issue key;Subject line;Status;Priority;Reporter;Created;Model;Notes\r\n';
const row = (n, more = {}) => {
  const r = { title: `Old request ${n}`, status: n % 2 ? 'Done' : 'Waiting for customer', by: owner.email, at: '2026-03-02 09:30', ...more };
  return `OLD-${n};${r.title};${r.status};${n % 3 ? 'High' : 'P9'};${r.by};${r.at};13 inch;"Two lines,\r\nwith a ""quote"""\r\n`;
};
const odd = { 7: { title: '' }, 500: { at: 'last week' }, 990: { by: 'nobody@elsewhere.example' } };
const named = (name, content) => {
  const path = join(tmpdir(), `atrium-import-${process.pid}-${name}`);
  return writeFile(path, content).then(() => path);
};
const thousand = await named('old.csv', head + Array.from({ length: 1000 }, (_x, i) => row(i + 1, odd[i + 1])).join(''));

const b = await arrive(owner, 'requests');
const { page } = b;
const { keys, focused, tab, pick } = keyboard(page);
let next;
page.on('filechooser', (chooser) => { void chooser.setFiles(next); }); // heard all the time: the browser has to know before it is pressed
const choose = async (button, path) => {
  next = path;
  await tab(button);
  await keys('Enter');
};
const cell = (heading) => page.getByRole('combobox', { name: heading, exact: true });

// The list leads to the page, which says what it will do.
await tab(page.getByRole('link', { name: 'Import', exact: true }));
await keys('Enter');
await page.getByRole('heading', { level: 1, name: 'Import requests' }).waitFor();
await page.getByText('There are none.').waitFor();
await b.sound('import-empty');

// What is no CSV file is said to be none, and the next one can be chosen at once.
const file = page.getByRole('button', { name: 'Choose a CSV file' });
await choose(file, await named('sheet.xlsx', 'PK\u0003\u0004'));
await page.getByText('This is a spreadsheet or an archive').waitFor();
await choose(file, thousand);
await page.getByText('1,000 rows · 8 columns · separated by semicolons').waitFor();
assert.deepEqual(await Promise.all(['Issue key', 'Subject line', 'Status', 'Created', 'Notes'].map((h) => cell(h).inputValue())), ['key', '', 'status', 'createdAt', '']);
await page.getByRole('cell', { name: 'OLD-1 · OLD-2 · OLD-3' }).waitFor();
await b.sound('import-columns');

// What is missing is said where it is missing, and is reached at once.
const check = page.getByRole('button', { name: 'Check 1,000 rows' });
await tab(check);
await keys('Enter');
await page.getByText('Choose which column is the title.').waitFor();
await focused(page.locator('[aria-invalid=true]').first());
await b.sound('import-missing');
await pick(cell('Subject line'), 'Title');
await pick(cell('Notes'), 'Description');
await pick(page.getByRole('combobox', { name: '“Waiting for customer”' }), 'In progress');
await pick(page.getByRole('combobox', { name: '“P9”' }), 'Low');
const offering = page.getByRole('combobox', { name: 'Service and offering' });
const wanted = await until('the offerings are there', () => offering.evaluate((e, id) => [...e.options].find((o) => o.value === id)?.text, demo.offeringId));
await pick(offering, wanted);
await until('the form knows the model', async () => (await cell('Model').inputValue()).startsWith('fields.'));
await page.emulateMedia({ colorScheme: 'dark' });
await b.sound('import-said-dark', { dark: true });
await page.emulateMedia({ colorScheme: 'light' });

// The check finds three rows, each with its number, its column, and what stands there.
await tab(check);
await keys('Enter');
const start = page.getByRole('button', { name: 'Import 997 rows' });
await focused(start);
await page.getByText('3 rows cannot be imported.').waitFor();
const faults = page.getByRole('region', { name: 'What is wrong' }).getByRole('row');
assert.deepEqual(await faults.locator('td:first-child').allTextContents(), ['8', '501', '991']);
assert.deepEqual(await faults.locator('td:nth-child(2)').allTextContents(), ['Subject line', 'Created', 'Reporter']);
assert.deepEqual(await faults.locator('td:nth-child(3)').allTextContents(), ['Empty', 'last week', 'nobody@elsewhere.example']);
await b.sound('import-checked');
await page.setViewportSize({ width: 390, height: 800 });
await b.sound('import-narrow');
await page.setViewportSize({ width: 1280, height: 860 });

// The check is at its address: whoever loads the page anew goes on from it.
await page.reload();
await start.waitFor();
await page.getByText('The file was sent and checked.').waitFor();
await b.sound('import-again');
await tab(start);
await keys('Enter');
await page.getByText('997 requests were imported.').waitFor({ timeout: 120_000 });
await page.getByText('3 rows were left out.').waitFor();
await b.sound('import-complete');
const shows = page.getByRole('link', { name: 'Show the imported requests' });
await tab(shows);
await keys('Enter');
await page.waitForURL(/\/requests\?tag\.import\.source=jira$/);
await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
await page.getByText('50 of 997').waitFor();
const { title, status, priority, description, fields } = (await rest('GET', '/requests?tag.import.id=OLD-6'))[0];
assert.deepEqual({ title, status, priority, description, fields }, { title: 'Old request 6', status: 'IN_PROGRESS', priority: 'LOW', description: 'Two lines,\nwith a "quote"', fields: { model: '13 inch' } });

// The same file once more finds its rows again. It can be discarded, and the import before it is in the list.
await b.go('requests/import', 'Import requests');
await page.getByRole('link', { name: '997 requests' }).waitFor();
await choose(file, await named('new.csv', `${head.replace('Subject line', 'Summary')}${row(1)}${row(2)}${row(1001)}OLD;a;b;c;d;e;f;g;too many\r\n`));
await pick(offering, wanted);
await tab(page.getByRole('button', { name: 'Check 4 rows' }));
await keys('Enter');
await focused(page.getByRole('button', { name: 'Import 1 row' }));
await page.getByText('1 row was imported before').waitFor();
await page.getByText('2 rows cannot be imported.').waitFor();
await page.getByText('The row has more cells than there are headings.').waitFor();
await tab(page.getByRole('button', { name: 'Discard' }));
await keys('Enter');
await focused(file);
await page.getByRole('link', { name: '997 requests' }).press('Enter');
await page.getByText('997 requests were imported.').waitFor();
await tab(page.getByRole('button', { name: 'Import another file' }));
await keys('Enter');

// 12,000 rows in Windows-1252 go in three parts, and are one import for whoever looks: it runs, and is stopped.
const many = `Title\n${Array.from({ length: 12_000 }, (_x, i) => `Größe ${i + 1}\n`).join('')}`;
await choose(file, await named('many.csv', Buffer.from(many, 'latin1')));
await page.getByText('12,000 rows · 1 column · separated by commas · sent in 3 parts').waitFor();
await page.getByText('It was read as Windows-1252').waitFor();
await page.getByText('Größe 1 · Größe 2 · Größe 3').waitFor();
await pick(offering, wanted);
await tab(page.getByRole('button', { name: 'Check 12,000 rows' }));
await keys('Enter');
const all = page.getByRole('button', { name: 'Import 12,000 rows' });
await focused(all);
await keys('Enter');
await page.getByRole('progressbar').waitFor();
await b.sound('import-running');
await page.reload();
await tab(page.getByRole('button', { name: 'Stop' }));
await keys('Enter');
const asks = page.getByRole('dialog', { name: 'Stop the import?' });
await tab(asks.getByRole('button', { name: 'Stop' }));
await keys('Enter');
await page.getByText('The import was stopped.').waitFor();
await b.sound('import-stopped');

// In German, on a phone, with a file that is dropped: words that are longer have their room.
await b.context.addInitScript(() => { Object.defineProperty(navigator, 'languages', { configurable: true, get: () => ['de'] }); });
await page.setViewportSize({ width: 390, height: 800 });
await b.load('requests/import', 'Anfragen importieren');
await page.locator('.file-drop').evaluate((e, text) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], 'alt.csv'));
  for (const type of ['dragover', 'drop']) e.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
}, head + row(2) + row(3));
await page.getByText('2 Zeilen · 8 Spalten · durch Semikolons getrennt').waitFor();
await page.getByRole('button', { name: '2 Zeilen prüfen' }).press('Enter');
await page.getByText('Wählen Sie, welche Spalte der Titel ist.').waitFor();
await b.sound('import-german');
assert.deepEqual(b.faults, []);
await b.end();
console.log('console-import: ok');
