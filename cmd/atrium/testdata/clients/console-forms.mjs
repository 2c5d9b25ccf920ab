// An owner with Chromium builds what a company works with: an agent of its own with its secret and its key, an agent for phases, an
// offering whose form asks by condition, and the names and attributes of workflows and people.
import assert from 'node:assert/strict';
import { arrive, rest, until } from './console-browser.mjs';

const { api, owner, demo } = JSON.parse(process.env.ATRIUM_TEST);
const b = await arrive(owner, 'agents');
const { page } = b;
const button = (name, within = page) => within.getByRole('button', { name, exact: true });
const dialog = (title) => page.getByRole('dialog', { name: title });

// A CUSTOM agent has a signing secret, which is shown once, and works with a key of its own.
await button('New AI agent').click();
{
  const make = dialog('New AI agent');
  await button('Create', make).click();
  await make.getByText(/Name|required|characters/).first().waitFor();
  await make.getByLabel('Name').fill('Robot');
  await make.getByLabel('Autonomy').selectOption('AUTONOMOUS');
  await make.getByLabel('Source').selectOption('CUSTOM');
  assert.equal(await make.getByLabel('Autonomy').inputValue(), 'ACT_WITH_APPROVAL', 'no evaluation tries it, so it never acts alone');
  await b.sound('forms-agent');
  await button('Create', make).click();
}
assert.match(await page.getByLabel('Signing secret', { exact: true }).textContent(), /^whsec_/);
await button('I have stored it').click();
await page.getByRole('heading', { level: 1, name: 'Robot' }).waitFor();
await page.getByLabel('Address').fill('http://agent.example.com');
await button('Save').click();
await page.getByText(/https/).nth(1).waitFor(); // the refusal, besides the hint
await page.getByLabel('Address').fill('');
await button('Save').click();
await page.getByText('The draft was saved.').waitFor(); // until then there is nothing to publish, and the page says so
await button('Publish').click();
await button('Publish', dialog(/Publish/)).click();
await page.getByText('Version 1 works from now on.').waitFor();
await button('New API key').click();
await page.getByLabel('Name', { exact: true }).last().fill('The program');
await button('Create').click();
const key = await page.getByLabel('API key', { exact: true }).textContent();
await button('I have stored it').click();
assert.deepEqual(await rest('GET', '/agent-runs?status=QUEUED', null, key), [], 'the key opens the agent\'s runs');

// An agent for phases thinks with a model: without one it cannot be published, and its page says what to write into a workflow.
await b.go('agents', 'AI agents');
await button('New AI agent').click();
await dialog('New AI agent').getByLabel('Name').fill('Clerk');
await dialog('New AI agent').getByLabel('Type').selectOption('WORKFLOW_PHASE');
await button('Create', dialog('New AI agent')).click();
await page.getByRole('heading', { level: 1, name: 'Clerk' }).waitFor();
assert.ok(await button('Publish').isDisabled());
assert.equal(await page.getByRole('group', { name: 'Tools' }).count(), 0, 'a model has one tool for a task');
assert.equal(JSON.parse(await page.getByLabel('Participant', { exact: true }).textContent()).type, 'agent');
await b.sound('forms-phase-agent');

