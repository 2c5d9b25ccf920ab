// media follows what a window has room for.
import { useCallback, useSyncExternalStore } from 'react';

// useMedia reports whether a media query holds, as (max-width: 64rem); false where there is no window.
export function useMedia(query: string): boolean {
  const follow = useCallback((tell: () => void) => {
    const list = globalThis.matchMedia?.(query);
    list?.addEventListener('change', tell);
    return () => { list?.removeEventListener('change', tell); };
  }, [query]);
  return useSyncExternalStore(follow, () => globalThis.matchMedia?.(query).matches ?? false);
}
