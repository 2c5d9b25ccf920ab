// data holds the hooks by which pages read and write.
import { useCallback, useEffect, useRef, useState } from 'react';
import { createRequest, useClient, useQuery, type TypedDocumentNode } from 'urql';
import { on, tell } from './bus';
import { client } from './client';
import { faultOf, sentence, type Fault } from './fault';
import { toast } from '../ui/toast';

const fetched = new Map<string, number>();
const keyOf = (doc: unknown, variables: unknown) => `${String(doc).slice(0, 60)} ${JSON.stringify(variables)}`;

// prefetch begins to read what a page will ask for, before the page's code is there.
export function prefetch<D, V extends object>(doc: TypedDocumentNode<D, V>, variables: V): void {
  const key = keyOf(doc, variables);
  if (Date.now() - (fetched.get(key) ?? 0) < 3000) return;
  fetched.set(key, Date.now());
  void client.query(doc, variables as never, { requestPolicy: 'cache-and-network' }).toPromise();
}

// A Read is `behind` while it still shows what was asked for before.
export interface Read<D> { data: D | undefined; fault: Fault | null; behind: boolean; again: () => void }

const nothing = () => undefined;

// passes are the faults that go by. Reading again mends them.
const passes = ['connection_lost', 'unavailable', 'internal_error', 'rate_limit_exceeded'];

// useRead reads by a document, and again whenever what it shows may have become stale.
export function useRead<D, V extends object>(doc: TypedDocumentNode<D, V>, variables: V, pause = false, also: () => void = nothing): Read<D> {
  const key = keyOf(doc, variables);
  const [policy] = useState<'cache-first' | 'cache-and-network'>(() => (Date.now() - (fetched.get(key) ?? 0) < 3000 ? 'cache-first' : 'cache-and-network'));
  const [result, run] = useQuery<D, never>({ query: doc as never, variables: variables as never, pause, requestPolicy: policy });
  const again = useCallback(() => { run({ requestPolicy: 'network-only' }); also(); }, [run, also]);
  useStaleness(again, pause);
  useReconnect(again, pause);
  useEffect(() => (pause ? undefined : on('outdated', again)), [again, pause]);
  const fault = faultOf(result.error);
  const passing = fault !== null && passes.includes(fault.code);
  const behind = result.fetching && result.operation !== undefined && result.operation.key !== createRequest<unknown, object>(doc, variables).key;
  const kept = useRef<{ key: string; data: D | undefined }>({ key, data: undefined });
  if (kept.current.key !== key) kept.current = { key, data: undefined };
  if (result.data && !passing && !behind) kept.current.data = result.data;
  const missing = result.fetching && !result.data && !result.error; // a change told of a row that is read now
  const data = passing || missing ? kept.current.data ?? result.data : result.data; // what was read stands, and forms stay where somebody writes in them
  useRetry(passing && !pause && fault.code !== 'connection_lost' ? result.error : undefined, fault?.retryAfter ?? 0, again, pause); // of that, useReconnect hears
  return { data, fault, behind, again };
}

// useRetry reads again some time after a fault, later each time. Each failed try has a fault of its own. That none is there any more means
// nothing yet: what another answer brings of the same rows is shown without it.
function useRetry(failed: object | undefined, after: number, again: () => void, pause: boolean) {
  const latest = useRef(again);
  latest.current = again;
  const tries = useRef({ n: 0, at: 0 });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (!failed) return;
    const now = Date.now();
    tries.current = { n: now - tries.current.at > 2 * minute ? 0 : tries.current.n + 1, at: now };
    clearTimeout(timer.current);
    timer.current = setTimeout(() => { latest.current(); }, Math.max(after * 1000, Math.min(30_000, 2000 * 2 ** tries.current.n) * (0.75 + Math.random() / 2)));
  }, [failed, after]);
  useEffect(() => () => { clearTimeout(timer.current); }, [pause]);
}

interface Paged { edges: unknown[]; pageInfo: { hasNextPage: boolean; endCursor?: string | null } }

// pagedIn finds the list of a document that is read page by page.
function pagedIn(d: unknown): Paged | undefined {
  if (typeof d !== 'object' || d === null) return undefined;
  if ('pageInfo' in d) return d as Paged;
  for (const v of Object.values(d)) {
    const found = pagedIn(v);
    if (found) return found;
  }
  return undefined;
}

