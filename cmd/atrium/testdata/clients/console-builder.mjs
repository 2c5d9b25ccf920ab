// An owner builds a workflow of six phases in the console with the keyboard alone, publishes it, and the API has it. What was done can be
// taken back, phases are copied and pasted, and nothing unsaved is lost. Numbers keep their digits.
import assert from 'node:assert/strict';
import { arrive, building, keyboard, rest, until } from './console-browser.mjs';

const { owner } = JSON.parse(process.env.ATRIUM_TEST);
const b = await arrive(owner, 'workflows');
const { page } = b;
const { keys } = keyboard(page);
const { palette, make, command } = building(page);
const focused = (name) => page.getByRole('button', { name }).and(page.locator('.outline [data-phase]:focus')).waitFor();
const definition = async (id) => (await rest('GET', `/workflows/${id}`)).definition;

const id = await make('Built by keys');
await page.getByRole('heading', { level: 1, name: 'Built by keys' }).waitFor();
await page.getByText('Begin here').waitFor();
await b.sound('builder-new');

// Three phases come with a workflow; a wait, a decision and a second task are added. On a busy machine, too, the focus is on the phase
// that was just added, although it is drawn later than in the next frame.
const processor = await page.context().newCDPSession(page);
await processor.send('Emulation.setCPUThrottlingRate', { rate: 10 });
await page.locator('[data-phase=start]').focus();
await command('Wait');
await focused(/^Wait/);
await command('Decision');
await focused(/^Decision/);
await keys('k');
await focused(/^Wait/);
await keys('Alt+ArrowUp'); // the start stays where it is
await page.getByText('cannot be moved there').waitFor({ state: 'attached' });
await page.locator('[data-phase=work]').focus();
await command('Task');
await focused(/^Task/);
await keys('Alt+ArrowUp');
await until('the task stands before the work', async () => (await page.locator('.outline [data-phase]').evaluateAll((all) => all.map((e) => e.dataset.phase))).join() === 'start,wait,decision,task,work,done');
await processor.send('Emulation.setCPUThrottlingRate', { rate: 1 });

// Enter opens the form of a phase; what is written there is said in the outline. Escape leads back.
await keys('Enter');
const side = page.getByRole('region', { name: 'Selected phase' });
await side.waitFor();
await side.getByRole('textbox', { name: 'Name', exact: true }).focus();
await keys('Control+a');
await page.keyboard.type('Check the order');
await keys('Escape');
await focused(/^Check the order/);

// Removed, and taken back; copied, pasted, and taken back.
await keys('Delete');
await page.locator('[data-phase=task]').waitFor({ state: 'detached' });
await keys('Control+z');
await page.locator('[data-phase=task]').waitFor();
await keys('Control+Shift+z');
await page.locator('[data-phase=task]').waitFor({ state: 'detached' });
await keys('Control+z');
await page.locator('[data-phase=task]').focus();
await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
await keys('Control+c', 'Control+v');
await page.locator('[data-phase=task_2]').waitFor();
await keys('Control+z');
await page.locator('[data-phase=task_2]').waitFor({ state: 'detached' });
await b.sound('builder-six');

// What is not saved outlives the page; saved, it is published, after its differences were shown.
await page.reload();
await page.locator('.outline').getByText('Check the order').waitFor();
await page.getByRole('button', { name: 'Save draft' }).press('Enter');
await page.getByText('The draft was saved.').waitFor();
await page.getByRole('button', { name: 'Publish' }).press('Enter');
await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).press('Enter');
await page.getByText('Version 1 is published.').waitFor();
const built = await definition(id);
assert.deepEqual(built.phases.map((p) => `${p.type} ${p.name}`), ['START Received', 'TIMER Wait', 'DECISION Decision', 'PROCESS Check the order', 'PROCESS Work', 'END Done']);
assert.deepEqual(built.transitions.map((w) => `${w.from} ${w.name} ${w.to}`).sort(), ['decision otherwise task', 'start next wait', 'task next work', 'wait next decision', 'work next done']);
assert.equal((await rest('GET', `/workflows/${id}`)).version, 1);

