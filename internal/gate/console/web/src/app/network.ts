// network is the exchange that speaks to the server: one POST for a query or mutation, a stream of server-sent events for a
// subscription. It is the only place that fetches. A call that comes without a session goes to the sign-in page; one that comes too
// often waits for as long as the server says; one that needs a recent proof asks the person first.
import { CombinedError, makeResult, type Exchange, type Operation, type OperationResult } from '@urql/core';
import { createClient } from 'graphql-sse';
import { filter, make, merge, mergeMap, pipe, takeUntil } from 'wonka';
import { keepAsked } from './asked';
import { on, tell } from './bus';
import { parse } from './digits';
import { texts } from './document';
import { unproven } from './fault';
import { noted, share } from './shared';

const headers = { 'content-type': 'application/json', 'x-requested-with': 'console' };
const tabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('atrium-session') : null;
if (tabs) tabs.onmessage = (e) => { if (e.data === 'switched') location.assign('/app'); else signIn(false); };

// switched tells the other tabs, and this one, that the session works in the other company now: the live one or its sandbox.
export function switched(): void {
  tabs?.postMessage('switched');
  location.assign('/app');
}

let leaving = false;

// signIn leaves for the sign-in page and comes back to this address.
function signIn(tellOthers = true): void {
  if (leaving) return;
  leaving = true;
  if (tellOthers) tabs?.postMessage('ended');
  location.assign(`/login?returnTo=${encodeURIComponent(location.pathname + location.search)}`);
}

// proveAgain leaves for the sign-in page, which asks for the password or factor again.
function proveAgain(): void {
  keepAsked();
  location.assign(`/login?prompt=login&returnTo=${encodeURIComponent(location.pathname + location.search)}`);
}

// While calls have no answer the server is asked for something small now and then, so that the pages go on by themselves.
let down = false;

function lost(): void {
  noted('lost');
  if (down) return;
  down = true;
  const probe = (tries: number) => {
    setTimeout(() => {
      if (!down) return;
      fetch('/app/licences.txt', { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(5000) })
        .then((r) => { if (r.ok) back(); else probe(tries + 1); }, () => { probe(tries + 1); }); // a proxy answers 502 for a server that is away
    }, Math.min(15_000, 500 * 2 ** tries));
  };
  probe(0);
}

function back(): void {
  if (!down) return;
  down = false;
  noted('live');
}

// away waits for a server that does not answer; false for one that does.
export async function away(): Promise<boolean> {
  const there = await fetch('/app/licences.txt', { method: 'HEAD', cache: 'no-store' }).then((r) => r.ok, () => false);
  if (there) return false;
  lost();
  await new Promise<void>((done) => {
    const off = on('connection', ({ state }) => { if (state === 'live') { off(); done(); } });
  });
  return true;
}

// operationName is the name of a document.
export const operationName = (o: Operation): string => {
  const d = o.query.definitions.find((x) => x.kind === 'OperationDefinition');
  return d && 'name' in d ? d.name?.value ?? '' : '';
};

const pause = (ms: number, signal: AbortSignal) => new Promise<void>((done) => {
  const over = () => { clearTimeout(timer); signal.removeEventListener('abort', over); done(); };
  const timer = setTimeout(over, ms);
  signal.addEventListener('abort', over);
});

const failure = (o: Operation, networkError: Error): OperationResult =>
  ({ operation: o, data: undefined, error: new CombinedError({ networkError }), stale: false, hasNext: false });

interface Answer {
  data?: unknown;
  errors?: { path?: (string | number)[]; extensions?: { code?: string; reason?: string; retryAfter?: number } }[];
  error?: string;
  message?: string;
}

// readable leaves out the refusals of edges below a row that the caller may read, such as the person who filed it: the edge is null
// then, and the row is shown without it.
function readable(a: Answer): Answer {
  const data = a.data as Record<string, unknown> | null | undefined;
  const errors = a.errors?.filter((e) => !(e.extensions?.code === 'forbidden' && (e.path?.length ?? 0) > 1 && data?.[String(e.path?.[0])]));
  return errors && errors.length > 0 ? { ...a, errors } : { data: a.data } as Answer;
}

async function call(o: Operation, signal: AbortSignal): Promise<OperationResult | null> {
  const name = operationName(o);
  const body = JSON.stringify({ operationName: name, query: texts.get(name), variables: o.variables });
  for (let tries = 0; ; tries++) {
    const timeout = AbortSignal.timeout(30_000);
    let response: Response;
    let answer: Answer;
    try {
      response = await fetch('/graphql', { method: 'POST', headers, body, signal: AbortSignal.any([signal, timeout]), credentials: 'same-origin' });
      answer = parse(await response.text()) as Answer;
      if (response.status >= 500 && !answer.errors && !answer.error) throw new Error(response.statusText); // a proxy's own words
    } catch (e) {
      if (signal.aborted) return null;
      if (o.kind === 'query' && tries < 2) { // reading twice does no harm
        await pause(400 * 2 ** tries, signal);
        continue;
      }
      lost();
      return failure(o, e as Error);
    }
    back();
    const first = answer.errors?.[0]?.extensions;
    if (response.status === 401) {
      signIn();
      return null;
    }
    if (response.status === 429 && tries < 4) {
      const seconds = Math.max(1, Number(response.headers.get('retry-after') ?? first?.retryAfter ?? 5));
      tell('slow', { seconds });
      await pause(seconds * 1000, signal);
      if (signal.aborted) return null;
      continue;
    }
    if (unproven(first)) {
      const again = await new Promise<boolean>((done) => { tell('reauthenticate', { retry: () => { done(true); }, cancel: () => { done(false); } }); });
      if (again) {
        proveAgain();
        return null;
      }
    }
    if (!answer.errors && answer.error) { // answered by what stands in front of the door
      answer = { errors: [{ message: answer.message, extensions: { code: answer.error } } as never] };
    }
    const read = readable(answer);
    // It was refused: nothing that pages show has become stale. Of several at once, what was done counts.
    if (o.kind === 'mutation' && read.errors && !Object.values(read.data ?? {}).some((v) => v !== null)) delete read.data;
    return makeResult(o, read as never, response) as OperationResult;
  }
}

