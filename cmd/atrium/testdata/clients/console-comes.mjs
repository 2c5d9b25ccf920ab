// How the console's pages come and go: the inbox asks once before its rows, a dialog does not wait for those of its page, what was said
// ends with its page, a second sign-in leads back into the dialog that asked for it, a notice leads to what it is about, executions are found
// and go on, and charts can be read.
import assert from 'node:assert/strict';
import { arrive, rest, until } from './console-browser.mjs';

const { api, owner, demo } = JSON.parse(process.env.ATRIUM_TEST);
const b = await arrive(owner, 'catalogue');
const { page } = b;

// The first row of the inbox comes after one answer: nothing that it needs is asked once another answer is there. Each answer is held
// until all that the page asks at once was asked.
{
  await page.goto('about:blank'); // so that nothing else is under way
  const rounds = []; // what was asked, by how many answers had come before
  let answers = 0;
  await page.route('**/graphql', async (route) => {
    if (route.request().headers().accept?.includes('event-stream')) return route.continue();
    (rounds[answers] ??= []).push(route.request().postDataJSON().operationName);
    const answer = await route.fetch();
    await new Promise((done) => { setTimeout(done, 400); });
    answers = 1;
    return route.fulfill({ response: answer }).catch(() => undefined); // the page was left
  });
  await page.goto(`${api}/app/inbox`);
  await page.locator('tbody a.name').first().waitFor();
  await page.unroute('**/graphql', { behavior: 'ignoreErrors' });
  const [first] = rounds;
  for (const needed of ['ViewerOf', 'Requests', 'WaitingProposals']) assert.equal(first.filter((n) => n === needed).length, 1, `${needed} is asked at once: ${JSON.stringify(rounds)}`);
}

// A dialog that is opened before the rows of its page have come is seen, and its first field has the focus.
{
  let rowsMay;
  const held = new Promise((done) => { rowsMay = done; });
  await page.route('**/graphql', async (route) => {
    if (route.request().postDataJSON()?.operationName === 'Workflows') await held;
    return route.fallback().catch(() => undefined);
  });
  await page.goto(`${api}/app/workflows`);
  await page.getByRole('button', { name: 'New workflow' }).press('Enter');
  await page.getByRole('dialog').getByLabel('Name').and(page.locator(':focus')).waitFor();
  assert.equal(await page.locator('main .skeleton').count(), 1, 'no row has come');
  rowsMay();
  await page.getByRole('dialog').press('Escape');
  await page.unroute('**/graphql', { behavior: 'ignoreErrors' });
}

// What was said ends with its page, but not what leaving the page has said.
const [request] = await rest('GET', '/requests?status=PENDING');
const nav = page.getByRole('navigation', { name: 'Main' });
await b.go(`requests/${request.id}`, request.title);
await page.getByRole('button', { name: 'Copy as curl' }).click();
await page.locator('.toast').getByText(/The curl line|Copy this line/).waitFor();
await nav.getByRole('link', { name: 'Catalogue' }).click();
await page.getByRole('heading', { level: 1, name: 'Catalogue' }).waitFor();
assert.equal(await page.locator('.toast').count(), 0, 'what was said on the page before');
await b.go(`catalogue/${demo.offeringId}`, 'New laptop');
await page.getByLabel('Title').fill('Filed to be told of');
await page.getByLabel('Model').selectOption('14 inch');
await page.getByRole('button', { name: 'Submit request', exact: true }).click();
await page.getByRole('heading', { level: 1, name: 'Filed to be told of' }).waitFor();
await page.locator('.toast').getByText(/submitted/i).waitFor();

