// asked keeps what a page asks at the moment, such as which dialog is open, over a second sign-in. What was written in it is a draft,
// which outlives that by itself; values that are secret are in neither.
import { useEffect, useState } from 'react';
import { parse } from './digits';

const proving = 'proving';
const asks = new Map<string, unknown>();

const came = ((): Record<string, unknown> => {
  try {
    return (parse(sessionStorage.getItem(proving) ?? '{}') ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
})();

// keepAsked notes what is asked now, for whoever leaves to give a proof.
export function keepAsked(): void {
  try {
    sessionStorage.setItem(proving, JSON.stringify(Object.fromEntries(asks)));
  } catch {
    sessionStorage.setItem(proving, '{}'); // a full store keeps nothing: the page is as it is
  }
}

// proved reports, once, whether one has come back from giving a proof.
export function proved(): boolean {
  const was = sessionStorage.getItem(proving) !== null;
  sessionStorage.removeItem(proving);
  return was;
}

// useAsked is useState for what the page at this address asks, under a name of its own there; `none` is that it asks nothing. After a
// second sign-in it asks that again.
export function useAsked<T>(name: string, none: T): [T, (to: T) => void] {
  const [key] = useState(() => `${location.pathname} ${name}`);
  const [value, set] = useState<T>(() => (key in came ? came[key] as T : none));
  useEffect(() => { delete came[key]; }, [key]);
  useEffect(() => {
    if (!Object.is(value, none)) asks.set(key, value);
    return () => { asks.delete(key); };
  }, [key, value, none]);
  return [value, set];
}
