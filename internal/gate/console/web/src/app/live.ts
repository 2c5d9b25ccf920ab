// live keeps one stream of changed requests open for the tab. The cache writes each change into every place that shows the row;
// pages hear of new rows here.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createRequest, type TypedDocumentNode } from 'urql';
import { pipe, subscribe } from 'wonka';
import { NoticeAdded, RequestChanged } from '../gen/documents';
import type { RequestRowFragment } from '../gen/types';
import { on } from './bus';
import { client } from './client';

type Change = { change: 'CREATED' | 'UPDATED'; request: RequestRowFragment };
const listeners = new Set<(c: Change) => void>();

// listen hears of each event of a subscription until it is stopped. The stream is held open below, whatever ends it.
function listen<D, V extends object>(doc: TypedDocumentNode<D, V>, variables: V, each: (data: D) => void): () => void {
  const { unsubscribe } = pipe(client.subscription<D>(doc as never, variables as never), subscribe((r) => { if (r.data) each(r.data); }));
  return unsubscribe;
}

// useLive opens the streams while the shell is shown.
export function useLive(): void {
  useEffect(() => {
    const stops = [
      listen(RequestChanged, {}, (data) => { listeners.forEach((l) => { l(data.requestChanged as unknown as Change); }); }),
      listen(NoticeAdded, {}, () => undefined),
    ];
    return () => { stops.forEach((s) => { s(); }); };
  }, []);
}

// useChanges hears of every change of a request that the person may see.
export function useChanges(hear: (c: Change) => void): void {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => {
    const l = (c: Change) => { latest.current(c); };
    listeners.add(l);
    return () => { listeners.delete(l); };
  }, []);
}

// useSoon returns what runs something a moment later, once for all calls until then.
export function useSoon(run: () => void, ms = 700): () => void {
  const latest = useRef(run);
  latest.current = run;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const clear = () => { clearTimeout(timer.current); timer.current = undefined; };
  useEffect(() => clear, []);
  return useCallback(() => {
    timer.current ??= setTimeout(() => { timer.current = undefined; latest.current(); }, ms);
  }, [ms]);
}

// useChangesOf runs something for each change of one request, and when the tab's stream opens after the page had begun to read.
export function useChangesOf(id: string, run: () => void, pause = false): void {
  useChanges((c) => { if (!pause && c.request.id === id) run(); });
  useOpening(() => { if (!pause) run(); });
}

// useTold runs something a moment after a subscription has told of a change, once for many changes. It does so when the stream opens,
// too: what changed after the page was read and before was told to nobody.
export function useTold<D, V extends object>(doc: TypedDocumentNode<D, V>, variables: V, run: () => void, pause = false): void {
  const soon = useSoon(run);
  const asked = JSON.stringify(variables);
  useEffect(() => {
    if (pause) return undefined;
    const watched = JSON.parse(asked) as V;
    const { key } = createRequest<unknown, object>(doc, watched);
    const off = on('opened', (o) => { if (o.key === key) soon(); });
    const stop = listen(doc, watched, soon);
    return () => { off(); stop(); };
  }, [doc, asked, soon, pause]);
}

// useCounted counts the events of a subscription until they are seen.
export function useCounted<D, V extends object>(doc: TypedDocumentNode<D, V>, variables: V, pause = false): [number, () => void] {
  const [n, set] = useState(0);
  const asked = JSON.stringify(variables);
  const seen = useCallback(() => { set(0); }, []);
  useEffect(() => {
    seen();
    return pause ? undefined : listen(doc, JSON.parse(asked) as V, () => { set((was) => was + 1); });
  }, [doc, asked, pause, seen]);
  return [n, seen];
}

// useArrivals collects requests that have come to belong in a list since it was read: filed, or changed so.
export function useArrivals(belongs: (r: RequestRowFragment, filed: boolean) => boolean): [RequestRowFragment[], () => void] {
  const [arrived, set] = useState<RequestRowFragment[]>([]);
  useEffect(() => {
    const hear = (c: Change) => {
      const here = belongs(c.request, c.change === 'CREATED');
      set((was) => (here || was.some((r) => r.id === c.request.id) ? [...(here ? [c.request] : []), ...was.filter((r) => r.id !== c.request.id)].slice(0, 200) : was));
    };
    listeners.add(hear);
    return () => { listeners.delete(hear); };
  });
  return [arrived, () => { set([]); }];
}

// useOpening reads again when the tab's stream of requests opens for the first time: between the first read and that moment nothing was told.
const changesKey = createRequest<unknown, object>(RequestChanged, {}).key;
let opened = false;
on('opened', ({ key }) => { opened ||= key === changesKey; });
export function useOpening(again: () => void): void {
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => (opened ? undefined : on('opened', ({ key }) => { if (key === changesKey) latest.current(); })), []);
}

let lost = false;
const watchers = new Set<() => void>();
on('connection', ({ state }) => {
  globalThis.document.documentElement.dataset['live'] = state;
  lost = state === 'lost';
  watchers.forEach((w) => { w(); });
});

// useLost reports whether the connection to the server is lost at the moment.
export const useLost = () => useSyncExternalStore((w) => { watchers.add(w); return () => { watchers.delete(w); }; }, () => lost);