// A way out that leads nowhere is a problem at its phase, and leads there.
await page.getByRole('link', { name: 'JSON' }).press('Enter');
const json = page.getByLabel('Definition');
await json.fill((await json.inputValue()).replace('"to": "wait"', '"to": "decision"'));
await page.getByRole('link', { name: 'Builder' }).press('Enter');
await page.getByText('Nothing leads here yet').waitFor();
await page.getByRole('button', { name: 'Save draft' }).press('Enter');
await page.getByRole('region', { name: 'Problems' }).getByRole('button', { name: /^Wait: / }).press('Enter');
await side.getByRole('heading', { name: 'Wait' }).waitFor();
await side.locator('.phase-form :focus').waitFor(); // it comes to the form by itself
await page.getByRole('button', { name: 'Discard' }).press('Enter');
await page.getByText('Nothing leads here yet').waitFor({ state: 'detached' });
await page.getByRole('link', { name: 'History' }).press('Enter');
await page.getByRole('button', { name: 'Compare version 1 with the draft' }).press('Enter');
await page.getByRole('dialog').getByText('No differences').waitFor();
await keys('Escape');
await page.getByRole('link', { name: 'Used by' }).press('Enter');
await page.getByText('Nothing uses this workflow yet').waitFor();
await b.sound('builder-used');

// In a narrow window a phase is a sheet, which gives the focus back.
await page.getByRole('link', { name: 'Builder' }).press('Enter');
await page.setViewportSize({ width: 390, height: 800 });
await page.locator('[data-phase=task]').focus();
await keys('Enter');
const sheet = page.getByRole('dialog', { name: 'Check the order' });
await sheet.getByLabel('Title of the task').waitFor();
await b.sound('builder-sheet');
await keys('Escape');
await sheet.waitFor({ state: 'detached' });
await focused(/^Check the order/);
await page.setViewportSize({ width: 1280, height: 900 });

