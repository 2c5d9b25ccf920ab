// An owner tries a workflow in the console with the keyboard alone, before it is published: it stops at what nobody has answered, goes on
// with each answer, another answer shows the other way, and what is wrong leads to its phase. Nothing comes of it.
import assert from 'node:assert/strict';
import { arrive, file, keyboard, rest, until } from './console-browser.mjs';

const { owner } = JSON.parse(process.env.ATRIUM_TEST);
const b = await arrive(owner, 'workflows');
const { page } = b;
const { keys } = keyboard(page);
const me = (await rest('GET', '/users')).find((u) => u.email === owner.email);
const past = await file('A laptop of the past');
const flow = await rest('POST', '/workflows', { name: 'Tried by keys', definition: {
  phases: [
    { id: 'start', type: 'START' },
    { id: 'dear', type: 'DECISION', name: 'Dear?', config: { rules: [{ when: 'has(request.fields.amount) && request.fields.amount > 100.0', transition: 'board' }], default: 'cheap' } },
    { id: 'board', type: 'APPROVAL', name: 'Board', config: { approvers: [{ type: 'user', id: me.id }], mode: 'any', deadline: '2d' } },
    { id: 'buy', type: 'API_CALL', name: 'Buy', config: { method: 'POST', url: 'https://shop.example/orders', body: { title: '${request.title}' } } },
    { id: 'work', type: 'PROCESS', name: 'Unpack', participants: [{ role: 'responsible', type: 'user', id: me.id }], config: { form: { fields: [{ key: 'note', label: 'Note', type: 'text', required: true }] } } },
    { id: 'end', type: 'END', name: 'Done', requestAction: 'complete' },
  ],
  transitions: [
    { from: 'start', name: 'next', to: 'dear' }, { from: 'dear', name: 'board', to: 'board' }, { from: 'dear', name: 'cheap', to: 'work' }, { from: 'board', name: 'approved', to: 'buy' }, { from: 'board', name: 'rejected', to: 'end' },
    { from: 'board', name: 'expired', to: 'end' }, { from: 'buy', name: 'next', to: 'work' }, { from: 'work', name: 'next', to: 'end' }, { from: 'work', name: 'Send back', to: 'end' },
  ],
} });
const before = (await rest('GET', '/executions')).length;
await page.goto(new URL(`/app/workflows/${flow.id}`, page.url()).href);

// Without any answers it takes the default way, and asks for the task where that stands.
const panel = page.getByRole('region', { name: 'Try' });
const steps = panel.getByRole('list', { name: 'Steps' });
const now = (name) => panel.getByRole('button', { name, exact: true }).and(page.locator(':focus')).waitFor(); // the focus is there
const ends = (says) => panel.getByRole('status').getByText(says).waitFor();
await page.getByRole('button', { name: 'Try', exact: true }).press('Enter');
await panel.getByRole('heading', { name: 'Try' }).and(page.locator(':focus')).waitFor();
await ends('It stops at “Unpack” until it has an answer.');
await steps.getByText('because none of the conditions is true.').waitFor();
await steps.getByText(/^Asks .+ to do “.+”\.$/).waitFor();
await page.locator('.picture .box.waiting').waitFor();
await page.locator('[data-phase=work][aria-current=true]').waitFor();
await b.sound('try-task');

// A sample with a dear answer goes to the board, which is asked right there; then the call, and the task's form.
await panel.getByText('Answers of the sample').press('Enter');
await panel.getByRole('button', { name: 'Add an answer' }).press('Enter');
await panel.getByRole('textbox', { name: 'Name in expressions' }).and(page.locator(':focus')).waitFor();
await page.keyboard.type('amount');
await keys('Tab');
await panel.getByRole('textbox', { name: 'Value' }).and(page.locator(':focus')).waitFor();
await page.keyboard.type('500.5');
await keys('Enter');
await ends('It stops at “Board” until it has an answer.');
await steps.getByText(/because this is true: /).waitFor();
await steps.getByText('The decision expires after 2 days.').waitFor();
await steps.getByRole('button', { name: 'Approve', exact: true }).press('Enter');
await ends('It stops at “Buy” until it has an answer.');
await panel.getByRole('textbox', { name: 'Status code' }).and(page.locator(':focus')).waitFor();
await steps.getByText('Would send POST https://shop.example/orders').waitFor();
await panel.getByRole('textbox', { name: 'Body' }).fill('{"id": "o1"}');
await panel.getByRole('button', { name: 'Use this answer' }).press('Enter');
await ends('It stops at “Unpack” until it has an answer.');
await panel.getByRole('textbox', { name: 'Note' }).and(page.locator(':focus')).waitFor();
await panel.getByRole('button', { name: 'Done', exact: true }).last().press('Enter'); // the form is not filled in
await panel.getByRole('alert').getByText('These answers do not fit:').waitFor();
await panel.getByRole('textbox', { name: 'Note' }).fill('Unpacked');
await panel.getByRole('form', { name: 'Answer of “Unpack”' }).getByRole('button', { name: 'Done' }).press('Enter');
await ends('It runs to its end.');
await panel.locator('.try-end:focus').waitFor();
await until('six phases are completed', async () => await page.locator('.picture .box.completed').count() === 6);
await b.sound('try-end');

