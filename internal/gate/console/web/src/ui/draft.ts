// draft keeps what somebody has begun to write: over a reload, a sign-in, a closed page, and a change of the row by somebody else.
// Values that are shown once or are secret are never kept this way.
import { useEffect, useState } from 'react';
import { parse } from '../app/digits';
import { useViewer } from '../app/session';

let whose = ''; // drafts stay with whoever wrote them, also when somebody else signs in in this tab
const nameOf = (key: string) => `draft:${whose}:${key}`;

interface Kept<T> { draft: Partial<T>; etag: string }

function keptAt<T>(name: string): Kept<T> | null {
  try {
    return parse(sessionStorage.getItem(name) ?? 'null') as Kept<T> | null;
  } catch {
    return null;
  }
}

// Base is the row that a draft was begun on.
export interface Base {
  match: { ifMatch?: string }; // what a change by the draft is held against
  outdated: boolean; // the row is another one by now
  kept: boolean; // the person wants what was written all the same
  keep: () => void;
  restored: boolean; // it was begun before the form was opened
  discard: () => void; // what was written goes, and the row stands there
}

interface Written<T> { draft: T; etag: string; restored: boolean; kept: boolean }

// useDraft returns what was written, what writes it, what forgets it once it is saved, and the row of the tag that it was begun on. While
// nothing is written it follows the row, so that nobody writes on one that is no more.
export function useDraft<T>(key: string, initial: T, etag = ''): [T, (v: T | ((was: T) => T)) => void, () => void, Base] {
  whose = useViewer().id;
  const name = nameOf(key);
  const [written, write] = useState<Written<T> | null>(() => {
    const begun = keptAt<T>(name);
    return begun && { draft: { ...initial, ...begun.draft }, etag: begun.etag, restored: true, kept: false };
  });
  useEffect(() => {
    try {
      if (written) sessionStorage.setItem(name, JSON.stringify({ draft: written.draft, etag: written.etag } satisfies Kept<T>));
      else sessionStorage.removeItem(name);
    } catch { /* a full store keeps nothing: the form goes on */ }
  }, [name, written]);
  const begin = (was: Written<T> | null): Written<T> => was ?? { draft: initial, etag, restored: false, kept: false };
  const change = (v: T | ((was: T) => T)) => {
    write((was) => {
      const now = begin(was);
      const draft = typeof v === 'function' ? (v as (was: T) => T)(now.draft) : v;
      return now.etag === etag && JSON.stringify(draft) === JSON.stringify(initial) ? null : { ...now, draft }; // what says nothing else is no draft
    });
  };
  const forget = () => { write(null); sessionStorage.removeItem(name); };
  const { draft, etag: on, restored, kept } = begin(written);
  return [draft, change, forget, {
    match: on && !kept ? { ifMatch: on } : {}, outdated: on !== etag, kept, keep: () => { write((was) => ({ ...begin(was), kept: true })); },
    restored, discard: forget,
  }];
}

// hasDraft reports whether something was begun.
export const hasDraft = (key: string) => sessionStorage.getItem(nameOf(key)) !== null;
