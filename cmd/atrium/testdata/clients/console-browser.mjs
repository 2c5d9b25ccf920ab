// What the tests of the web console share: a person's browser, held against what is true of all pages, and calls to the REST API.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { open, shot } from './chromium.mjs';

const { api, demo, liveKey } = JSON.parse(process.env.ATRIUM_TEST);
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const rest = async (method, path, body, key = liveKey) => {
  const res = await fetch(`${api}/v1${path}`, { method, headers: { 'x-api-key': key, 'content-type': 'application/json' }, ...(body ? { body: JSON.stringify(body) } : {}) });
  assert.ok(res.ok, `${method} ${path}: ${res.status}`);
  return (await res.json()).data;
};
export const file = (title) => rest('POST', '/requests', { serviceId: demo.serviceId, offeringId: demo.offeringId, title, priority: 'HIGH', fields: { model: '14 inch' } });
export const until = async (says, holds) => {
  for (let i = 0; ; i++) {
    const held = await holds();
    if (held) return held;
    assert.ok(i < 100, `it never held: ${says}`);
    await new Promise((r) => { setTimeout(r, 100); });
  }
};

// join follows an invitation to a password.
export async function join(who) {
  const joining = await open(api);
  await joining.page.goto(who.link);
  await joining.page.getByLabel('Password').fill(who.password);
  await joining.page.getByRole('button', { name: 'Continue' }).click();
  await joining.page.getByText('Your account is ready').waitFor();
  await joining.close();
}

// keyboard is what somebody does on a page who has no mouse.
export function keyboard(page) {
  const keys = async (...list) => { for (const key of list) await page.keyboard.press(key); };
  const focused = (locator) => locator.and(page.locator(':focus')).waitFor();
  // tab goes on by Tab to a control.
  const tab = async (locator) => {
    const handle = await locator.elementHandle();
    for (let i = 0; i < 80; i++) {
      if (await handle.evaluate((e) => e === document.activeElement)) return;
      await keys('Tab');
    }
    assert.fail(`${await handle.evaluate((e) => e.outerHTML)} is not reached by Tab`);
  };
  const chosen = (select) => select.evaluate((e) => e.selectedOptions[0]?.textContent ?? '');
  // pick chooses an option of a select by the arrow keys, from the first one on.
  const pick = async (select, label) => {
    await tab(select);
    await keys('Home');
    for (let i = 0; i < 60 && !(await chosen(select)).startsWith(label); i++) await keys('ArrowDown');
    await until(`${label} is chosen`, async () => (await chosen(select)).startsWith(label));
  };
  return { keys, focused, tab, chosen, pick };
}

// building is what somebody does in the builder of workflows who has no mouse. make makes a workflow and returns its id, at is a phase of the
// outline, and command runs a command of the palette, which is found by what was typed.
export function building(page) {
  const { keys, focused } = keyboard(page);
  const palette = page.getByRole('combobox', { name: 'What to add or change' });
  const make = async (name) => {
    await page.getByRole('button', { name: 'New workflow' }).press('Enter');
    await focused(page.getByRole('dialog').getByLabel('Name'));
    await page.keyboard.type(name);
    await keys('Enter');
    await page.waitForURL('**/workflows/wf_*');
    return page.url().replace(/.*\//, '');
  };
  const at = (id) => page.locator(`.outline [data-phase=${id}]`);
  const command = async (text) => {
    await keys('/');
    await focused(palette); // what is typed before goes to the page
    await page.keyboard.type(text);
    await keys('Enter');
    await palette.waitFor({ state: 'detached' });
  };
  return { palette, make, at, command };
}

// fill signs in on the sign-in page.
async function fill(page, who) {
  await page.getByLabel('E-mail address').fill(who.email);
  await page.getByLabel('Password').fill(who.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

// arrive opens a browser at a page as somebody, by way of the sign-in page. Nothing is animated: frames that nobody looks at take
// two fifths of the processor's time, and dialogs rise before they can be pressed. options.reducedMotion is null where motion is meant.
export async function arrive(who, path, options, signIn = fill) {
  const b = await open(api, { viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce', ...options });
  const said = [];
  await b.context.addInitScript(axe);
  b.page.on('console', (m) => { if (m.type() === 'error' && !/status of 401/.test(m.text())) said.push(m.text()); });
  await b.page.goto(`${api}/app/${path}`);
  await signIn(b.page, who);
  await b.page.waitForURL(`${api}/app/${path}`);
  const { page } = b;
  const shows = async (title) => {
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  };
  const load = async (to, title) => {
    await page.goto(`${api}/app/${to}`);
    await shows(title);
  };
  // go comes to a page within the application, as links do, which takes a fifth of the time that load takes; by way of the page `by`, where
  // that is given. From a page to itself there is no other way: nothing would tell the page from what it was.
  const go = async (to, title, by) => {
    const path = (p) => new URL(`${api}/app/${p}`);
    if (by === undefined && new URL(page.url()).pathname === path(to).pathname) return load(to, title);
    await page.evaluate(async (paths) => {
      const late = performance.now() + 20_000;
      const frame = () => new Promise((drawn, fail) => { performance.now() < late ? requestAnimationFrame(drawn) : fail(new Error(`${paths} does not come`)); });
      for (const next of paths) {
        let left;
        while (!(left = document.querySelector('#main'))) await frame();
        // What was said on the page before stays for some seconds, over what is pressed on the next one.
        for (const dismiss of document.querySelectorAll('.toast [aria-label=Dismiss]')) dismiss.click();
        history.pushState(null, '', next);
        while (left.isConnected) await frame();
      }
    }, [by, to].filter((p) => p !== undefined).map((p) => path(p).pathname + path(p).search));
    return shows(title);
  };
  // fits holds the page against what holds of all pages, and keeps a picture of it; sound asks axe as well.
  const fits = async (name) => {
    await shot(page, `console-${name}`);
    assert.deepEqual([await page.locator('main').count(), await page.locator('h1').count()], [1, 1], name);
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    for (let i = 0; i < 20 && await wide(); i++) await page.waitForTimeout(100); // what comes in last may still move
    assert.ok(!await wide(), `${name} is wider than the window`);
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('#main a.name')].filter((a) => {
      const text = document.createRange();
      text.selectNodeContents(a);
      const room = a.closest('[data-row], tr, li');
      return room && getComputedStyle(a).overflow !== 'hidden' && text.getBoundingClientRect().right > room.getBoundingClientRect().right + 1;
    }).map((a) => a.textContent)), [], `${name}: names stay in their rows`);
  };
  const sound = async (name, { dark = false } = {}) => {
    await fits(name);
    // The dark scheme changes colours alone, and each page is looked at in the light one as well.
    const rules = { resultTypes: ['violations'], ...dark && { runOnly: ['color-contrast', 'link-in-text-block'] } };
    const found = await page.evaluate(async (r) => (await window.axe.run(r)).violations.map((v) => `${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary}`), rules);
    assert.deepEqual(found, [], name);
  };
  const end = async () => {
    assert.deepEqual(b.faults, []);
    assert.deepEqual(said, []);
    await b.close();
  };
  return { ...b, said, go, load, fits, sound, end };
}
