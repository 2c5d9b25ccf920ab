// bus carries what happens in the client to whichever part of the page shows it.
export interface Events {
  reauthenticate: { retry: () => void; cancel: () => void };
  slow: { seconds: number };
  outdated: null;
  connection: { state: 'live' | 'lost' };
  opened: { key: number }; // the stream of an operation, for the first time
}

type Listener<K extends keyof Events> = (event: Events[K]) => void;
const listeners: { [K in keyof Events]?: Set<Listener<K>> } = {};

export function on<K extends keyof Events>(kind: K, listener: Listener<K>): () => void {
  const set = (listeners[kind] ??= new Set() as never) as Set<Listener<K>>;
  set.add(listener);
  return () => { set.delete(listener); };
}

export function tell<K extends keyof Events>(kind: K, event: Events[K]): void {
  (listeners[kind] as Set<Listener<K>> | undefined)?.forEach((l) => { l(event); });
}
