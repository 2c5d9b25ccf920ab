// Files that mean harm are refused by name, or harmless: whoever opens, embeds or imports one in Chromium runs nothing of it, by the server's
// headers alone, on a page of the same site that has no policy of its own. Names are shown as text. Files of others, removed files and
// links of whoever has signed out lead nowhere.
import assert from 'node:assert/strict';
import { crc32, deflateSync } from 'node:zlib';
import { arrive, file, rest, until } from './console-browser.mjs';

const { api, liveKey, otherKey, owner } = JSON.parse(process.env.ATRIUM_TEST);
const request = await file('Files that mean harm');
const more = await file('More files that mean harm'); // a request has twenty at most
const content = (id) => `${api}/v1/attachments/${id}/content`;
const asKey = (url, key, init = {}) => fetch(url, { ...init, headers: { 'x-api-key': key, ...init.headers } });

// attach announces a file at the request, and sends its bytes to where the answer says.
const attach = async (name, bytes, requestId = request.id, key = liveKey) => {
  const to = requestId ? { requestId } : { draft: true };
  const made = await rest('POST', '/attachments', { ...to, name, size: bytes.length }, key);
  assert.equal(made.uploadUrl, content(made.id));
  const sent = await asKey(made.uploadUrl, key, { method: 'PUT', body: bytes });
  assert.equal(sent.status, 200, await sent.text());
  return { name, ...(await rest('GET', `/attachments/${made.id}`, undefined, key)) };
};

// Names that lead elsewhere, or do not show what they are, are refused.
for (const name of ['../../etc/passwd', '..\\..\\boot.ini', '/etc/passwd', 'a/b.txt', '..', 'invoice\u202Efdp.exe', '\u2067x.txt', 'a\u0000.txt', 'a\r\nSet-Cookie: x=1.txt', '\u007F.txt', ' ']) {
  const res = await asKey(`${api}/v1/attachments`, liveKey, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ requestId: request.id, name, size: 1 }) });
  const refused = await res.json();
  assert.deepEqual([res.status, refused.details?.[0]?.field], [400, 'name'], `${JSON.stringify(name)}: ${JSON.stringify(refused)}`);
}

// chunk is a part of a PNG file, and png one of a size that is all black.
const chunk = (type, data) => {
  const body = Buffer.concat([Buffer.from(type), data]);
  const out = Buffer.alloc(8 + body.length);
  out.writeUInt32BE(data.length);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), 4 + body.length);
  return out;
};
const png = (width, height, more = Buffer.alloc(0)) => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head[8] = 1; // bit a pixel, gray
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height), { level: 9 })), chunk('IEND', Buffer.alloc(0)), more]);
};
const runs = (from) => `fetch('/ran?${from}');try{top.ran='${from}'}catch{}`;
const html = (from) => `<!doctype html><script>${runs(from)}</script><img src=x onerror="${runs(from)}"><meta http-equiv=refresh content="0;url=/ran?${from}">`;
const bombs = { 'bomb.png': png(20_000, 20_000), 'wide.png': png(100_000, 1) };
const harm = {
  'page.html': html('html'), 'page.xhtml': `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${runs('xhtml')}</script></html>`,
  'picture.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload="${runs('svg')}"><script>${runs('svg')}</script></svg>`,
  'sheet.xml': `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#x"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">${runs('xml')}</x:script>`,
  'code.js': runs('js'), 'code.txt': runs('txt'), 'module.mjs': `export default 1;${runs('mjs')}`, 'style.css': '@import "/ran?css";body{background:url(/ran?css)}',
  'both.gif': Buffer.concat([Buffer.from('GIF89a=1;/*'), Buffer.alloc(20), Buffer.from(`*/;${runs('gif')}//${html('gif')}`)]),
  'both.png': png(8, 8, Buffer.from(html('png'))), 'both.jpg': Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.from(`/*${html('jpg')}*/=1;${runs('jpg')}`)]),
  'both.pdf': `%PDF-1.7\n${html('pdf')}\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.launchURL("${api}/ran?pdf"))>>>>endobj\ntrailer<</Root 1 0 R>>`,
  'utf16.txt': Buffer.from(`\ufeff${html('utf16')}`, 'utf16le'), 'utf7.txt': '+ADw-script+AD4-fetch(\'/ran?utf7\')+ADw-/script+AD4-',
  'archive.mht': `MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${html('mht')}`, 'link.url': `[InternetShortcut]\r\nURL=javascript:${runs('url')}\r\n`,
  '<img src=x onerror=top.ran=1>.txt': 'Its name is a tag.', '";filename=x.html;x=".txt': 'Its name has quotes.', 'naïve – 説明.html': html('name'), ...bombs,
};
const files = [];
for (const [name, bytes] of Object.entries(harm)) files.push(await attach(name, Buffer.from(bytes), files.length < 20 ? request.id : more.id));

// Each goes out as a download that no browser guesses about.
const inline = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf', 'text/plain; charset=utf-8', 'application/octet-stream'];
for (const f of files) {
  const res = await asKey(content(f.id), liveKey);
  assert.equal(res.status, 200, f.name);
  assert.ok(inline.includes(res.headers.get('content-type')), `${f.name}: ${res.headers.get('content-type')}`);
  assert.match(res.headers.get('content-disposition'), /^attachment; ?filename/, f.name);
  assert.deepEqual(['x-content-type-options', 'content-security-policy', 'cross-origin-resource-policy'].map((h) => res.headers.get(h)), ['nosniff', "sandbox; default-src 'none'", 'same-origin'], f.name);
  assert.equal((await res.arrayBuffer()).byteLength, f.size, f.name);
}

