// search turns what stands in the address of a list into the API's filter, and back. The names and values are the API's own.
import { finds } from '../../app/fold';
import { queryOf } from '../../parts/query';
import type { RequestFilter, RequestOrder, RequestRowFragment, RequestsQueryVariables } from '../../gen/types';

export interface RequestSearch {
  status?: string; priority?: string; serviceId?: string; offeringId?: string; assigneeId?: string; teamId?: string; createdBy?: string; requesterId?: string; watching?: string; slaState?: string; hasAttachments?: string; satisfaction?: string; organizationId?: string; reopened?: string;
  completedAfter?: string; completedBefore?: string; cancelledAfter?: string; cancelledBefore?: string; createdAfter?: string; createdBefore?: string; updatedAfter?: string; dueBefore?: string; q?: string; sort?: string; view?: string; columns?: string; peek?: string; saved?: string;
  [tag: `tag.${string}`]: string;
}

// lists are the filters of several values; moments those of a time.
export const lists = ['status', 'priority', 'serviceId', 'offeringId', 'assigneeId', 'teamId', 'createdBy', 'requesterId', 'watching', 'slaState', 'satisfaction', 'organizationId'] as const;
export const moments = ['createdAfter', 'createdBefore', 'updatedAfter', 'dueBefore', 'completedAfter', 'completedBefore', 'cancelledAfter', 'cancelledBefore'] as const;
export const facts = ['hasAttachments', 'reopened'] as const; // that are so or not

// offered are all but those that links alone ask for.
export const offered = ['status', 'priority', 'dueBefore', 'slaState', 'assigneeId', 'teamId', 'requesterId', 'watching', 'organizationId', 'serviceId', 'offeringId', 'hasAttachments', 'tag', 'satisfaction', 'reopened', 'updatedAfter', 'createdAfter', 'completedAfter'];

// momentOf is the time that a filter stands for: one that is given, or one so many hours or days from now, such as 24h or 7d, which a saved
// view needs. What is due lies ahead, all else behind. It moves on every five minutes, so that what is asked for stays the same meanwhile.
export function momentOf(name: string, value: string, now = Date.now()): string {
  const [, n, unit] = /^(\d{1,4})([hd])$/.exec(value) ?? [];
  if (!n) return value;
  const away = Number(n) * (unit === 'd' ? 86_400_000 : 3_600_000);
  return new Date(Math.floor(now / 300_000) * 300_000 + (name === 'dueBefore' ? away : -away)).toISOString();
}

export function requestFilter(s: RequestSearch): RequestFilter {
  const out: Record<string, unknown> = {};
  for (const name of lists) {
    const values = s[name]?.split(',').filter(Boolean);
    if (values && values.length > 0) out[name] = name === 'satisfaction' ? values.map(Number) : values;
  }
  for (const name of moments) if (s[name]) out[name] = momentOf(name, s[name]);
  for (const name of facts) {
    const values = s[name]?.split(',').filter(Boolean) ?? [];
    if (values.length === 1) out[name] = values[0] === 'true'; // both are all
  }
  if (s.q) out['q'] = s.q;
  const tags = Object.entries(s).filter(([k, v]) => k.startsWith('tag.') && v).map(([k, v]) => [k.slice(4), (v as string).split(',')] as const);
  if (tags.length > 0) out['tag'] = Object.fromEntries(tags);
  return out as RequestFilter;
}

// tableOf is the address of the table of what a list shows.
export function tableOf(search: RequestSearch, sort: string): string {
  const { tag, ...filter } = requestFilter(search) as Record<string, unknown>;
  return `/v1/requests.csv?${queryOf({ ...filter, ...Object.fromEntries(Object.entries(tag ?? {}).map(([k, v]) => [`tag.${k}`, v])), sort })}`;
}

// responseDue is when somebody has to respond to a request, while nobody has.
export const responseDue = (r: Pick<RequestRowFragment, 'status' | 'firstResponseAt' | 'sla'>): string | null => (r.status === 'PENDING' && !r.firstResponseAt ? r.sla?.responseDueAt ?? null : null);

// untold are the filters of which a row does not say whether it passes them.
const untold = ['watching', 'hasAttachments', 'satisfaction', 'organizationId', 'reopened', 'completedAfter', 'completedBefore', 'cancelledAfter', 'cancelledBefore'] as const;

