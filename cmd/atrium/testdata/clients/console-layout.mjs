// Nothing that a person has begun to read moves while a page of the console comes in: its cumulative layout shift is at most 0.05, on a
// wide screen and on a narrow one, for an owner and for a member, in a company that has rows everywhere. No page is wider than the
// screen then, what can be pressed is 24 pixels high and wide, and the lists have room for 21 rows. It is so in German, whose words are
// longer, on half of them. A page is loaded on the wide screen, and come to from the one before on the narrow one, which takes a fifth of
// the time.
import assert from 'node:assert/strict';
import { arrive, join } from './console-browser.mjs';
import { fill } from './console-company.mjs';

const { api, demo, owner, member, ids: filled } = JSON.parse(process.env.ATRIUM_TEST);
const most = 0.05;
const rows = 21; // of 36 pixels, at least, into 900 pixels of height, with all that stands above them

if (member.link) await join(member);
const ids = filled ?? await fill();
const everybodys = ['', 'catalogue', `catalogue/${demo.offeringId}`, 'my-requests', `requests/${ids.request}`, 'tasks', 'services', `services/${demo.serviceId}`, 'notifications', 'settings', 'nowhere'];
const owners = [
  'inbox', 'requests', 'requests?view=board', 'requests/import', 'services/packs', 'services/packs?pack=customer-support', 'workflows', `workflows/${ids.workflow}`, 'executions', `executions/${ids.execution}`, 'routing', 'calendars', 'schedules', 'schedules/new', `schedules/${ids.schedule}`, `schedules/${ids.schedule}/edit`, 'agents', `agents/${ids.agent}`,
  'runs', `runs/${ids.run}`, 'proposals', 'people', 'organizations', 'keys', 'service-accounts', 'oauth-clients', 'webhooks', `webhooks/${ids.webhook}`, `inbound-webhooks/${ids.inbound}`, 'policies', 'secrets',
  'mail', 'mailboxes', `mailboxes/${ids.mailbox}`,
  'credits', 'plan', 'audit', 'figures', 'figures?period=7d', 'figures?period=last_month&by=team&priority=HIGH',
];

// shifts are what moved since the page was loaded, the most first, each with the places that it moved from and to.
const watch = () => {
  globalThis.shifts = [];
  const box = (r) => [r.x, r.y, r.width, r.height].map(Math.round).join(' ');
  const name = (n) => (n instanceof Element ? n : n?.parentElement)?.closest('[class], section, main')?.outerHTML.slice(0, 90) ?? String(n?.nodeName);
  new PerformanceObserver((list) => {
    for (const e of list.getEntries()) {
      globalThis.shifts.push({ by: e.value, what: e.sources.slice(0, 3).map((s) => `${name(s.node)}: ${box(s.previousRect)} -> ${box(s.currentRect)}`) });
    }
  }).observe({ type: 'layout-shift', buffered: true });
};

// late makes answers come one after the other, what was asked for first the last: so what stands on top of a page is there after what is
// below it. They are held until all that was asked for is there and two frames have asked for no more, so that the page without them was
// seen; then one comes at a time, and is drawn before the next. It waits within the page: a browser whose calls are intercepted keeps no
// script, and compiles all of them for each page.
const late = () => {
  const real = globalThis.fetch;
  const held = []; // what ends the wait of each answer that is there, in the order in which they were asked for
  Object.assign(globalThis, { asked: 0, unanswered: 0 });
  const frames = async (n) => { for (; n > 0; n--) await new Promise((drawn) => { requestAnimationFrame(drawn); }); };
  globalThis.still = async (n) => { // waits for n frames in a row in which nothing is unanswered and nothing is asked for
    for (let quiet = 0, before; quiet < n; quiet = before === globalThis.asked && globalThis.unanswered === 0 ? quiet + 1 : 0) {
      before = globalThis.asked;
      await frames(1);
    }
  };
  let releasing = false;
  const release = async () => {
    if (releasing) return;
    releasing = true;
    while (globalThis.unanswered > 0) {
      const before = globalThis.asked;
      await frames(2);
      if (before !== globalThis.asked || held.filter(Boolean).length < globalThis.unanswered) continue;
      const last = held.findLastIndex(Boolean);
      held[last]();
      held[last] = undefined;
      globalThis.unanswered--;
    }
    releasing = false;
  };
  globalThis.fetch = async (to, options) => {
    if (!String(to).endsWith('/graphql') || new Headers(options?.headers).get('accept')?.includes('event-stream')) return real(to, options);
    const turn = held.push(undefined) - 1;
    globalThis.asked++;
    globalThis.unanswered++;
    void release();
    try {
      return await real(to, options);
    } finally {
      await new Promise((come) => { held[turn] = come; });
    }
  };
};

const faults = [];
let worst = 0;
for (const [who, person, paths] of [['owner', owner, [...everybodys, ...owners]], ['member', member, everybodys]]) {
  const b = await arrive(person, 'catalogue');
  await b.context.addInitScript(watch);
  await b.context.addInitScript(late);
  for (const width of [1280, 390]) {
    const language = (who === 'owner') === (width === 390) ? 'de' : 'en';
    await b.context.addInitScript((tag) => { Object.defineProperty(navigator, 'languages', { configurable: true, get: () => [tag] }); }, language);
    await b.page.setViewportSize({ width, height: 860 });
    for (const path of process.env.ONLY?.split(',') ?? paths) {
      if (width === 1280 || path === '') await b.page.goto(`${api}/app/${path}`);
      else {
        await b.page.evaluate(() => { globalThis.shifts = []; });
        await b.go(path, /./);
      }
      await b.page.locator('main h1').waitFor();
      await b.page.evaluate(() => globalThis.still(4));
      await b.page.locator('.skeleton').first().waitFor({ state: 'detached' });
      assert.equal(await b.page.evaluate(() => document.documentElement.lang), language);
      const found = await b.page.evaluate(() => globalThis.shifts);
      const sum = found.reduce((n, s) => n + s.by, 0);
      worst = Math.max(worst, sum);
      const small = await b.page.evaluate(async () => (await globalThis.axe.run({ runOnly: ['target-size'], resultTypes: ['violations'], selectors: false })).violations.flatMap((v) => v.nodes.map((n) => n.html)));
      const over = await b.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      const where = `${who} at ${width}: /app/${path}`;
      faults.push(...small.map((html) => `${where}: too small to press: ${html}`), ...(over > 0 ? [`${where} scrolls ${over} pixels into nothing`] : []));
      const fit = await b.page.evaluate(() => { const r = document.querySelector('#main [data-row]')?.getBoundingClientRect(); return r && Math.floor((900 - r.top) / r.height); });
      if (width === 1280 && ['inbox', 'requests'].includes(path) && who === 'owner' && !(fit >= rows)) faults.push(`${where}: ${fit} rows fit into 900 pixels`);
      if (process.env.TELL) console.log(`${who} ${width} ${path}: ${sum.toFixed(3)}`);
      if (sum > most) faults.push(`${where} moves by ${sum.toFixed(3)}`, ...found.sort((x, y) => y.by - x.by).slice(0, 3).map((s) => `  ${s.by.toFixed(3)} ${s.what.join('\n        ')}`));
    }
  }
  await b.end();
}
assert.equal(faults.length, 0, faults.join('\n'));
console.log(`the most that a page moved: ${worst.toFixed(3)}`);
console.log('console-layout: ok');