// A picture that would be huge has no preview, at once.
for (const name of Object.keys(bombs)) {
  const began = Date.now();
  const { id, width } = files.find((f) => f.name === name);
  assert.deepEqual([(await asKey(`${api}/v1/attachments/${id}/preview`, liveKey)).status, width], [404, null], name);
  assert.ok(Date.now() - began < 5000, name);
}

// What Chromium does with them, signed in. Downloads are how it takes what it does not show.
const b = await arrive(owner, `requests/${request.id}`, { locale: 'en-US', timezoneId: 'Europe/Berlin', acceptDownloads: true });
const { context, page } = b;
const ran = [];
context.on('request', (r) => { if (new URL(r.url()).pathname === '/ran') ran.push(r.url()); });
const main = page.getByRole('main');
for (const [at, title, some] of [[request, 'Files that mean harm', files.slice(0, 20)], [more, 'More files that mean harm', files.slice(20)]]) {
  await b.go(`requests/${at.id}`, title);
  for (const { name } of some) await main.getByText(name, { exact: true }).first().waitFor();
  assert.equal(await main.locator('img[src="x"]').count(), 0, 'names are text');
  assert.deepEqual(await main.locator('.files img, img[src*="/preview"]').evaluateAll((all) => all.filter((i) => i.complete && i.naturalWidth === 0).map((i) => i.alt)), [], 'pictures without a preview are names');
  await b.sound('files');
}

const lure = await context.newPage();
await lure.route(`${api}/lure`, (r) => r.fulfill({ contentType: 'text/html', body: '<!doctype html><title>lure</title><body></body>' }));
const downloads = [];
context.on('page', (p) => p.on('download', (d) => downloads.push(d)));
lure.on('download', (d) => downloads.push(d));
for (const f of files) {
  await lure.goto(content(f.id)).catch((e) => assert.match(String(e), /Download is starting|ERR_ABORTED/, f.name));
  await until(`${f.name} is downloaded`, () => downloads.length === 1);
  const [d] = downloads.splice(0);
  assert.ok(!/[/\\\u202E]/.test(d.suggestedFilename()), d.suggestedFilename());
  await d.cancel();
}
await lure.goto(`${api}/lure`);
for (const f of files) {
  const said = await lure.evaluate(async (url) => {
    const put = (tag, set) => new Promise((done) => {
      const e = Object.assign(document.createElement(tag), set);
      e.onload = e.onerror = () => done(e);
      document.body.append(e);
      setTimeout(() => done(e), 150);
    });
    await Promise.all([
      put('iframe', { src: url }), put('iframe', { src: url, sandbox: 'allow-scripts allow-same-origin' }), put('object', { data: url }), put('object', { data: url, type: 'image/svg+xml' }),
      put('embed', { src: url }), put('embed', { src: url, type: 'text/html' }), put('img', { src: url }), put('script', { src: url }), put('script', { src: url, type: 'module' }),
      put('link', { rel: 'stylesheet', href: url }), put('video', { src: url }),
    ]);
    const tries = [() => import(url), () => new Promise((_, fail) => { new Worker(url).onerror = () => fail(new Error('worker')); setTimeout(fail, 300); }), () => navigator.serviceWorker.register(url)];
    const out = await Promise.all(tries.map((f) => f().then(() => 'ran', () => '')));
    return [...out, window.ran ?? ''].join('');
  }, content(f.id));
  assert.equal(said, '', f.name);
}
await lure.waitForTimeout(500);
assert.deepEqual(ran, [], 'nothing of any file has run');
await lure.close();

// Whoever is of another company, or asks for what was removed, is told that there is nothing; who has signed out, to sign in.
const gone = await attach('gone.txt', Buffer.from('x'), more.id);
const theirs = await attach('theirs.txt', Buffer.from('x'), null, otherKey);
await asKey(`${api}/v1/attachments/${gone.id}`, liveKey, { method: 'DELETE' });
const told = async (id, key) => {
  const res = await asKey(content(id), key);
  const { code, message } = await res.json();
  return [res.status, code, message];
};
const nothing = await told('att_01k9ye4ryzf7stj6dqnm8x2v3b', liveKey);
assert.equal(nothing[0], 404);
for (const [id, key] of [[gone.id, liveKey], [theirs.id, liveKey], [files[0].id, otherKey], ['..%2F..%2Frequests', liveKey]]) assert.deepEqual(await told(id, key), nothing);
assert.equal((await page.request.get(content(files[0].id))).status(), 200);
for (const id of [gone.id, theirs.id]) assert.equal((await page.request.get(content(id))).status(), 404);
await context.clearCookies();
assert.equal((await page.request.get(content(files[0].id))).status(), 401, 'signed out');
assert.deepEqual(b.faults.filter((f) => !/strict MIME/.test(f)), [], 'Chromium refused styles and scripts by their type, and nothing else');
assert.deepEqual(b.said, []);
await b.close();
console.log('console-files: ok');
