// An owner says who takes part in a workflow by rules: the requester, the assignee, the service's team, and a person whom an answer names. What
// the forms around it leave out, they say: a draft that no offering can take yet, a rule that would do nothing, a calendar without holidays.
import assert from 'node:assert/strict';
import { arrive, building, keyboard, rest, until } from './console-browser.mjs';

const { owner, demo } = JSON.parse(process.env.ATRIUM_TEST);
const b = await arrive(owner, 'workflows');
const { page } = b;
const { keys, focused } = keyboard(page);
const { make, at, command } = building(page);
const side = page.getByRole('region', { name: 'Selected phase' });
const dialog = (name) => page.getByRole('dialog', { name });
const main = page.locator('#main');
const open = async (id, name) => { await at(id).press('Enter'); await side.getByRole('heading', { name, exact: true }).waitFor(); };
const add = (to, label) => side.getByRole('combobox', { name: `Add to “${to}”` }).selectOption({ label });
const definition = async (id) => (await rest('GET', `/workflows/${id}`)).definition;
const save = async () => { await page.getByRole('button', { name: 'Save draft' }).press('Enter'); await page.getByText('The draft was saved.').waitFor(); };

// The task is the requester's; a new approval is the assignee's, and its refusal ends the request. The outline says whom it asks.
const id = await make('By rule');
await page.getByRole('heading', { level: 1, name: 'By rule' }).waitFor();
await open('work', 'Work');
await add('Responsible', 'The requester');
await at('work').getByText('The requester').waitFor();
await at('work').focus();
await command('Approval');
await focused(at('approval'));
await open('approval', 'Approval');
assert.equal(await side.getByRole('combobox', { name: 'Add to “Approvers”' }).getByRole('option', { name: 'The requester' }).count(), 0, 'nobody decides on their own request');
await add('Approvers', 'The assignee of the request');
await add('Approvers', 'Person in an answer…');
await page.getByRole('region', { name: 'Problems' }).getByText('Say which answer names the person.').waitFor();
await side.getByRole('textbox', { name: 'Person in the answer' }).fill('manager');
await b.sound('rules-approval');

// A rule of a decision has a name at once, and leads to a phase that is made where it is chosen.
await at('approval').focus();
await command('Decision at Approved');
await focused(at('decision'));
await open('decision', 'Decision');
await side.getByRole('button', { name: 'Add rule' }).press('Enter');
const name = side.getByRole('group', { name: 'Row 1' }).getByLabel('Name', { exact: true });
await until('the rule has a name', async () => await name.inputValue() === 'Rule 1');
await side.getByRole('combobox', { name: '“Rule 1” leads to' }).selectOption({ label: 'New phase…' });
const palette = dialog('Add after “Decision”');
await focused(palette.getByRole('combobox'));
await page.keyboard.type('Wait');
await keys('Enter');
await focused(at('wait'));
await open('decision', 'Decision');
await side.getByRole('button', { name: 'Remove row 1' }).press('Enter');
await at('wait').press('Delete');
await at('decision').press('Delete');
await save();
const d = await definition(id);
const by = (phase) => d.phases.find((p) => p.id === phase);
assert.deepEqual(by('work').participants, [{ role: 'responsible', type: 'requester' }]);
assert.deepEqual(by('approval').config.approvers, [{ type: 'assignee' }, { type: 'answer', answer: 'manager' }]);
assert.deepEqual(d.transitions.filter((w) => w.from === 'approval').map((w) => `${w.name} ${w.to} ${by(w.to).requestAction}`).sort(), ['approved done complete', 'rejected end cancel']);

// Tried on a sample, it asks the caller, and then those of whom the sample says nothing.
await page.getByRole('button', { name: 'Try', exact: true }).press('Enter');
const panel = page.getByRole('region', { name: 'Try' });
await panel.getByText('It stops at “Work” until it has an answer.').waitFor();
await panel.getByRole('button', { name: 'Done' }).press('Enter');
await panel.getByText(/Asks “The assignee of the request”, “Person in the answer “Manager”” for a decision/).waitFor();
await b.sound('rules-tried');
await panel.getByRole('button', { name: 'Close' }).press('Enter');

