// live keeps one stream of changed requests open for the tab. The cache writes each change into every place that shows the row;
// pages hear of new rows here.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useSubscription, type TypedDocumentNode } from 'urql';
import { pipe, subscribe } from 'wonka';
import { NoticeAdded, RequestChanged, ViewerOf } from '../gen/documents';
import type { RequestRowFragment } from '../gen/types';
import { on } from './bus';
import { client } from './client';
import { noted } from './shared';

type Change = { change: 'CREATED' | 'UPDATED'; request: RequestRowFragment };
const listeners = new Set<(c: Change) => void>();

// useLive opens the streams while the shell is shown, and opens them anew when the server ends them.
export function useLive(): void {
  useEffect(() => {
    let ended = false;
    let waits = 0;
    const stops: (() => void)[] = [];
    const open = (doc: never, each: (data: never) => void) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      let refused = false;
      const begin = () => {
        if (ended) return;
        const { unsubscribe } = pipe(client.subscription(doc, {} as never), subscribe((r) => {
          if (r.data) {
            waits = 0;
            refused = false;
            each(r.data as never);
          }
          if (r.error || !r.hasNext) { // the server has ended it: it says when to come back by refusing
            const code = r.error?.graphQLErrors[0]?.extensions?.['code'];
            noted('lost'); // what happens until it is open again is told to nobody: pages read again then
            unsubscribe();
            if (code === 'forbidden' && !refused) { // the person's rights are others now: the page is drawn anew by them
              refused = true;
              void client.query(ViewerOf, {}, { requestPolicy: 'network-only' }).toPromise();
            } else if (code === 'forbidden') {
              noted('live');
              return;
            }
            timer = setTimeout(begin, Math.min(30_000, 1000 * 2 ** waits++));
          }
        }));
        stops.push(() => { unsubscribe(); clearTimeout(timer); });
      };
      begin();
    };
    open(RequestChanged as never, ({ requestChanged }: { requestChanged: Change }) => { listeners.forEach((l) => { l(requestChanged); }); });
    open(NoticeAdded as never, () => undefined);
    return () => {
      ended = true;
      stops.forEach((s) => { s(); });
    };
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

// useSoon returns what runs something a moment later, once for many calls.
export function useSoon(run: () => void, ms = 700): () => void {
  const latest = useRef(run);
  latest.current = run;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => { clearTimeout(timer.current); }, []);
  return useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => { latest.current(); }, ms);
  }, [ms]);
}

// useTold runs something a moment after a subscription has told of a change, once for many changes.
export function useTold<D, V extends object>(doc: TypedDocumentNode<D, V>, variables: V, run: () => void, pause = false): void {
  const soon = useSoon(run);
  useSubscription({ query: doc as never, variables: variables as never, pause }, (_was: unknown, now: unknown) => {
    soon();
    return now;
  });
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

// useOpening reads again when the tab's stream opens for the first time: between the first read and that moment nothing was told.
let opened = false;
export function useOpening(again: () => void): void {
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => (opened ? undefined : on('connection', ({ state }) => {
    if (state === 'live' && !opened) {
      opened = true;
      latest.current();
    }
  })), []);
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
