// search turns what stands in the address of a list into the API's filter, and back. The names and values are the API's own.
import type { RequestFilter, RequestOrder, RequestRowFragment, RequestsQueryVariables } from '../../gen/types';

export interface RequestSearch {
  status?: string; priority?: string; serviceId?: string; offeringId?: string; assigneeId?: string; teamId?: string; createdBy?: string; slaState?: string;
  createdAfter?: string; createdBefore?: string; q?: string; sort?: string; view?: string; peek?: string; saved?: string;
}

const lists = ['status', 'priority', 'serviceId', 'offeringId', 'assigneeId', 'teamId', 'createdBy', 'slaState'] as const;

export function requestFilter(s: RequestSearch): RequestFilter {
  const out: Record<string, unknown> = {};
  for (const name of lists) {
    const values = s[name]?.split(',').filter(Boolean);
    if (values && values.length > 0) out[name] = values;
  }
  for (const name of ['createdAfter', 'createdBefore', 'q'] as const) if (s[name]) out[name] = s[name];
  return out as RequestFilter;
}

export function requestOrder(sort: string | undefined): RequestOrder {
  const field = (sort ?? '-createdAt').replace(/^-/, '') as RequestOrder['field'];
  return { field, direction: (sort ?? '-').startsWith('-') ? 'DESC' : 'ASC' };
}

export const requestVariables = (s: RequestSearch): RequestsQueryVariables => ({ first: 50, filter: requestFilter(s), orderBy: requestOrder(s.sort) });

// The inbox shows what nobody has accepted, the oldest last.
export const inboxVariables = (teamId = ''): RequestsQueryVariables =>
  ({ first: 50, filter: { status: ['PENDING'], ...(teamId ? { teamId: [teamId] } : {}) }, orderBy: { field: 'createdAt', direction: 'DESC' } });

// MayRow is a row that may say what its viewer may do with it; one that has just come does not yet.
export type MayRow = RequestRowFragment & { viewerMay?: string[] };

// viewQuery is what of a list's address is kept in a saved view: everything but what is open at the moment.
export function viewQuery({ peek: _peek, saved: _saved, ...kept }: RequestSearch): string {
  return new URLSearchParams(Object.entries(kept).filter((e): e is [string, string] => Boolean(e[1])).sort(([a], [b]) => a.localeCompare(b))).toString().replaceAll('%2C', ',');
}

export const searchOf = (query: string): RequestSearch => Object.fromEntries(new URLSearchParams(query));
