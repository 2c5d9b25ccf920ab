// counts are the numbers on the tabs of lists. They are read anew a moment after a request has changed, once for many changes.
import { useRef } from 'react';
import { useRead } from '../../app/data';
import { useChanges, useSoon } from '../../app/live';
import { RequestCounts } from '../../gen/documents';
import type { RequestCountBy, RequestFilter } from '../../gen/types';

type Counts = Map<string, number>; // by value; '' for requests that have none

// countsOf makes a map of what the server has counted.
const countsOf = (list: { value?: string | null; count: number }[] | undefined): Counts | undefined =>
  (list ? new Map(list.map((c) => [c.value ?? '', c.count])) : undefined);

export const sum = (c: Counts | undefined) => (c ? [...c.values()].reduce((a, b) => a + b, 0) : undefined);

export function useCounts(by: RequestCountBy, filter: RequestFilter): Counts | undefined {
  const asked = JSON.stringify(filter);
  const stable = useRef({ asked, filter });
  if (stable.current.asked !== asked) stable.current = { asked, filter };
  const { data, again } = useRead(RequestCounts, { by, filter: stable.current.filter });
  useChanges(useSoon(again));
  return countsOf(data?.requestCounts);
}
