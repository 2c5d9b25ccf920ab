// shared lets all tabs of a browser live on one stream. Whichever tab holds the lock has it open and hands each event on; when that tab
// goes, the next one opens its own. Without locks each tab has its own stream.
import { tell } from './bus';

type Message = { name: string; answer: unknown } | { state: 'live' | 'lost' } | { ask: true };
export type Open = (next: (answer: unknown) => void, done: () => void) => () => void;

export interface Tabs {
  post: (m: Message) => void;
  hear: (listener: (m: Message) => void) => () => void;
  lead: (name: string, signal: AbortSignal, lead: () => Promise<void>) => void;
}

// browser is how tabs know of each other.
function browser(): Tabs | null {
  if (!('BroadcastChannel' in globalThis) || !('locks' in (globalThis.navigator ?? {}))) return null;
  const channel = new BroadcastChannel('atrium-stream');
  return {
    post: (m) => { channel.postMessage(m); },
    hear: (listener) => {
      const l = (e: MessageEvent<Message>) => { listener(e.data); };
      channel.addEventListener('message', l);
      return () => { channel.removeEventListener('message', l); };
    },
    lead: (name, signal, lead) => { navigator.locks.request(`atrium-stream ${name}`, { signal }, lead).catch(() => undefined); },
  };
}

const here = browser();
let leads = 0;
let state: 'live' | 'lost' | '' = '';

// noted is told how the stream of this tab stands, and tells the tabs that live on it.
export function noted(to: 'live' | 'lost'): void {
  state = to;
  tell('connection', { state: to });
  if (leads > 0) here?.post({ state: to });
}

here?.hear((m) => {
  if ('ask' in m && leads > 0 && state) here.post({ state });
  if ('state' in m && leads === 0) tell('connection', { state: m.state });
});

// share opens a stream in one tab for all; what it is about is its name.
export function share(name: string, open: Open, next: (answer: unknown) => void, done: () => void, tabs: Tabs | null = here): () => void {
  if (!tabs) return open(next, done);
  const stop = new AbortController();
  let end = () => undefined as void;
  const unhear = tabs.hear((m) => { if ('name' in m && m.name === name) next(m.answer); });
  tabs.lead(name, stop.signal, () => new Promise<void>((release) => {
    leads++;
    const close = open((answer) => { next(answer); tabs.post({ name, answer }); }, () => { finish(); done(); });
    let finished = false;
    const finish = () => {
      if (finished) return;
      finished = true;
      leads--;
      release();
    };
    end = () => { close(); finish(); };
  }));
  tabs.post({ ask: true });
  return () => {
    stop.abort();
    unhear();
    end();
  };
}
