// draft keeps what somebody has begun to write: over a reload, a sign-in, a closed page, and a change of the row by somebody else.
// Values that are shown once or are secret are never kept this way.
import { useCallback, useEffect, useState } from 'react';
import { useViewer } from '../app/session';

let whose = ''; // drafts stay with whoever wrote them, also when somebody else signs in in this tab
const nameOf = (key: string) => `draft:${whose}:${key}`;

interface Kept<T> { draft: Partial<T>; etag: string }

function keptAt<T>(name: string): Kept<T> | null {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null') as Kept<T> | null;
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
}

// useDraft returns what was written, what writes it, what forgets it once it is saved, and the row of the tag that it was begun on.
export function useDraft<T>(key: string, initial: T, etag = ''): [T, (v: T | ((was: T) => T)) => void, () => void, Base] {
  whose = useViewer().id;
  const name = nameOf(key);
  const [begun] = useState(() => keptAt<T>(name));
  const [value, set] = useState<T>(begun ? { ...initial, ...begun.draft } : initial);
  const [base, setBase] = useState<string | null>(begun?.etag ?? null); // null while nothing was written
  const [all, setAll] = useState(false);
  useEffect(() => {
    if (base === null) return;
    try {
      sessionStorage.setItem(name, JSON.stringify({ draft: value, etag: base } as Kept<T>));
    } catch { /* a full store keeps nothing: the form goes on */ }
  }, [name, value, base]);
  const change = useCallback((v: T | ((was: T) => T)) => { setBase((was) => was ?? etag); set(v); }, [etag]);
  const forget = useCallback(() => { setBase(null); setAll(false); sessionStorage.removeItem(name); }, [name]);
  const on = base ?? etag;
  return [value, change, forget, {
    match: on && !all ? { ifMatch: on } : {}, outdated: on !== etag, kept: all, keep: () => { setAll(true); },
  }];
}

// hasDraft reports whether something was begun.
export const hasDraft = (key: string) => sessionStorage.getItem(nameOf(key)) !== null;
