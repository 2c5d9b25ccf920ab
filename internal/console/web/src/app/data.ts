// data holds the hooks by which pages read and write.
import { useCallback, useEffect, useRef, useState } from 'react';
import { useClient, useQuery, type TypedDocumentNode } from 'urql';
import { on } from './bus';
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

export interface Read<D> { data: D | undefined; fault: Fault | null; waiting: boolean; again: () => void }

// useRead reads by a document, and again whenever what it shows may have become stale.
export function useRead<D, V extends object>(doc: TypedDocumentNode<D, V>, variables: V, pause = false): Read<D> {
  const key = keyOf(doc, variables);
  const [policy] = useState<'cache-first' | 'cache-and-network'>(() => (Date.now() - (fetched.get(key) ?? 0) < 3000 ? 'cache-first' : 'cache-and-network'));
  const [result, run] = useQuery<D, never>({ query: doc as never, variables: variables as never, pause, requestPolicy: policy });
  const again = useCallback(() => { run({ requestPolicy: 'network-only' }); }, [run]);
  useStaleness(again, pause);
  useReconnect(again, pause);
  const fault = faultOf(result.error);
  const kept = useRef<{ key: string; data: D | undefined }>({ key, data: undefined });
  if (result.data || kept.current.key !== key) kept.current = { key, data: result.data };
  const data = fault?.code === 'connection_lost' ? kept.current.data : result.data; // forms stay where somebody writes in them
  return { data, fault, waiting: result.fetching && !data, again };
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
      if (state === 'live' && lost) timer = setTimeout(() => { latest.current(); }, Math.random() * 800);
      lost = state === 'lost';
    });
    return () => { off(); clearTimeout(timer); };
  }, [pause]);
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
    if (fault && !quiet) toast({ text: sentence(fault), bad: true });
    return { data: fault ? undefined : result.data as D, fault };
  }, [c, doc, quiet]);
  return [run, busy];
}

export type Nodes<C> = C extends { edges: { node: infer N }[] } | null | undefined ? N[] : never;

// rows are the nodes of a connection.
export function rows<N>(c: { edges: { node: N }[] } | null | undefined): N[] {
  return c?.edges.map((e) => e.node) ?? [];
}
