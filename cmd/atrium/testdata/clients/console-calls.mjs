// An owner builds a workflow that calls another one with the keyboard alone, tries and publishes it. A request runs through both, and each
// execution leads to the other.
import assert from 'node:assert/strict';
import { arrive, building, keyboard, rest, until } from './console-browser.mjs';

const { owner, demo } = JSON.parse(process.env.ATRIUM_TEST);
const order = await rest('POST', '/workflows', { name: 'Order by itself', definition: {
  phases: [{ id: 'start', type: 'START' }, { id: 'buy', type: 'PROCESS', name: 'Buy it', config: { title: 'Buy ${input.model}' } }, { id: 'end', type: 'END' }],
  transitions: [{ from: 'start', name: 'next', to: 'buy' }, { from: 'buy', name: 'next', to: 'end' }],
} });
await rest('POST', `/workflows/${order.id}/publish`, {});

const b = await arrive(owner, 'workflows');
const { page } = b;
const { keys, focused, tab, pick } = keyboard(page);
const { make, at, command } = building(page);
const side = page.getByRole('region', { name: 'Selected phase' });
const panel = page.getByRole('region', { name: 'Try' });
const tries = async () => { await page.getByRole('button', { name: 'Try', exact: true }).press('Enter'); };

const id = await make('Calls another one');

// The phase asks which workflow it calls: one that is published, and not itself.
await at('start').focus();
await command('Call a workflow');
await focused(at('called'));
await page.locator('.step:has([data-phase=called])').getByText('Choose the workflow.').waitFor();
await keys('Enter');
await side.waitFor();
const workflow = side.getByLabel('Workflow', { exact: true });
await workflow.getByRole('option', { name: 'Order by itself' }).waitFor({ state: 'attached' });
assert.equal(await workflow.getByRole('option', { name: 'Calls another one' }).count(), 0);
await pick(workflow, 'Order by itself');
await tab(side.getByRole('button', { name: 'Add value' }));
await keys('Enter');
const row = side.getByRole('group', { name: 'Row 1', exact: true });
await focused(row.getByLabel('Name', { exact: true }));
await page.keyboard.type('model');
await tab(row.getByRole('textbox', { name: 'Value', exact: true }));
await page.keyboard.type('a 14 inch laptop');
await at('called').getByText('Order by itself').waitFor();
await b.sound('calls-built');

// Whoever does not wait for it goes on at once, and a trial says so.
await tab(side.getByLabel('Wait until it is done'));
await keys(' ');
await at('called').getByText('does not wait for it').waitFor();
await tries();
await panel.getByText('Would start the workflow “Order by itself”.').waitFor();
await panel.getByText('It stops at “Work” until it has an answer.').waitFor();
await panel.getByRole('button', { name: 'Close' }).press('Enter');
await at('called').press('Enter');
await tab(side.getByLabel('Wait until it is done'));
await keys(' ');

// One that waits takes how the other workflow ends for an answer.
await tries();
await panel.getByRole('button', { name: 'Try again' }).press('Enter');
await panel.getByText('It stops at “Call a workflow” until it has an answer.').waitFor();
const ends = panel.getByRole('form', { name: 'Answer of “Call a workflow”' });
await b.sound('calls-tried');
await ends.getByLabel('What its phases leave').fill('{');
await ends.getByRole('button', { name: 'Let it end' }).press('Enter');
await ends.getByText('This is not valid JSON yet.').waitFor();
await ends.getByLabel('What its phases leave').fill('{"buy": {"outcome": "next"}}');
await ends.getByRole('button', { name: 'Let it end' }).press('Enter');
await panel.getByText('It stops at “Work” until it has an answer.').waitFor();
await panel.getByText('It runs to its end.').waitFor();
await panel.getByRole('button', { name: 'Close' }).press('Enter');
await page.getByRole('button', { name: 'Save draft' }).press('Enter');
await page.getByText('The draft was saved.').waitFor();
await page.getByRole('button', { name: 'Publish' }).press('Enter');
await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).press('Enter');
await page.getByText('Version 1 is published.').waitFor();
// There is nothing to publish where the draft is what was published, and again as soon as it differs.
const publish = page.getByRole('button', { name: 'Publish', exact: true });
await publish.and(page.locator('[title="The draft is the same as version 1"]:disabled')).waitFor();
await rest('PATCH', `/workflows/${id}`, { description: 'It calls another one.' });
await page.reload();
await publish.and(page.locator('[title="The draft is the same as version 1"]:disabled')).waitFor();
const { definition } = await rest('GET', `/workflows/${id}`);
assert.deepEqual(definition.phases.find((p) => p.id === 'called').config, { workflowId: order.id, wait: true, input: { model: 'a 14 inch laptop' } });

await rest('PATCH', `/workflows/${id}`, { definition: { ...definition, phases: definition.phases.map((p) => (p.id === 'called' ? { ...p, name: 'Order it' } : p)) } });
await page.reload();
await publish.and(page.locator(':enabled')).waitFor();
await rest('PATCH', `/workflows/${id}`, { definition });

// What the called workflow is given can be written for a trial of it.
await b.go(`workflows/${order.id}`, 'Order by itself');
await tries();
await panel.getByText('Given by the calling workflow').press('Enter');
assert.equal(await panel.getByLabel('Name in expressions').inputValue(), 'model');
await panel.getByLabel('Value', { exact: true }).fill('a telephone');
await panel.getByRole('button', { name: 'Try again' }).press('Enter');
await panel.getByText('Buy a telephone').first().waitFor();
await b.sound('calls-input');

// A request runs through both. The page of each execution leads to the other one.
const offering = await rest('POST', `/services/${demo.serviceId}/offerings`, { name: 'A laptop by way of another', workflowId: id });
const request = await rest('POST', '/requests', { serviceId: demo.serviceId, offeringId: offering.id, title: 'A laptop for Ben' });
const tasks = async () => (await rest('GET', '/tasks?pageSize=100')).filter((x) => x.requestId === request.id && x.status === 'OPEN');
await until('the called workflow has a task', async () => (await tasks()).some((x) => x.title === 'Buy a 14 inch laptop'));
const [caller] = (await rest('GET', '/executions?pageSize=100')).filter((e) => e.requestId === request.id && e.parentId === null);
await b.go(`executions/${caller.id}`, /A laptop for Ben/);
const list = page.getByRole('list', { name: 'Called workflows' });
await list.getByText('Waiting', { exact: true }).waitFor();
await b.sound('calls-caller');
await tab(list.getByRole('link', { name: 'Order by itself' }));
await keys('Enter');
await page.getByRole('link', { name: 'Calls another one', exact: true }).waitFor();
await b.sound('calls-called');
assert.equal(await page.getByText('Called workflows').count(), 0, 'it calls none itself');
await tab(page.getByRole('link', { name: 'Calls another one', exact: true }));
await keys('Enter');
await list.waitFor();
const [task] = await tasks();
await rest('POST', `/tasks/${task.id}/complete`, {});
await list.getByText('Completed', { exact: true }).waitFor();
// The called workflow says who calls it.
await b.go(`workflows/${order.id}?view=used`, 'Order by itself');
const used = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Used by', exact: true }) });
await used.getByRole('listitem').filter({ hasText: 'Calls another one' }).getByText('Calls it', { exact: true }).waitFor();
await b.sound('calls-used');
await until('the caller has gone on', async () => (await tasks()).some((x) => x.title === 'Work on A laptop for Ben'));
await b.end();
console.log('console-calls: ok');
