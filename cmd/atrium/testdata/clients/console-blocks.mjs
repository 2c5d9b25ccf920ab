// An owner builds a workflow with two branches in parallel with the keyboard alone, tries and publishes it, files a request that stands in
// both branches at once, and completes the tasks of both.
import assert from 'node:assert/strict';
import { arrive, building, keyboard, rest, until } from './console-browser.mjs';

const { owner, demo } = JSON.parse(process.env.ATRIUM_TEST);
const b = await arrive(owner, 'workflows');
const { page } = b;
const { keys } = keyboard(page);
const { make, at, command } = building(page);
const side = page.getByRole('region', { name: 'Selected phase' });
const focused = (id) => at(id).and(page.locator(':focus')).waitFor();
// write writes into a field of the form, and says that it is done.
const write = async (name, text) => {
  const field = side.getByRole('textbox', { name, exact: true });
  await field.focus();
  await keys('Control+a');
  await page.keyboard.type(text);
  await keys('Enter');
};
const branch = (name) => page.locator('.outline').getByRole('heading', { name, exact: true });

const id = await make('Prepared by keys');

// A block comes with two branches and its end. The arrows go through its branches, and each is a heading with its phases below.
await at('start').focus();
await command('In parallel');
await focused('parallel');
await branch('Branch 1, 1 phase').waitFor();
for (const next of ['task', 'task_2', 'together', 'work']) {
  await keys('ArrowDown');
  await focused(next);
}
await keys('Delete'); // the workflow goes on behind the block
await at('work').waitFor({ state: 'detached' });
await at('parallel').focus();
await keys('Enter');
await side.waitFor();
await write('Name', 'Prepare');
await write('Name of branch 1', 'Laptop');
await write('Name of branch 2', 'Laptop');
await side.getByText('Another branch has this name.').waitFor();
await write('Name of branch 2', 'Access');
await keys('Escape');
await focused('parallel');
for (const [task, name] of [['task', 'Order the laptop'], ['task_2', 'Open the accounts']]) {
  await at(task).press('Enter');
  await side.waitFor();
  await write('Name', name);
  await keys('Escape');
  await focused(task);
}
await branch('Branch Access, 1 phase').waitFor();
await b.sound('blocks-built');

// What is done at a phase of a branch stays in it; the block is removed, copied and brought back as one, and its end not without it.
await at('task').focus();
await command('Task');
await branch('Branch Laptop, 2 phases').waitFor();
await keys('Control+z');
await branch('Branch Laptop, 1 phase').waitFor();
await at('parallel').focus();
await command('Add branch');
await branch('Branch 3, 1 phase').waitFor();
await at('parallel').focus();
await command('Remove the branch “Branch 3”');
await branch('Branch 3, 1 phase').waitFor({ state: 'detached' });
await at('together').focus();
await keys('Delete');
await page.getByText('“Together again” is the end of “Prepare” and goes with it.').waitFor({ state: 'attached' });
await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
await keys('Control+c', 'Control+v');
await at('parallel_2').waitFor();
assert.equal(await branch('Branch Laptop, 1 phase').count(), 2);
await keys('Control+z');
await at('parallel_2').waitFor({ state: 'detached' });
await at('parallel').focus();
await keys('Delete');
await at('task_2').waitFor({ state: 'detached' });
await keys('Control+z');
await at('task_2').waitFor();

// A trial stops in both branches, and goes on once both have an answer.
const panel = page.getByRole('region', { name: 'Try' });
await page.getByRole('button', { name: 'Try', exact: true }).press('Enter');
await panel.getByText('It stops at “Order the laptop”, “Open the accounts” until there are answers.').waitFor();
await until('both tasks wait in the picture', async () => await page.locator('.picture .box.waiting').count() >= 2);
await panel.getByText('Laptop', { exact: true }).first().waitFor();
await b.sound('blocks-tried');
await panel.getByRole('form', { name: 'Answer of “Open the accounts”' }).getByRole('button', { name: 'Done' }).press('Enter');
await panel.getByText('It stops at “Order the laptop” until it has an answer.').waitFor();
await panel.getByRole('form', { name: 'Answer of “Order the laptop”' }).getByRole('button', { name: 'Done' }).press('Enter');
await panel.getByText('It runs to its end.').waitFor();
await panel.getByRole('button', { name: 'Close' }).press('Enter');

await page.getByRole('button', { name: 'Save draft' }).press('Enter');
await page.getByText('The draft was saved.').waitFor();
await page.getByRole('button', { name: 'Publish' }).press('Enter');
await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).press('Enter');
await page.getByText('Version 1 is published.').waitFor();
const { definition } = await rest('GET', `/workflows/${id}`);
const end = definition.phases.find((p) => p.type === 'END').id;
assert.deepEqual(definition.phases.filter((p) => ['PARALLEL', 'JOIN'].includes(p.type)), [
  { id: 'parallel', type: 'PARALLEL', name: 'Prepare', join: 'all', onFault: 'wait', branches: [{ name: 'Laptop', start: 'task' }, { name: 'Access', start: 'task_2' }], end: 'together' },
  { id: 'together', type: 'JOIN', name: 'Together again', next: end },
]);

// A request stands in both branches at once, on its own page and on that of its execution.
const offering = await rest('POST', `/services/${demo.serviceId}/offerings`, { name: 'Somebody new', workflowId: id });
const request = await rest('POST', '/requests', { serviceId: demo.serviceId, offeringId: offering.id, title: 'Ana begins in May' });
const tasks = async () => (await rest('GET', '/tasks?pageSize=100')).filter((x) => x.requestId === request.id);
await until('both tasks are there', async () => (await tasks()).length === 2);
await b.go(`requests/${request.id}`, request.title);
const phases = page.getByRole('list', { name: 'Phases of the workflow' });
const current = phases.locator('[aria-current=step]');
await current.filter({ hasText: 'Laptop' }).getByText('Order the laptop').waitFor();
await current.filter({ hasText: 'Access' }).getByText('Open the accounts').waitFor();
await b.sound('blocks-request');
const [{ id: execution }] = (await rest('GET', '/executions')).filter((e) => e.requestId === request.id);
await b.go(`executions/${execution}`, /Ana begins in May/);
await page.getByText('at Order the laptop, Open the accounts').waitFor();
await until('both tasks wait in the picture', async () => await page.locator('.picture .box.waiting').count() >= 2);
await page.getByRole('list', { name: 'Path taken' }).getByRole('listitem').filter({ hasText: 'Open the accounts' }).getByText('Access', { exact: true }).waitFor();
await b.sound('blocks-execution');

// Once both are done it goes on.
await b.go(`requests/${request.id}`, request.title);
for (const name of ['Open the accounts', 'Order the laptop']) {
  const job = page.getByRole('article', { name: `Task: ${name}` });
  await job.getByRole('button', { name: 'Mark as done' }).press('Enter');
  await job.waitFor({ state: 'detached' });
}
await until('the workflow is at its end', async () => (await rest('GET', `/executions/${execution}`)).status === 'COMPLETED');
assert.equal((await rest('GET', `/requests/${request.id}`)).status, 'COMPLETED');
await until('nothing is current any more', async () => await current.count() === 0);
await b.end();
console.log('console-blocks: ok');