// stays reports whether the filter still takes a request that was read by it: what its row does not say has not changed.
export const stays = (r: RequestRowFragment, s: RequestSearch): boolean => belongs(r, without(s, ...untold));

// belongs reports whether the filter takes a request that has just come.
export function belongs(r: RequestRowFragment, s: RequestSearch): boolean {
  const f = requestFilter(s);
  const one = (values: readonly unknown[] | null | undefined, value: unknown) => !values || values.includes(value ?? 'none');
  const due = [responseDue(r), r.sla?.resolutionDueAt].filter((at): at is string => Boolean(at));
  const before = (at: string, limit: string) => new Date(at).getTime() < new Date(limit).getTime();
  return one(f.status, r.status) && one(f.priority, r.priority) && one(f.serviceId, r.service?.id) && one(f.offeringId, r.offering?.id)
    && one(f.assigneeId, r.assigneeId) && one(f.teamId, r.teamId) && one(f.createdBy, r.createdBy) && one(f.requesterId, r.requesterId) && untold.every((n) => f[n] === undefined) && one(f.slaState, r.sla?.state)
    && !(f.createdAfter && before(r.createdAt, f.createdAfter)) && !(f.createdBefore && !before(r.createdAt, f.createdBefore))
    && !(f.updatedAfter && before(r.updatedAt, f.updatedAfter))
    && !(f.dueBefore && !due.some((at) => before(at, f.dueBefore as string))) && (!f.q || finds(r.title, f.q) || f.q.replace(/^#/, '') === String(r.number))
    && Object.entries(f.tag ?? {}).every(([k, values]) => one([values].flat(), (r.tags as Record<string, string>)[k]));
}

// near reports whether a row that has changed has its place among those that were read, or after the last of all: else it is on a page
// that nobody has asked for yet. What has no time to be done by comes last.
export function near(r: RequestRowFragment, read: readonly RequestRowFragment[], more: boolean, { field, direction }: RequestOrder): boolean {
  const last = read.at(-1);
  if (!more || !last) return true;
  if (field === 'priority' || field === 'status') return false;
  const by = (x: RequestRowFragment) => (field === 'responseDueAt' || field === 'resolutionDueAt' ? x.sla?.[field] ?? '9999' : x[field]); // not said
  return direction === 'DESC' ? by(r) > by(last) : by(r) < by(last);
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

// ratable reports whether a request asks its requester how satisfied they are: for a week after it was completed.
export const ratable = (r: { status: string; completedAt?: string | null; offering?: { askSatisfaction?: boolean } | null }, now = Date.now()): boolean =>
  r.status === 'COMPLETED' && r.offering?.askSatisfaction === true && Boolean(r.completedAt) && new Date(r.completedAt as string).getTime() + 7 * 86_400_000 > now;

// The inbox shows what nobody has accepted, what has to be accepted first at the top.
export const inboxOrder = (sort: string | undefined) => requestOrder(sort ?? 'responseDueAt');
export const inboxVariables = (s: RequestSearch = {}): RequestsQueryVariables => ({ first: 50, filter: requestFilter({ ...s, status: 'PENDING' }), orderBy: inboxOrder(s.sort) });

// filtered are the filters that stand in the address.
const names: readonly string[] = [...lists, ...moments, ...facts, 'q'];
export const filtered = (s: RequestSearch) => (Object.keys(s) as (keyof RequestSearch)[]).filter((k) => s[k] && (names.includes(k) || k.startsWith('tag.')));

// MayRow is a row that may say what its viewer may do with it; one that has just come does not yet.
export type MayRow = RequestRowFragment & { viewerMay?: string[] };

// viewQuery is what of a list's address is kept in a saved view: everything but what is open at the moment.
export function viewQuery({ peek: _peek, saved: _saved, ...kept }: RequestSearch): string {
  return new URLSearchParams(Object.entries(kept).filter((e): e is [string, string] => Boolean(e[1])).sort(([a], [b]) => a.localeCompare(b))).toString().replaceAll('%2C', ',');
}

// without is the address without some of its parts.
export const without = (s: RequestSearch, ...names: (keyof RequestSearch)[]): RequestSearch =>
  Object.fromEntries(Object.entries(s).filter(([k]) => !names.includes(k as keyof RequestSearch))) as RequestSearch;

export const searchOf = (query: string): RequestSearch => Object.fromEntries(new URLSearchParams(query));
