// draft keeps what somebody has begun to write: over a reload, a sign-in, a closed page. Values that are shown once or are secret
// are never kept this way.
import { useCallback, useEffect, useState } from 'react';
import { useViewer } from '../app/session';

let whose = ''; // drafts stay with whoever wrote them, also when somebody else signs in in this tab
const nameOf = (key: string) => `draft:${whose}:${key}`;

export function useDraft<T>(key: string, initial: T): [T, (v: T | ((was: T) => T)) => void, () => void] {
  whose = useViewer().id;
  const name = nameOf(key);
  const read = () => {
    try {
      const kept = sessionStorage.getItem(name);
      return kept ? { ...initial, ...JSON.parse(kept) } as T : initial;
    } catch {
      return initial;
    }
  };
  const [value, set] = useState<T>(read);
  const [written, setWritten] = useState(false);
  useEffect(() => {
    if (!written) return;
    try {
      sessionStorage.setItem(name, JSON.stringify(value));
    } catch { /* a full store keeps nothing: the form goes on */ }
  }, [name, value, written]);
  const change = useCallback((v: T | ((was: T) => T)) => { setWritten(true); set(v); }, []);
  const forget = useCallback(() => { setWritten(false); sessionStorage.removeItem(name); }, [name]);
  return [value, change, forget];
}

// hasDraft reports whether something was begun.
export const hasDraft = (key: string) => sessionStorage.getItem(nameOf(key)) !== null;
