// Chromium for tests: it trusts the server's certificate, which takes a profile of its own and the certificate's key.
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { chromium } from 'playwright-core';

// Without a GPU Chromium emulates one, which takes a fifth of the processor's time: pages are drawn without it.
const drawnBySoftware = ['--disable-gpu', '--disable-software-rasterizer'];

// What a script fails of is told with what its pages show then: a failure that comes once in fifty runs is not seen twice.
const opened = new Set();
process.once('uncaughtException', async (fault) => {
  console.error(fault);
  for (const page of opened) {
    const shows = await page.evaluate(() => {
      const { activeElement: at, body } = document;
      return [at?.outerHTML.slice(0, 200), ...[...document.querySelectorAll('dialog[open]')].map((d) => `dialog: ${d.innerText}`), (document.querySelector('main') ?? body).innerText.slice(0, 3000)].join('\n');
    }).catch(String);
    console.error(`${page.url()} has the focus at ${shows}`);
  }
  process.exit(1);
});

// open starts a browser without any cookie. Its close removes what it kept. faults holds what the page's policy refused
// and what its scripts threw.
export async function open(origin, options = {}) {
  const profile = await mkdtemp(join(tmpdir(), 'atrium-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM, headless: true,
    args: ['--no-sandbox', ...drawnBySoftware, `--ignore-certificate-errors-spki-list=${await spki(origin)}`], ...options,
  });
  context.setDefaultTimeout(20_000);
  const faults = [];
  const watch = (page) => {
    page.on('console', (m) => m.type() === 'error' && /Content Security Policy|Refused to/.test(m.text()) && faults.push(m.text()));
    page.on('pageerror', (e) => faults.push(String(e)));
  };
  context.pages().forEach(watch);
  context.on('page', watch);
  const page = context.pages()[0] ?? await context.newPage();
  opened.add(page);
  return {
    context, page, faults,
    close: async () => {
      opened.delete(page);
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

// spki returns the hash by which Chromium knows the key of the server's certificate.
function spki(origin) {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: hostname, port, servername: hostname, rejectUnauthorized: false }, () => {
      const cert = new X509Certificate(socket.getPeerCertificate().raw);
      socket.end();
      resolve(createHash('sha256').update(cert.publicKey.export({ type: 'spki', format: 'der' })).digest('base64'));
    });
    socket.on('error', reject);
  });
}

// shot keeps a picture of the page where SHOTS names a folder for them.
export async function shot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true });
}
