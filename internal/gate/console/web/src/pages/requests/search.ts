// search turns what stands in the address of a list into the API's filter, and back. The names and values are the API's own.
import type { RequestFilter, RequestOrder, RequestRowFragment, RequestsQueryVariables } from '../../gen/types';

export interface RequestSearch {
  status?: string; priority?: string; serviceId?: string; offeringId?: string; assigneeId?: string; teamId?: string; createdBy?: string; requesterId?: string; watching?: string; slaState?: string;
  createdAfter?: string; createdBefore?: string; dueBefore?: string; q?: string; sort?: string; view?: string; peek?: string; saved?: string;
  [tag: `tag.${string}`]: string;
}

const lists = ['status', 'priority', 'serviceId', 'offeringId', 'assigneeId', 'teamId', 'createdBy', 'requesterId', 'watching', 'slaState'] as const;

export function requestFilter(s: RequestSearch): RequestFilter {
  const out: Record<string, unknown> = {};
  for (const name of lists) {
    const values = s[name]?.split(',').filter(Boolean);
    if (values && values.length > 0) out[name] = values;
  }
  for (const name of ['createdAfter', 'createdBefore', 'dueBefore', 'q'] as const) if (s[name]) out[name] = s[name];
  const tags = Object.entries(s).filter(([k, v]) => k.startsWith('tag.') && v).map(([k, v]) => [k.slice(4), (v as string).split(',')] as const);
  if (tags.length > 0) out['tag'] = Object.fromEntries(tags);
  return out as RequestFilter;
}

// belongs reports whether the filter takes a request that has just come.
export function belongs(r: RequestRowFragment, s: RequestSearch): boolean {
  const f = requestFilter(s);
  const one = (values: readonly unknown[] | null | undefined, value: unknown) => !values || values.includes(value ?? 'none');
  const due = [r.status === 'PENDING' ? r.sla?.responseDueAt : null, r.sla?.resolutionDueAt].filter((at): at is string => Boolean(at));
  const before = (at: string, limit: string) => new Date(at).getTime() < new Date(limit).getTime();
  return one(f.status, r.status) && one(f.priority, r.priority) && one(f.serviceId, r.service?.id) && one(f.offeringId, r.offering?.id)
    && one(f.assigneeId, r.assigneeId) && one(f.teamId, r.teamId) && one(f.createdBy, r.createdBy) && one(f.requesterId, r.requesterId) && !f.watching && one(f.slaState, r.sla?.state)
    && !(f.createdAfter && before(r.createdAt, f.createdAfter)) && !(f.createdBefore && !before(r.createdAt, f.createdBefore))
    && !(f.dueBefore && !due.some((at) => before(at, f.dueBefore as string))) && (!f.q || r.title.toLowerCase().includes(f.q.toLowerCase()) || f.q.replace(/^#/, '') === String(r.number))
    && Object.entries(f.tag ?? {}).every(([k, values]) => one([values].flat(), (r.tags as Record<string, string>)[k]));
}

// near reports whether a row that has changed has its place among those that were read, or after the last of all: else it is on a page
// that nobody has asked for yet.
export function near(r: RequestRowFragment, read: readonly RequestRowFragment[], more: boolean, sort: string | undefined): boolean {
  const { field, direction } = requestOrder(sort);
  const last = read.at(-1);
  if (!more || !last) return true;
  if (field !== 'createdAt' && field !== 'updatedAt' && field !== 'title') return false;
  return direction === 'DESC' ? r[field] > last[field] : r[field] < last[field];
}

export function requestOrder(sort: string | undefined): RequestOrder {
  const field = (sort ?? '-createdAt').replace(/^-/, '') as RequestOrder['field'];
  return { field, direction: (sort ?? '-').startsWith('-') ? 'DESC' : 'ASC' };
}

export const requestVariables = (s: RequestSearch): RequestsQueryVariables => ({ first: 50, filter: requestFilter(s), orderBy: requestOrder(s.sort) });

// asleep reports whether a request was put off.
export const asleep = (r: Pick<RequestRowFragment, 'snoozedUntil'>): boolean => Boolean(r.snoozedUntil) && new Date(r.snoozedUntil as string).getTime() > Date.now();

// reopenable reports whether the requester may open a completed request again: within the days that its offering gives.
export const reopenable = (r: { status: string; completedAt?: string | null; offering?: { reopenDays?: number } | null }): boolean =>
  r.status === 'COMPLETED' && Boolean(r.completedAt) && new Date(r.completedAt as string).getTime() + (r.offering?.reopenDays ?? 0) * 86_400_000 > Date.now();

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