// An offering takes published workflows alone: its form says so, and leads to the draft.
await b.go(`services/${demo.serviceId}`, 'IT Support');
await page.getByRole('button', { name: 'New offering' }).press('Enter');
await dialog('New offering').getByText('Publish these first').waitFor();
await b.sound('rules-offering-draft');
await dialog('New offering').getByRole('link', { name: 'By rule' }).press('Enter');
await page.getByRole('heading', { level: 1, name: 'By rule' }).waitFor();
await page.getByRole('button', { name: 'Publish', exact: true }).press('Enter');
await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).press('Enter');
await page.getByText('Version 1 is published.').waitFor();

// Once an offering asks for the manager, the answer is chosen by its question, and no other key is taken.
await rest('POST', `/services/${demo.serviceId}/offerings`, { name: 'By rule', workflowId: id, form: { fields: [{ key: 'manager', label: 'Your manager', type: 'user' }] } });
await page.reload();
await open('approval', 'Approval');
await side.getByText('Person in the answer “Your manager”').waitFor();
await side.getByRole('button', { name: 'Remove Person in the answer “Your manager”' }).press('Enter');
await add('Approvers', 'Person in the answer “Your manager”');
await b.sound('rules-question');

// A routing rule does something, or is not made. It and the calendars have their place in the navigation, in a narrow window too.
await b.go('workflows', 'Workflows');
await page.setViewportSize({ width: 390, height: 800 });
await page.getByRole('button', { name: 'Open the menu' }).press('Enter');
const nav = page.getByRole('navigation', { name: 'Main' });
await nav.getByRole('link', { name: 'Calendars' }).waitFor();
await b.fits('rules-menu-narrow');
await nav.getByRole('link', { name: 'Routing rules' }).press('Enter');
await page.getByRole('heading', { level: 1, name: 'Routing rules' }).waitFor();
assert.equal(await page.getByRole('button', { name: 'Open the menu' }).isVisible(), true);
await page.getByRole('button', { name: 'New routing rule' }).press('Enter');
const rule = dialog('New routing rule');
await rule.getByLabel('Name', { exact: true }).fill('Nothing');
await rule.getByRole('button', { name: 'Write as text' }).press('Enter');
await rule.getByLabel('When, as text').fill('true');
await rule.getByRole('button', { name: 'Create' }).press('Enter');
await rule.getByText('Choose a team, a priority or both: the rule would do nothing.').waitFor();
assert.equal(await rule.getByRole('combobox', { name: 'Team' }).getAttribute('aria-invalid'), 'true');
await b.sound('rules-idle-narrow');
await rule.getByRole('combobox', { name: 'Set priority to' }).selectOption({ label: 'Low' });
await rule.getByRole('button', { name: 'Create' }).press('Enter');
await page.getByText('The rule was created and applies from now on.').waitFor();
await page.setViewportSize({ width: 1280, height: 860 });

// A schedule by a calendar without holidays says what it skips, and leads to the calendar.
await b.go('calendars', 'Calendars');
await page.getByRole('button', { name: 'New calendar' }).press('Enter');
await dialog('New calendar').getByLabel('Name', { exact: true }).fill('Weekdays');
await dialog('New calendar').getByRole('button', { name: 'Create' }).press('Enter');
await dialog('New calendar').waitFor({ state: 'detached' });
await b.load('schedules/new', 'New schedule');
await page.getByRole('combobox', { name: 'Working days' }).selectOption({ label: 'Weekdays' });
await main.getByText('This calendar has no holidays: it skips Saturday and Sunday alone.').waitFor();
await b.sound('rules-schedule');
await main.getByRole('link', { name: 'Open the calendar' }).press('Enter');
await page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor();

await b.end();
console.log('console-rules: ok');