// Another decision shows the other way, and a call that fails stops it.
await panel.getByRole('button', { name: 'Change answer: Board' }).press('Enter');
await panel.getByRole('form', { name: 'Answer of “Board”' }).getByRole('button', { name: 'Reject' }).press('Enter');
await ends('It runs to its end.');
await until('four steps are left', async () => await steps.getByRole('listitem').count() === 4); // both answers end alike
await panel.getByRole('button', { name: 'Change answer: Board' }).press('Enter');
await panel.getByRole('form', { name: 'Answer of “Board”' }).getByRole('button', { name: 'Approve' }).press('Enter');
await ends('It runs to its end.'); // the other answers are there still
await panel.getByRole('button', { name: 'Change answer: Buy' }).press('Enter');
await panel.getByRole('button', { name: 'Let the call fail' }).press('Enter');
await ends('Somebody would have to look at “Buy” before it continues.');

// A past request is found by its words.
await panel.getByLabel('Try with').selectOption({ label: 'A past request…' });
await panel.getByLabel('Find a request').fill('laptop of the past');
await panel.getByRole('button', { name: past.title }).press('Enter');
await now('Another request');
await ends('It runs to its end.');
await panel.getByRole('button', { name: 'Without my answers' }).press('Enter');
await ends('It stops at “Unpack” until it has an answer.');
await panel.getByRole('textbox', { name: 'Note' }).and(page.locator(':focus')).waitFor();

// Escape leads back. What is changed meanwhile is said to be, and is tried once somebody asks for it; what is wrong leads to its phase.
await keys('Escape');
await panel.waitFor({ state: 'detached' });
await page.getByRole('button', { name: 'Try', exact: true }).and(page.locator(':focus')).waitFor();
await page.locator('[data-phase=buy]').press('Enter');
const side = page.getByRole('region', { name: 'Selected phase' });
await side.getByRole('textbox', { name: 'Name', exact: true }).first().fill('Order');
await page.getByRole('link', { name: 'JSON' }).press('Enter');
const json = page.getByLabel('Definition');
await json.fill((await json.inputValue()).replace('> 100.0', '> nothing'));
await page.getByRole('link', { name: 'Builder' }).press('Enter');
await page.getByRole('button', { name: 'Try', exact: true }).press('Enter');
await panel.getByText('Fix this to try the workflow:').waitFor();
await b.sound('try-faulty');
await panel.getByRole('alert').getByRole('button', { name: /^Dear\?: / }).press('Enter');
await side.getByRole('heading', { name: 'Dear?' }).waitFor();
await page.getByRole('button', { name: 'Discard' }).press('Enter');
await page.getByRole('button', { name: 'Try', exact: true }).press('Enter');
await ends('It stops at “Unpack” until it has an answer.');
await page.locator('[data-phase=board]').press('Delete');
await panel.getByText('The workflow was changed since.').waitFor();
await keys('Control+z');
await panel.getByText('The workflow was changed since.').waitFor({ state: 'detached' });
await page.locator('[data-phase=work]').press('Delete');
await panel.getByRole('button', { name: 'Try again' }).press('Enter');
await ends('It runs to its end.');
await page.getByRole('button', { name: 'Undo' }).press('Enter');
await panel.getByText('The workflow was changed since.').waitFor();
await panel.getByRole('button', { name: 'Try again' }).press('Enter');
await ends('It stops at “Unpack” until it has an answer.');

// In a narrow window it is a sheet, which gives the focus back.
await panel.getByRole('button', { name: 'Close' }).press('Enter');
await page.setViewportSize({ width: 390, height: 800 });
await page.getByRole('button', { name: 'Try', exact: true }).press('Enter');
const sheet = page.getByRole('dialog', { name: 'Try' });
await sheet.getByText('It stops at “Unpack” until it has an answer.').waitFor();
await b.sound('try-sheet');
await keys('Escape');
await sheet.waitFor({ state: 'detached' });
await page.getByRole('button', { name: 'Try', exact: true }).and(page.locator(':focus')).waitFor();
assert.equal((await rest('GET', '/executions')).length, before);
await b.end();
console.log('console-try: ok');