// A field of a form is asked for only where another one has a value, in the preview and where people file.
await b.go(`services/${demo.serviceId}`, 'IT Support');
await button('New offering').click();
const offer = dialog('New offering');
await offer.getByLabel('Name', { exact: true }).fill('Access');
for (const [n, label] of ['System', 'Why'].entries()) {
  await button('Add field', offer).click();
  const field = offer.getByRole('group', { name: `Field ${n + 1}` });
  await field.getByLabel('Label').fill(label);
  if (n === 0) {
    await field.getByLabel('Type').selectOption('select');
    await field.getByLabel('Options').fill('Audit\nBilling');
    await field.getByLabel('Options').blur();
  } else {
    await button('Add condition', field).click();
    await field.getByLabel('What', { exact: true }).selectOption({ label: 'System' });
    await field.getByLabel('Value', { exact: true }).selectOption('Audit');
    await field.getByLabel('Required').check();
  }
}
await button('Add field', offer).click();
const proof = offer.getByRole('group', { name: 'Field 3' });
await proof.getByLabel('Label').fill('Proof');
await proof.getByLabel('Type').selectOption('file');
await proof.getByLabel('Accepted files').selectOption('Other kinds…');
await proof.getByLabel('Endings or media types').fill('image/*\n\n.dwg ');
await proof.getByLabel('Endings or media types').blur();
await proof.getByLabel('Accepted files').selectOption('Images');
await proof.getByLabel('How many').fill('21');
await proof.getByLabel('Required').check();
// Two escalations of its service level; what one lacks is said at its row.
const escalations = offer.getByRole('group', { name: 'Escalations' });
const [soon, late] = [1, 2].map((n) => escalations.getByRole('group', { name: `Row ${n}`, exact: true }));
await button('Add escalation', escalations).press('Enter');
await soon.getByLabel('After', { exact: true }).and(page.locator(':focus')).waitFor();
await page.keyboard.type('4');
await soon.getByLabel('Unit of “After”').selectOption('Hours');
await soon.getByLabel('If').selectOption('Nobody has accepted it');
await button('Add escalation', escalations).press('Enter');
await late.getByLabel('Then').selectOption('Give it to a team');
await button('Create', offer).click();
await late.getByText('Say after how long.').waitFor();
await late.getByText('Choose the team that gets it.').waitFor();
const [owners] = await rest('GET', '/teams');
await late.getByLabel('Unit of “After”').selectOption('Days');
await late.getByLabel('After', { exact: true }).fill('2');
await late.getByLabel('Team').selectOption(owners.id);
await button('Create', offer).click();
await proof.getByText(/20/).nth(1).waitFor(); // the refusal, besides the hint
await proof.getByLabel('How many').fill('2');
const preview = offer.getByRole('region', { name: 'Preview' });
assert.equal(await preview.getByLabel('Why').count(), 0);
await preview.getByLabel('System').selectOption('Audit');
await preview.getByLabel('Why').waitFor();
assert.ok(await preview.getByLabel('Proof').isDisabled(), 'nothing is sent from a preview');
await b.sound('forms-offering');
await button('Create', offer).click();
await offer.waitFor({ state: 'detached' });
const offering = (await rest('GET', `/services/${demo.serviceId}/offerings`)).find((o) => o.name === 'Access');
assert.deepEqual(offering.sla.escalations, [{ afterMinutes: 240, of: 'response', do: 'notify', teamId: null }, { afterMinutes: 2880, of: 'resolution', do: 'reassign', teamId: owners.id }]);
await b.go(`catalogue/${offering.id}`, 'Access');
await page.getByLabel('Title').fill('To the books');
await page.getByLabel('System').selectOption('Billing');
assert.equal(await page.getByLabel('Why').count(), 0);
await page.getByLabel('System').selectOption('Audit');
await page.getByRole('main').getByRole('button', { name: 'Submit request' }).click();
await page.getByLabel('Why').and(page.locator('[aria-invalid=true]')).waitFor();
await page.getByLabel('Attach files: Proof').and(page.locator('[aria-invalid=true]')).waitFor();
await page.getByLabel('Why').fill('The year ends');

