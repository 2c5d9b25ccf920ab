// An owner with Chromium changes what stands beside numbers that JavaScript's own cannot hold. Each comes back as it was written.
import assert from 'node:assert/strict';
import { arrive, rest, until } from './console-browser.mjs';

const { api, owner, demo, liveKey } = JSON.parse(process.env.ATRIUM_TEST);
const b = await arrive(owner, 'requests');
const { page } = b;
const button = (name, within = page) => within.getByRole('button', { name, exact: true });
const dialog = (title) => page.getByRole('dialog', { name: title });
// text is a row as the server writes it, which no JSON.parse has touched.
const text = async (path, body) => {
  const res = await fetch(`${api}/v1${path}`, { method: body ? 'POST' : 'GET', headers: { 'x-api-key': liveKey, 'content-type': 'application/json' }, body });
  const answer = await res.text();
  assert.ok(res.ok, answer);
  return answer;
};
const idOf = (answer) => JSON.parse(answer).data.id;
const holds = async (path, ...parts) => {
  const answer = await text(path);
  for (const part of parts) assert.ok(answer.includes(part), `${part} is not in ${answer}`);
};
// asked is what the page sends by a document, and what the server answers.
const asked = async (name) => {
  const r = await page.waitForResponse((x) => x.url().endsWith('/graphql') && x.request().postDataJSON()?.operationName === name);
  return [r.request().postData().split('"variables"')[1], await r.text()];
};

const form = { fields: [{ key: 'serial', type: 'number', label: 'Serial' }, { key: 'amount', type: 'number', label: 'Amount' }, { key: 'note', type: 'text', label: 'Note' }] };
const [first, second] = [await rest('POST', `/services/${demo.serviceId}/offerings`, { name: 'Counted', form }), await rest('POST', `/services/${demo.serviceId}/offerings`, { name: 'Counted again', form })];
const numbers = ['"serial":9007199254740993', '"amount":0.1000000000000000055'];
const id = idOf(await text('/requests', `{"serviceId":"${demo.serviceId}","offeringId":"${first.id}","title":"Two numbers","fields":{${numbers.join(',')},"note":"as it came"}}`));

// One answer is edited, and taken back; the others stay, also over a move to another form.
await b.go(`requests/${id}`, 'Two numbers');
await page.getByText('0.1000000000000000055', { exact: true }).waitFor();
await page.getByText('9007199254740993', { exact: true }).waitFor();
const edit = async (label, value) => {
  await button('Edit').click();
  await dialog(/Edit/).getByLabel(label).fill(value);
  await button('Save', dialog(/Edit/)).click();
  await dialog(/Edit/).waitFor({ state: 'detached' });
};
const update = asked('UpdateRequest');
await edit('Note', 'another');
for (const part of [...numbers, '"note":"another"']) assert.ok((await update)[0].includes(part), await update);
assert.doesNotMatch((await update)[0], /"(title|priority|tags)"/, 'what was not changed is not sent');
await holds(`/requests/${id}`, ...numbers, '"note":"another"');
await button('Undo').last().click();
await until('it was taken back', async () => (await text(`/requests/${id}`)).includes('"note":"as it came"'));
await page.getByText('as it came', { exact: true }).waitFor(); // what is edited next is what the page shows
await holds(`/requests/${id}`, ...numbers);
await edit('Amount', '2.50');
await holds(`/requests/${id}`, numbers[0], '"amount":2.50');
await button('More actions').click();
await page.getByRole('menuitem', { name: 'Move' }).click();
await dialog(/Move/).getByLabel('Offering').selectOption({ label: second.name });
assert.equal(await dialog(/Move/).getByLabel('Serial').inputValue(), '9007199254740993');
await button('Move', dialog(/Move/)).click();
await page.getByText(`Moved to “${second.name}”.`).waitFor();
await holds(`/requests/${id}`, numbers[0], '"amount":2.50', second.id);

// The bounds of a question stand in the form's editor as they were written, and stay where something else of it is changed.
const bounds = ['"min":0.1000000000000000055', '"max":9007199254740993'];
await text(`/services/${demo.serviceId}/offerings`, `{"name":"Bounded","form":{"fields":[{"key":"n","type":"number","label":"Count",${bounds.join(',')}}]}}`);
await b.go(`services/${demo.serviceId}`, 'IT Support');
await button('Edit Bounded').click();
assert.deepEqual(await Promise.all(['Minimum', 'Maximum'].map((l) => dialog(/Bounded/).getByLabel(l).inputValue())), ['0.1000000000000000055', '9007199254740993']);
await dialog(/Bounded/).getByLabel('Label').fill('How many');
await dialog(/Bounded/).getByLabel('Maximum').fill('9007199254740995');
await button('Save', dialog(/Bounded/)).click();
await dialog(/Bounded/).waitFor({ state: 'detached' });
await holds(`/services/${demo.serviceId}/offerings`, bounds[0], '"max":9007199254740995', 'How many');

// A definition shows and keeps the digits of what its calls send.
const call = '{"id":"call","type":"API_CALL","config":{"method":"POST","url":"https://a.example/","body":{"price":1.10,"serial":9007199254740993}}}';
const workflow = idOf(await text('/workflows', `{"name":"Prices","definition":{"phases":[{"id":"start","type":"START"},${call},{"id":"end","type":"END"}],"transitions":[{"from":"start","name":"next","to":"call"},{"from":"call","name":"next","to":"end"}]}}`));
await b.go(`workflows/${workflow}?view=json`, 'Prices');
const definition = page.getByLabel('Definition');
const shown = await definition.inputValue();
assert.match(shown, /"price": 1\.10,\s*"serial": 9007199254740993/);
await definition.fill(shown.replace('https://a.example/', 'https://b.example/'));
await button('Save').click();
await page.getByText('The draft was saved.').waitFor();
await holds(`/workflows/${workflow}`, '"price":1.10', '"serial":9007199254740993', 'https://b.example/');

// A policy's condition stands in the builder as it was written, and is not sent where another field is changed.
await b.go('policies', 'Access policies');
await button('New access policy').click();
{
  const made = dialog('New access policy');
  await made.getByLabel('Name').fill('Few tries');
  await made.getByLabel('Resource').selectOption('Workflow');
  await button('Add condition', made).click();
  await made.getByLabel('Path 1').fill('resource.version');
  await made.getByLabel('Operator 1').selectOption('lt');
  await made.getByLabel('Value 1').fill('9007199254740993');
  await button('Create', made).click();
  await made.waitFor({ state: 'detached' });
}
for (const [name, limit] of [['Fewer tries', '9007199254740993'], ['Fewest tries', '9007199254740995']]) {
  await page.getByRole('button', { name: /^Edit Few/ }).click();
  const kept = dialog(/Few/);
  assert.equal(await kept.getByLabel('Value 1').inputValue(), '9007199254740993');
  await kept.getByLabel('Name').fill(name);
  await kept.getByLabel('Value 1').fill(limit);
  const saved = asked('UpdatePolicy');
  await button('Save', kept).click();
  const [said, answer] = await saved;
  assert.equal(said.includes('"condition"'), name === 'Fewest tries', said);
  assert.ok(answer.includes(`"condition":{"resource.version":{"lt":${limit}}}`), answer);
  await kept.waitFor({ state: 'detached' });
}

await b.end();
console.log('console-numbers: ok');
