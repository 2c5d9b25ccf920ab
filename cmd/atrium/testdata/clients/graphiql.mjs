// An operator with a real browser and GraphiQL on the admin listener.
import assert from 'node:assert/strict';
import { open, shot } from './chromium.mjs';

const { api, admin, token, company, request } = JSON.parse(process.env.ATRIUM_TEST);

// file files a request, as the same person.
async function file(title) {
  const res = await fetch(`${api}/v1/requests`, {
    method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: JSON.stringify({ ...request, title }),
  });
  assert.equal(res.status, 201, await res.text());
}

for (const colorScheme of ['light', 'dark']) {
  const b = await open(api, { colorScheme, viewport: { width: 1280, height: 800 } });
  const { page } = b;
  const sent = [];
  page.on('request', (r) => sent.push(r));
  // A cookie of the product's host, of whatever port, is not sent along.
  await b.context.addCookies([{ name: 'any', value: 'x', url: admin }]);
  await page.goto(`${admin}/graphiql`);

  // Without a credential it says what is missing, and asks nobody.
  const result = page.locator('.result-window');
  await result.getByText('Paste a credential').waitFor();
  await shot(page, `graphiql-${colorScheme}-1-empty`);
  assert.ok(!sent.some((r) => r.url().endsWith('/graphql')));

  // The credential goes into the headers; the schema is read with it.
  const write = async (label, text) => {
    await page.getByLabel(label, { exact: true }).locator('.graphiql-editor:not(.hidden) .CodeMirror').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  };
  await write('Headers', JSON.stringify({ Authorization: `Bearer ${token}` }));
  await result.getByText('Paste a credential').waitFor({ state: 'detached' });

  await write('Query Editor', '{ viewer { email company { id limits { queryCost } } } }');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await result.getByText(company).waitFor();
  assert.match(await result.innerText(), /"queryCost": 20000/);
  await shot(page, `graphiql-${colorScheme}-2-result`);

  // The documentation is the schema's.
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  const docs = page.locator('.graphiql-plugin');
  await docs.getByText('Query', { exact: true }).first().click();
  await docs.getByText('Who is calling.').waitFor();
  await shot(page, `graphiql-${colorScheme}-3-docs`);

  // A subscription goes on until it is stopped.
  await write('Query Editor', 'subscription { requestChanged { change request { title } } }');
  const opened = page.waitForResponse((r) => r.headers()['content-type']?.startsWith('text/event-stream'));
  await page.getByRole('button', { name: 'Execute query' }).click();
  await opened;
  for (const title of [`first in ${colorScheme}`, `second in ${colorScheme}`]) {
    await file(title);
    await result.getByText(title).waitFor();
  }
  await page.getByRole('button', { name: 'Stop query' }).click();

  // What is refused is shown as it was answered.
  await write('Query Editor', '{ service(id: "svc_nobody") { id } }');
  await page.getByRole('button', { name: 'Execute query' }).click();
  await result.getByText('not_found').waitFor();

  // Dialogs come with style sheets that scripts make.
  for (const dialog of ['settings', 'short keys']) {
    await page.getByRole('button', { name: `Open ${dialog} dialog` }).click();
    await page.getByRole('dialog').waitFor();
    await shot(page, `graphiql-${colorScheme}-4-${dialog}`);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }

  for (const r of sent) {
    assert.ok(r.url().startsWith(admin) || r.url().startsWith('data:'), `it loads ${r.url()}`);
    if (r.url().endsWith('/graphql')) assert.equal((await r.allHeaders()).cookie, undefined);
  }
  // A reload has forgotten everything.
  assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
  await page.reload();
  await result.getByText('Paste a credential').waitFor();
  assert.deepEqual(b.faults, []);
  await b.close();
}
console.log('graphiql: ok');