const streams = createClient({ url: '/graphql', headers, credentials: 'same-origin', retryAttempts: 0 }); // hold opens them anew

// stands are the streams of this tab that are open, and those that are lost. The connection is lost while there are such, and none is open.
const stands = new Map<AbortSignal, 'live' | 'lost'>();

function stand(stream: AbortSignal, to?: 'live' | 'lost'): void {
  const was = stands.get(stream);
  if (to) stands.set(stream, to);
  else stands.delete(stream);
  const all = [...stands.values()];
  if (to === 'lost' && !all.includes('live')) noted('lost');
  else if (to === 'live' || (was === 'lost' && !all.includes('lost') && !down)) noted('live');
}

// hold keeps a subscription open until it is closed: over a connection that is lost, and over the ends that the server gives it in order,
// as when it stops, when changes were missed, or when the person's rights are others now. A refusal ends it.
function hold(o: Operation, next: (answer: unknown) => void, end: () => void): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const name = operationName(o);
  const request = { operationName: name, query: texts.get(name) ?? '', variables: o.variables as Record<string, unknown> };
  let close = () => undefined as void;
  const once = (connected: () => void) => new Promise<unknown>((done) => {
    close = streams.subscribe(request, { next, error: done, complete: () => { done(null); } }, { connected });
  });
  const go = async () => {
    for (let tries = 0, missed = false; ; missed = true) {
      let since = Infinity;
      const error = await once(() => {
        if (signal.aborted) return;
        since = Date.now();
        down = false;
        if (missed) noted('lost'); // what happened while there was no stream is read anew
        stand(signal, 'live');
        if (!missed) tell('opened', { key: o.key });
      });
      close();
      if (signal.aborted) return;
      const response = (error as { response?: Response } | null)?.response;
      const status = response?.status ?? 0;
      if (status === 401) {
        signIn();
        return;
      }
      stand(signal, error && ![400, 403, 404, 429].includes(status) ? 'lost' : undefined);
      if ([400, 403, 404].includes(status)) {
        end();
        return;
      }
      if (Date.now() - since > 10_000) tries = 0;
      const asked = Number(response?.headers.get('retry-after')) || 10; // which may be a date
      await pause(status === 429 ? asked * 1000 * (1 + Math.random() / 4) : Math.min(15_000, 500 * 2 ** tries++) * (0.75 + Math.random() / 2), signal);
      if (signal.aborted) return;
    }
  };
  void go();
  return () => { stop.abort(); close(); stand(signal); };
}

// everywhere are the streams that each tab wants alike.
const everywhere = ['RequestChanged', 'NoticeAdded'];

function watch(o: Operation, next: (r: OperationResult) => void, done: () => void): () => void {
  const hear = (answer: unknown) => {
    const heard = readable(answer as Answer);
    const code = heard.errors?.[0]?.extensions?.code;
    if (code === 'unauthorized') signIn();
    else if (code === 'forbidden' && !('data' in heard)) tell('outdated', null); // the person's rights are others now: the page is drawn anew by them
    next(makeResult(o, heard as never) as OperationResult);
  };
  const open = (each: (answer: unknown) => void, end: () => void) => hold(o, each, end);
  return everywhere.includes(operationName(o)) ? share(operationName(o), open, hear, done) : open(hear, done);
}

export const network: Exchange = () => (operations) => {
  const ended = (o: Operation) => pipe(operations, filter((x) => x.kind === 'teardown' && x.key === o.key));
  const answered = pipe(
    operations, filter((o) => o.kind === 'query' || o.kind === 'mutation'),
    mergeMap((o) => pipe(make<OperationResult>((observer) => {
      const stop = new AbortController();
      queueMicrotask(() => { // useQuery asks once while it is drawn, takes that back, and asks again
        if (stop.signal.aborted) return;
        void call(o, stop.signal).then((r) => {
          if (r) { observer.next(r); observer.complete(); }
        });
      });
      return () => { stop.abort(); };
    }), takeUntil(ended(o)))),
  );
  const streamed = pipe(
    operations, filter((o) => o.kind === 'subscription'),
    mergeMap((o) => pipe(make<OperationResult>((observer) => watch(o, observer.next, observer.complete)), takeUntil(ended(o)))),
  );
  return merge([answered, streamed]);
};