// Files answer a question: chosen, dropped, pasted, taken out again, and there when the page is loaded again. What is none of the kinds
// is not sent.
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR42mOwst+KBzGMSmNDAEJ7dfnUEWI6AAAAAElFTkSuQmCC', 'base64');
const question = page.locator('.file-answer');
const files = page.getByRole('list', { name: 'Files of Proof' });
const brings = (type, name, kind = 'image/png') => question.evaluate((e, [event, title, mediaType, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], title, { type: mediaType }));
  if (event === 'paste') e.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  else for (const one of ['dragover', 'drop']) e.dispatchEvent(new DragEvent(one, { dataTransfer: data, bubbles: true, cancelable: true }));
}, [type, name, kind, png.toString('base64')]);
await question.locator('input[type=file]').setInputFiles(['a', 'b'].map((name) => ({ name: `${name}.png`, mimeType: 'image/png', buffer: png })));
await page.getByLabel('Why').pressSequentially(', as every year, and the books have to be closed', { delay: 3 }); // what is written meanwhile stands beside them
for (const name of ['a', 'b']) {
  await question.locator('progress').first().waitFor({ state: 'detached' });
  await button(`Remove ${name}.png`).click();
}
await page.getByLabel('Why').fill('The year ends');
await question.locator('input[type=file]').setInputFiles([{ name: 'one.png', mimeType: 'image/png', buffer: png }, { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no') }]);
await page.getByText('Only these files can be attached: images.').waitFor();
await files.getByText('one.png').waitFor();
await brings('drop', 'dropped.png');
await files.getByText('dropped.png').waitFor();
await brings('paste', 'third.png');
await page.getByText('No more files can be attached here.').waitFor();
await button('Remove dropped.png').click();
await files.getByText('dropped.png').waitFor({ state: 'detached' });
await brings('paste', 'pasted.png');
await files.getByText('pasted.png').waitFor();
await b.sound('forms-files');
await b.load(`catalogue/${offering.id}`, 'Access');
await files.getByText('one.png').waitFor();
await files.getByText('pasted.png').waitFor();
assert.equal(await page.getByLabel('Why').inputValue(), 'The year ends');
assert.equal(await page.locator('ul.files').count(), 1, 'a question takes its own files');
await page.getByLabel('Requester').selectOption({ label: 'Mia Member' }); // for whom it is
await page.getByRole('main').getByRole('button', { name: 'Submit request' }).click();
await page.getByRole('heading', { level: 1, name: 'To the books' }).waitFor();
await page.getByText('The year ends').waitFor();
const answer = page.locator('dl.answers').getByRole('list', { name: 'Files' });
assert.deepEqual(await answer.getByRole('link', { name: /png$/ }).filter({ hasText: 'png' }).allTextContents(), ['one.png', 'pasted.png']);
await until('both are drawn', () => answer.locator('img').evaluateAll((all) => all.length === 2 && all.every((i) => i.naturalWidth > 0)));
const [download] = await Promise.all([page.waitForEvent('download'), answer.getByRole('link', { name: 'one.png' }).last().click()]);
assert.equal(download.suggestedFilename(), 'one.png');
await b.sound('forms-answered-files');
await page.locator('dt').filter({ hasText: /^Requester$/ }).locator('xpath=following-sibling::dd').getByText('Mia Member').waitFor();

// A person's attributes are written one a line, and what is no attribute is said.
await b.go('people', 'People');
await page.locator('tbody a.name').first().click();
const edit = dialog(/^Edit /);
await edit.getByLabel('Attributes').fill('region=eu\ngrade=3');
await button('Save', edit).click();
await edit.waitFor({ state: 'detached' });
await until('the attributes stand', async () => JSON.stringify((await rest('GET', '/users')).find((u) => u.email === owner.email).attributes) === '{"grade":"3","region":"eu"}');

// A workflow is renamed, and the list says so at once.
await b.go('workflows', 'Workflows');
await page.locator('td a.name').first().click();
await page.waitForURL(`${api}/app/workflows/*`);
await button('Edit').click();
await dialog(/^Edit /).getByLabel('Name').fill('How access is given');
await button('Save', dialog(/^Edit /)).click();
await page.getByRole('heading', { level: 1, name: 'How access is given' }).waitFor();
await page.goBack();
await page.getByRole('link', { name: 'How access is given' }).waitFor();

// A condition that is not finished is not lost without a word: the rule is not created until it is finished or removed.
await b.go('routing', 'Routing rules');
await button('New routing rule').click();
const half = dialog('New routing rule');
await half.getByLabel('Name').fill('Half of a rule');
const said = (n) => half.getByRole('group', { name: `Condition ${n}` });
await said(1).getByLabel('What').selectOption({ label: 'Priority' });
await said(1).getByLabel('Value', { exact: true }).selectOption({ label: 'Urgent' });
await button('Add condition', half).click();
await said(2).getByLabel('What').selectOption({ label: 'Amount without tax' });
await said(2).getByLabel('Value', { exact: true }).fill('1,000');
await button('Create', half).click();
await half.getByText('“1,000” is not a number. Write it like 1000 or 10.5.').waitFor();
await said(2).getByLabel('Value', { exact: true }).fill('');
await half.getByText('Finish each condition or remove it: those that are not finished do not count.').waitFor();
await b.sound('forms-half-a-condition');
await page.keyboard.press('Escape');
await half.waitFor({ state: 'detached' });

// What a company configures is created, opened again as it was created, and changed. Saving it right away is no conflict.
const forms = [
  ['organizations', 'Organizations', 'New organization', { Name: 'Ships' }],
  ['organizations', 'Organizations', 'New organization', { Name: 'Decks', 'Part of': { label: 'Ships, renamed' } }],
  ['calendars', 'Calendars', 'New calendar', { Name: 'Office', 'Time zone': 'Europe/Berlin', Friday: '09:00-12:00, 13:00-15:30', Holidays: '2026-12-25' }],
  ['routing', 'Routing rules', 'New routing rule', { Name: 'Urgent ones', 'When, as text': "request.priority == 'URGENT'", 'Set priority to': { label: 'High' } }],
  ['service-accounts', 'Service accounts', 'New service account', { Name: 'Exporter' }],
  ['oauth-clients', 'OAuth clients', 'New OAuth client', { Name: 'Portal', 'Redirect URIs': 'https://portal.example.com/cb' }],
];
for (const [path, title, make, values] of forms) {
  await b.go(path, title);
  await button(make).click();
  const form = dialog(make);
  if ('When, as text' in values) await button('Write as text', form).click();
  for (const [label, value] of Object.entries(values)) {
    const field = form.getByLabel(label, { exact: true });
    if (typeof value === 'string') await field.fill(value);
    else await field.selectOption(value);
  }
  await button('Create', form).click();
  await form.waitFor({ state: 'detached' });
  const stored = button('I have stored it');
  await page.getByText(values.Name, { exact: true }).first().waitFor();
  if (await stored.count()) await stored.click();
  for (const changed of [{}, { Name: `${values.Name}, renamed` }]) {
    const name = values.Name;
    await page.getByRole('button', { name: `Edit ${name}`, exact: true }).click();
    const again = dialog(new RegExp(name));
    if ('When, as text' in values) await button('Write as text', again).click();
    for (const [label, value] of Object.entries(values)) {
      const field = again.getByLabel(label, { exact: true });
      if (typeof value === 'string') assert.equal(await field.inputValue(), value, `${make}: ${label}`);
      else assert.equal(await field.evaluate((e) => e.selectedOptions[0].label), value.label, `${make}: ${label}`);
    }
    if (changed.Name) await again.getByLabel('Name', { exact: true }).fill(changed.Name);
    await button('Save', again).click();
    await again.waitFor({ state: 'detached' });
  }
  await page.getByText(`${values.Name}, renamed`).first().waitFor();
}

// A service level warns at 80 % unless the form says otherwise. A change of something else leaves it as it is.
const level = async () => (await rest('GET', `/offerings/${offering.id}`)).sla ?? null;
const change = async (what) => {
  await b.go(`services/${demo.serviceId}`, 'IT Support');
  await button('Edit Access').click();
  const form = dialog(/Access/);
  for (const [label, value] of Object.entries(what)) await form.getByLabel(label, { exact: true }).fill(value);
  const warning = await form.getByLabel('Warn at (percent)').inputValue();
  await b.sound('forms-level');
  await button('Save', form).click();
  await form.waitFor({ state: 'detached' });
  return warning;
};
assert.equal(await change({ Description: 'Of the systems' }), '80');
assert.deepEqual([(await level()).responseMinutes, (await level()).resolutionMinutes, (await level()).warnAtPercent], [null, null, null], 'nothing was promised');
await change({ 'First response (minutes)': '60' });
assert.equal((await level()).warnAtPercent, 80);
await change({ 'Warn at (percent)': '0' });
assert.equal((await level()).warnAtPercent, 0);
assert.equal(await change({ Description: 'Of all systems' }), '0', 'nobody is warned still');
assert.deepEqual([(await level()).responseMinutes, (await level()).warnAtPercent], [60, 0]);
await change({ 'Warn at (percent)': '' });
assert.equal((await level()).warnAtPercent, 80, 'what is not said is 80');
assert.equal((await level()).escalations.length, 2, 'they stay as they are');

// A calendar whose only hours are exceptions' is none around the clock, and becomes one by a choice.
// The form knows no exceptions, so its call is given one on the way.
await b.go('calendars', 'Calendars');
await page.route('**/graphql', async (route) => {
  const asked = route.request().postDataJSON();
  if (asked?.operationName !== 'CreateCalendar') return route.continue();
  Object.assign(asked.variables.input, { workingHours: {}, exceptions: [{ date: '2026-12-24', hours: [{ from: '09:00', to: '12:00' }] }] });
  return route.continue({ postData: JSON.stringify(asked) });
});
await button('New calendar').click();
await dialog('New calendar').getByLabel('Name').fill('Rarely');
await button('Create', dialog('New calendar')).click();
await dialog('New calendar').waitFor({ state: 'detached' });
await page.unroute('**/graphql');
const row = page.getByRole('listitem').filter({ hasText: 'Rarely' });
await row.getByText('No weekly hours').waitFor();
for (const always of [false, true]) {
  await button('Edit Rarely').click();
  const form = dialog(/Rarely/);
  assert.ok(!await form.getByLabel('24 × 7').isChecked());
  assert.equal(await form.getByLabel('Monday').inputValue(), '');
  if (always) await form.getByLabel('24 × 7').check();
  await b.sound(`forms-calendar-${always}`);
  const saved = page.waitForResponse((r) => r.url().endsWith('/graphql') && r.request().postDataJSON()?.operationName === 'UpdateCalendar');
  await button('Save', form).click();
  await form.waitFor({ state: 'detached' });
  assert.equal((await (await saved).json()).data.updateCalendar.calendar.workingHours === null, always);
}
await row.getByText('24 × 7').waitFor();
await button('New calendar').click();
await dialog('New calendar').getByLabel('Name').fill('Never');
for (const day of ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday']) await dialog('New calendar').getByLabel(day).fill('');
await button('Create', dialog('New calendar')).click();
await dialog('New calendar').getByText(/must leave working time/i).waitFor();
await button('Cancel', dialog('New calendar')).click();

// A secret names the hosts to which it may be sent, one a line, and is given others later. One without a list stands there as such.
await b.go('secrets', 'Secrets');
await button('New secret').click();
{
  const make = dialog('New secret');
  await make.getByLabel('Name', { exact: true }).fill('SHOP_TOKEN');
  await make.getByLabel('Value').fill('9f2c1e');
  await make.getByLabel('Hosts').fill('https://api.shop.example/');
  await b.sound('forms-secret');
  await button('Create', make).click();
  await make.getByText(/must be names such as/i).waitFor();
  await make.getByLabel('Hosts').fill('API.shop.example\n*.eu.shop.example');
  await button('Create', make).click();
  await make.waitFor({ state: 'detached' });
}
const secret = page.getByRole('row').filter({ hasText: 'SHOP_TOKEN' });
await secret.getByText('api.shop.example, *.eu.shop.example').waitFor();
await button('Hosts of SHOP_TOKEN').click();
{
  const hosts = dialog('Where SHOP_TOKEN may be sent');
  assert.equal(await hosts.getByLabel('Hosts').inputValue(), 'api.shop.example\n*.eu.shop.example');
  await hosts.getByLabel('Hosts').fill('api.shop.example');
  await b.sound('forms-secret-hosts');
  await button('Save', hosts).click();
  await hosts.waitFor({ state: 'detached' });
}
await secret.getByText('api.shop.example', { exact: true }).waitFor();

// A mailbox takes mail from a provider, with a password that is shown once. What strangers write is held: one of them is invited, and
// their request submitted; what the other one wrote is refused.
await b.go('mailboxes', 'Mailboxes');
await button('New mailbox').click();
{
  const make = dialog('New mailbox');
  await make.getByLabel('Address').fill('help@mail.example');
  await button('Create', make).click();
  await make.getByText('Is required.').waitFor();
  await make.getByLabel('Offering').selectOption({ label: 'IT Support › Something else' });
  await button('Create', make).click();
  await make.getByText('This server does not accept mail by SMTP.').waitFor();
  await make.getByLabel('How mail arrives').selectOption('webhook');
  await make.getByText('Advanced').click();
  await make.getByLabel('Trusted mail server').fill('mx.mail.example');
  await b.sound('forms-mailbox');
  await button('Create', make).click();
}
const once = dialog('The password of the webhook');
const [password, url] = [await once.getByLabel('Password').textContent(), await once.getByLabel('Address').textContent()];
await button('I have stored it', once).click();
await page.getByRole('heading', { level: 1, name: 'help@mail.example' }).waitFor();
await page.getByText(url).waitFor();
await b.sound('forms-mailbox-view');
for (const who of ['carla', 'spam']) {
  const sent = await fetch(url, {
    method: 'POST', headers: { authorization: `Basic ${btoa(`mail:${password}`)}`, 'content-type': 'message/rfc822' },
    body: `Authentication-Results: mx.mail.example; dmarc=pass header.from=customer.example\r\nFrom: ${who}@customer.example\r\nSubject: From ${who}\r\n\r\nWho repairs scanners?\r\n`,
  });
  assert.equal(sent.status, 202);
}
const held = page.getByRole('table', { name: 'Waits for staff' });
await until('both wait', async () => {
  await b.load('mail', 'Mail');
  return await held.getByRole('link', { name: /^From / }).count() === 2;
});
await held.getByRole('link', { name: 'From carla' }).click();
await dialog('From carla').getByText('Who repairs scanners?').waitFor();
await b.sound('forms-held');
await button('Invite and release').click();
await dialog('From carla').getByRole('link', { name: /^#\d+ From carla$/ }).waitFor();
await page.keyboard.press('Escape');
await held.getByRole('link', { name: 'From spam' }).click();
await button('Refuse').click();
await button('Refuse', dialog('Refuse this message?')).click();
await held.waitFor({ state: 'detached' });
await page.getByRole('row').filter({ hasText: 'From spam' }).getByText('Refused').waitFor();

// A person chooses a language, and the page comes in it; without a choice it is that of the browser again.
await b.go('settings', 'Settings');
await page.getByLabel('Language').first().selectOption('de');
await page.getByRole('heading', { level: 1, name: 'Einstellungen' }).waitFor();
assert.equal(await page.evaluate(() => document.documentElement.lang), 'de');
await b.sound('forms-german');
await page.getByLabel('Sprache').first().selectOption('');
await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();

await b.end();
console.log('console-forms: ok');