// After a second sign-in the dialog is open again, with what was written in it; a question without a form as well.
const prove = async () => {
  await page.getByRole('dialog', { name: 'Confirm it is you' }).getByRole('button', { name: 'Sign in again' }).click();
  await page.getByLabel('Password').fill(owner.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('What you have written is kept.').waitFor();
};
await page.route('**/graphql', (route) => {
  const refused = { CreateKey: 'createApiKey', RotateKey: 'rotateApiKey' }[route.request().postDataJSON()?.operationName];
  return refused ? route.fulfill({ json: { data: null, errors: [{ message: 'This requires a recent sign-in.', path: [refused], extensions: { code: 'forbidden', reason: 'reauthentication_required' } }] } }) : route.fallback();
});
await b.go('keys', 'API keys');
await page.getByRole('button', { name: 'New API key' }).click();
const form = page.getByRole('dialog', { name: 'New API key' });
await form.getByLabel('Name').fill('For the importer');
await form.getByLabel('requests:read', { exact: true }).check();
await form.getByRole('button', { name: 'Create', exact: true }).click();
await prove();
await form.waitFor();
assert.equal(await form.getByLabel('Name').inputValue(), 'For the importer');
assert.ok(await form.getByLabel('requests:read', { exact: true }).isChecked());
await page.unroute('**/graphql');
await form.getByRole('button', { name: 'Create', exact: true }).click();
await page.getByRole('button', { name: 'I have stored it' }).click();
await page.reload();
await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
assert.equal(await page.getByRole('dialog').count(), 0, 'it asks once');

// A notice of an incident without a request leads to the execution, from the bell and from the page of all notices.
const incident = /Workflow error: Sort what comes in/;
for (const from of ['the bell', 'the page']) {
  await b.go('notifications', 'Notifications');
  if (from === 'the bell') await page.getByRole('button', { name: /^Notifications/ }).click();
  await (from === 'the bell' ? page.locator('.popover') : page.getByRole('main')).getByRole('link', { name: incident }).first().click();
  await page.waitForURL(/\/app\/executions\/exe_/);
  await page.getByRole('heading', { level: 1, name: 'Sort what comes in' }).waitFor();
}

// Executions are found by their workflow and by what waits for somebody.
const steps = Array.from({ length: 8 }, (_, i) => ({ id: `step${i}`, type: 'DATA', name: `Step ${i}`, config: { kind: 'enrich', set: { n: `${i}.0` } } }));
const phases = [
  { id: 'start', type: 'START' }, ...steps.slice(0, 5),
  { id: 'sum', type: 'DATA', name: 'Add up', config: { kind: 'enrich', set: { total: 'phases.sum.price * 2.0' } } }, ...steps.slice(5), { id: 'end', type: 'END' },
];
const long = await rest('POST', '/workflows', { name: 'The long way', definition: { phases, transitions: phases.slice(1).map((p, i) => ({ from: phases[i].id, name: 'next', to: p.id })) } });
await rest('POST', `/workflows/${long.id}/publish`, {});
const offering = await rest('POST', `/services/${demo.serviceId}/offerings`, { name: 'By the long way', workflowId: long.id });
const far = await rest('POST', '/requests', { serviceId: demo.serviceId, offeringId: offering.id, title: 'A chair from far away' });
const execution = await until('it has failed', async () => (await rest('GET', '/executions?incidentStatus=OPEN&pageSize=100')).find((e) => e.requestId === far.id));
await b.go('executions', 'Executions');
const listed = page.getByRole('list', { name: 'Executions' });
const shows = (...names) => until(`the list has ${names}`, async () => JSON.stringify((await listed.locator('a.name').allTextContents()).toSorted()) === JSON.stringify(names.toSorted()));
const filter = page.getByRole('search');
await filter.getByLabel('Workflow', { exact: true }).selectOption('The long way');
await page.waitForURL(new RegExp(`workflowId=${long.id}`));
await shows('A chair from far away');
await filter.getByLabel('Workflow', { exact: true }).selectOption('Sort what comes in');
await shows('Sort what comes in');
await filter.getByLabel('Workflow', { exact: true }).selectOption('Any');
await filter.getByLabel('Workflow error').selectOption('Waits for somebody');
await page.waitForURL(/incident=open/);
await shows('A chair from far away', 'Sort what comes in');
await b.sound('comes-executions');

// The picture of an execution that is wider than its frame shows where the execution stands.
const seen = (name) => page.locator('.picture').evaluate((frame, text) => {
  const box = [...frame.querySelectorAll('g')].find((g) => g.querySelector('title')?.textContent === text)?.getBoundingClientRect();
  const whole = frame.getBoundingClientRect();
  return Boolean(box) && box.left >= whole.left && box.right <= whole.right;
}, name);
await listed.getByRole('link', { name: 'A chair from far away' }).click();
await page.waitForURL(`**/executions/${execution.id}`);
await page.getByRole('list', { name: 'Path taken' }).waitFor();
await until('the phase at which it stands is seen', () => seen('Add up'));
assert.ok(!await seen('START') && !await seen('Step 0') && !await seen('Step 7'), 'others are not');

// What a phase lacks is given with the retry. It comes to nothing that is no JSON, and the server says what it does not take.
await page.getByRole('button', { name: 'Retry Add up' }).click();
const again = page.getByRole('dialog', { name: 'Retry “Add up”?' });
const given = again.getByLabel('Variables of the phase');
await given.fill('{');
await again.getByRole('button', { name: 'Retry', exact: true }).click();
await again.locator('.fault').first().waitFor();
await given.fill('[]');
await again.getByRole('button', { name: 'Retry', exact: true }).click();
await again.getByText(/hold one object/).waitFor();
await b.sound('comes-retry');
await given.fill('{"price": 12.50}');
await again.getByRole('button', { name: 'Retry', exact: true }).click();
await page.locator('.toast').getByText('The phase runs again.').waitFor();
await until('it is at its end', async () => (await rest('GET', `/executions/${execution.id}`)).status === 'COMPLETED');
assert.equal((await rest('GET', `/executions/${execution.id}`)).variables.phases.sum.total, 25);

// A list of teams goes on past its first hundred, and one of people past its first page, where somebody is assigned and where is filtered.
for (let i = 0; i < 101; i++) await rest('POST', '/teams', { name: `Team ${String(i).padStart(3, '0')}` });
await page.route('**/graphql', async (route) => {
  const { operationName, variables } = route.request().postDataJSON() ?? {};
  if (operationName !== 'PersonChoices') return route.fallback();
  const row = (id, name) => ({ __typename: 'UserEdge', node: { __typename: 'User', id, name, email: `${id}@demo.example`, role: 'agent' } });
  const [edges, hasNextPage] = variables.after ? [[row('usr_last', 'Zoe at the end')], false] : [Array.from({ length: 100 }, (_, i) => row(`usr_${i}`, `Person ${i}`)), true];
  return route.fulfill({ json: { data: { __typename: 'Query', users: { __typename: 'UserConnection', pageInfo: { __typename: 'PageInfo', hasNextPage, endCursor: hasNextPage ? 'here' : null }, edges } } } });
});
await b.go(`requests/${request.id}`, request.title);
for (const [name, last] of [['Team', 'Team 100'], ['Assignee', 'Zoe at the end']]) await page.getByRole('combobox', { name, exact: true }).getByRole('option', { name: last }).waitFor({ state: 'attached' });
await b.go('requests', 'Requests');
for (const [name, last] of [['Team', 'Team 100'], ['Assignee', 'Zoe at the end']]) {
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
  await page.getByRole('dialog').getByLabel(last).waitFor();
  await page.keyboard.press('Escape');
}
await page.unroute('**/graphql', { behavior: 'ignoreErrors' });

// The labels of charts are whole and run into nothing, and a zero is drawn, in a window of any width.
for (const width of [1280, 1000, 390]) {
  await page.setViewportSize({ width, height: 860 });
  for (const period of ['7d', '30d', '90d', 'this_year']) {
    await b.go(`figures?period=${period}`, 'Reports', 'nowhere');
    await page.locator('.chart').first().waitFor();
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('.chart')].flatMap((chart) => {
      const name = chart.querySelector('svg').getAttribute('aria-label');
      const whole = chart.querySelector('svg').getBoundingClientRect();
      const texts = [...chart.querySelectorAll('text')].map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }));
      const cut = texts.filter(({ box }) => box.left < whole.left - 1 || box.right > whole.right + 1).map(({ text }) => `${name}: ${text} is cut`);
      const met = texts.flatMap((a, i) => texts.slice(i + 1).filter(({ box }) => a.box.left < box.right && box.left < a.box.right && a.box.top < box.bottom - 3 && box.top < a.box.bottom - 3)
        .map((o) => `${name}: ${a.text} meets ${o.text}`));
      const unseen = [...chart.querySelectorAll('rect')].filter((r) => r.getBoundingClientRect().height < 1).map((r) => `${name}: ${r.textContent} is not seen`);
      return [...cut, ...met, ...unseen];
    })), [], `${period} at ${width}`);
  }
}
await b.end();
console.log('console-comes: ok');