// Outcomes and ids are named in the form: what asks for them follows. With 200 phases too, each press is answered at once: it takes a few
// milliseconds, so that half of the presses within a tenth of a second is a bound that a busy machine keeps.
const ids = Array.from({ length: 198 }, (_x, i) => `p${i + 1}`);
const line = ['start', ...ids, 'end'];
const many = await rest('POST', '/workflows', { name: 'Two hundred in a row', definition: {
  phases: [{ id: 'start', type: 'START' }, ...ids.map((x) => (x === 'p2' ? { id: x, type: 'DECISION', config: { rules: [{ when: 'phases.p1.outcome == "next"', transition: 'sent' }], default: 'next' } } : { id: x, type: 'PROCESS', name: `Phase ${x}` })), { id: 'end', type: 'END' }],
  transitions: [...line.slice(1).map((to, i) => ({ from: line[i], name: 'next', to })), { from: 'p2', name: 'sent', to: 'p3' }],
} });
await page.goto(new URL(`/app/workflows/${many.id}`, page.url()).href);
await page.locator('[data-phase=p1]').focus();
await keys('Enter');
await side.getByRole('textbox', { name: 'Outcome', exact: true }).fill('Sent');
await keys('Enter');
await side.getByRole('button', { name: 'Add outcome' }).press('Enter');
await side.getByRole('textbox', { name: 'Outcome', exact: true }).nth(1).and(page.locator(':focus')).waitFor();
await page.keyboard.type('Sent');
await keys('Enter');
await side.getByText('Another outcome has this name.').waitFor();
await keys('Control+a');
await page.keyboard.type('Back');
await keys('Enter');
await side.getByText('Advanced').press('Enter');
await side.getByRole('textbox', { name: 'Name in expressions' }).fill('first');
await keys('Enter');
await page.getByRole('button', { name: 'Save draft' }).press('Enter');
await page.getByText('The draft was saved.').waitFor();
const follows = await definition(many.id);
assert.deepEqual(follows.transitions.filter((w) => w.from === 'first').map((w) => `${w.name} ${w.to}`), ['Sent p2', 'Back end']);
assert.equal(follows.phases[2].config.rules[0].when, 'phases.first.outcome == "Sent"');
// Of 200 phases an arrow draws two anew, the one that is left and the one that is reached: what a press costs does not grow with them.
await page.locator('[data-phase=p20]').focus();
await page.evaluate(() => {
  globalThis.drawn = new Set();
  new MutationObserver((all) => { all.forEach((m) => { globalThis.drawn.add(m.target); }); }).observe(document.querySelector('.builder'), { attributes: true, characterData: true, childList: true, subtree: true });
});
await keys(...Array.from({ length: 20 }, () => 'ArrowDown'));
await focused(/^Phase p40/);
const drawn = await page.evaluate(() => globalThis.drawn.size);
assert.ok(drawn >= 21 && drawn <= 100, `20 presses drew ${drawn} elements`);
// How long a command takes until it could be painted is reported: the machine may be busy.
const took = await page.evaluate(async () => {
  const out = [];
  for (let i = 0; i < 60; i++) {
    const begun = performance.now();
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: i % 2 ? 'ArrowUp' : 'ArrowDown', altKey: true, bubbles: true, cancelable: true }));
    await new Promise((done) => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0); });
    document.body.getBoundingClientRect();
    out.push(performance.now() - begun);
    await new Promise((done) => { requestAnimationFrame(() => { setTimeout(done, 30); }); });
  }
  return out.sort((x, y) => x - y);
});
console.log(`console-builder: of 200 phases a command is drawn in ${took[30].toFixed(1)} ms (p50), ${took[56].toFixed(1)} ms (p95)`);

// What is no condition is judged while it is written, too: at its phase and its field, before the draft is saved. The keyboard completes it.
const keeps = await rest('POST', '/workflows', { name: 'Keep a total', definition: {
  phases: [{ id: 'start', type: 'START' }, { id: 'keep', type: 'DATA', name: 'Keep it', config: { kind: 'enrich', set: { total: '1' } } }, { id: 'end', type: 'END' }],
  transitions: [{ from: 'start', name: 'next', to: 'keep' }, { from: 'keep', name: 'next', to: 'end' }],
} });
await page.goto(new URL(`/app/workflows/${keeps.id}`, page.url()).href);
await page.locator('[data-phase=keep]').focus();
await keys('Enter');
await side.getByRole('combobox', { name: /^Kind of/ }).selectOption({ label: 'Expression' });
const code = side.locator('.cel-area textarea');
await code.focus();
await keys('Control+a');
await page.keyboard.type('request.titel');
const problems = page.getByRole('region', { name: 'Problems' });
await problems.getByRole('button', { name: /^Keep it: .*undefined field 'titel'/ }).waitFor();
await b.sound('builder-judged');
await code.focus();
await keys('Control+a');
await page.keyboard.type('size(request.tit');
await side.getByRole('listbox', { name: 'What can be written here' }).getByRole('option', { name: /^request\.title/ }).and(page.locator('[aria-selected=true]')).waitFor();
await b.sound('builder-completes');
await keys('Enter');
await page.keyboard.type(')');
assert.equal(await code.inputValue(), 'size(request.title)');
await problems.waitFor({ state: 'detached' });
await keys('Control+a');
await page.keyboard.type('re');
await side.getByRole('listbox').waitFor();
await keys('Escape');
await side.getByRole('listbox').waitFor({ state: 'detached' });
assert.equal(await code.evaluate((e) => e === document.activeElement), true, 'Escape closes the list alone');
assert.deepEqual(b.faults, []);
await b.end();
console.log('console-builder: ok');