// usePages reads a list page by page, from the first one: `next` reads on, and the cache joins what follows on each other. All pages
// are read again together. Where one ahead has changed, those behind are read anew, and until then the list stays as it was.
export function usePages<D, V extends object>(doc: TypedDocumentNode<D, V>, variables: V, pause = false): Read<D> & { next: (after: string | null) => void } {
  const c = useClient();
  const key = keyOf(doc, variables);
  const kept = useRef({ key, wanted: 0, after: new Set<string>(), data: undefined as D | undefined });
  if (kept.current.key !== key) kept.current = { key, wanted: 0, after: new Set(), data: undefined };
  const k = kept.current;
  const [, draw] = useState({});
  const latest = useRef(variables);
  latest.current = variables;
  const load = useCallback((after: string, asked = false) => {
    const here = kept.current;
    here.after.add(after);
    void c.query(doc as never, { ...latest.current, after } as never, { requestPolicy: 'network-only' }).toPromise().then((r) => {
      const fault = faultOf(r.error);
      if (!fault || (!asked && passes.includes(fault.code))) return; // the list stays as it was, and is read again with its first page
      here.wanted = 0;
      draw({});
      toast({ text: sentence(fault), bad: true });
    });
  }, [c, doc]);
  const read = useRead(doc, variables, pause, useCallback(() => { kept.current.after.forEach((after) => { load(after); }); }, [load]));
  const list = pagedIn(read.data);
  const end = list?.pageInfo.hasNextPage ? list.pageInfo.endCursor : null;
  const short = list && list.edges.length < k.wanted ? end : null; // where to go on, while less is there than was shown
  useEffect(() => { if (short) load(short); }, [short, load]);
  if (!short) k.data = read.data;
  const next = (after: string | null) => {
    if (!after || !list) return;
    k.wanted = list.edges.length + 1;
    load(after, true);
  };
  return { ...read, data: short && (pagedIn(k.data)?.edges.length ?? 0) > (list?.edges.length ?? 0) ? k.data : read.data, next };
}

const minute = 60_000;

// useStaleness reads again when somebody comes back to a page that was away for a minute: a policy may have hidden rows since.
function useStaleness(again: () => void, pause: boolean) {
  const left = useRef(0);
  useEffect(() => {
    if (pause) return undefined;
    const seen = () => {
      if (globalThis.document.hidden) left.current = Date.now();
      else if (left.current > 0 && Date.now() - left.current > minute) again();
    };
    globalThis.document.addEventListener('visibilitychange', seen);
    return () => { globalThis.document.removeEventListener('visibilitychange', seen); };
  }, [again, pause]);
}

// useReconnect reads again once the connection is back: what happened meanwhile was told to nobody here. Not all pages at once.
function useReconnect(again: () => void, pause: boolean) {
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => {
    if (pause) return undefined;
    let lost = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const off = on('connection', ({ state }) => {
      if (state === 'live' && lost) {
        clearTimeout(timer); // once for all streams that come back together
        timer = setTimeout(() => { latest.current(); }, Math.random() * 800);
      }
      lost = state === 'lost';
    });
    return () => { off(); clearTimeout(timer); };
  }, [pause]);
}

// useOnward reads on from the end of what was read, as long as there is one.
export function useOnward(end: string | null | undefined, next: (after: string | null) => void): void {
  const latest = useRef(next);
  latest.current = next;
  useEffect(() => { if (end) latest.current(end); }, [end]);
}

// useAll reads all pages of a list that people choose from.
export function useAll<D, V extends object>(doc: TypedDocumentNode<D, V>, variables: V, pause = false): Read<D> {
  const read = usePages(doc, variables, pause);
  const page = pagedIn(read.data)?.pageInfo;
  useOnward(page?.hasNextPage ? page.endCursor : null, read.next);
  return read;
}

// useRest reads on from a list's first page, which another document brings. The cache joins what follows to it.
export function useRest<D, V extends object>(doc: TypedDocumentNode<D, V>, variables: Omit<V, 'after'>, page: Paged['pageInfo'] | undefined): void {
  const c = useClient();
  useOnward(page?.hasNextPage ? page.endCursor : null, (after) => { void c.query(doc as never, { ...variables, after } as never).toPromise(); });
}

export interface Outcome<D> { data: D | undefined; fault: Fault | null }

// useWrite returns what runs a mutation. Without `quiet` a refusal is said in a toast as well.
export function useWrite<D, V extends object>(doc: TypedDocumentNode<D, V>, quiet = false): [(variables: V) => Promise<Outcome<D>>, boolean] {
  const c = useClient();
  const [busy, setBusy] = useState(false);
  const run = useCallback(async (variables: V) => {
    setBusy(true);
    const result = await c.mutation(doc as never, variables as never).toPromise();
    setBusy(false);
    const fault = faultOf(result.error);
    if (fault?.code === 'precondition_failed') tell('outdated', null);
    if (fault && !quiet) toast({ text: sentence(fault), bad: true });
    return { data: fault ? undefined : result.data as D, fault };
  }, [c, doc, quiet]);
  return [run, busy];
}

// rows are the nodes of a connection.
export function rows<N>(c: { edges: { node: N }[] } | null | undefined): N[] {
  return c?.edges.map((e) => e.node) ?? [];
}
