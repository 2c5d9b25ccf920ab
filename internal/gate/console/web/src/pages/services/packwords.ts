// packwords say what a starter pack makes, and which of its documents are at fault.
import type { Fault } from '../../app/fault';
import { plural, t } from '../../app/text';
import type { PackItemRowFragment } from '../../gen/types';
import { words } from '../../ui/bits';

export type Item = PackItemRowFragment;

// A Plan is what a pack would make now; there says of an item that the company has it.
export interface Plan { name: string; description: string; items: readonly Item[] }
export const there = (i: Item): boolean => i.action === 'keep';

interface Place { to: string; search?: object }
interface Kind { many: string; counted: (n: number) => string; at: (id: string) => Place | null }

const page = (to: string) => () => ({ to });
const own = (of: string) => (id: string) => ({ to: `/app/${of}/${id}` });

// kinds are what a pack can hold, in the order in which people look for it, and where each is found.
const kinds: Record<string, Kind> = {
  Service: { many: t('Services'), counted: (n) => plural(n, '{n} service', '{n} services'), at: own('services') },
  Offering: { many: t('Offerings'), counted: (n) => plural(n, '{n} offering', '{n} offerings'), at: own('catalogue') },
  Workflow: { many: t('Workflows'), counted: (n) => plural(n, '{n} workflow', '{n} workflows'), at: own('workflows') },
  Team: { many: t('Teams'), counted: (n) => plural(n, '{n} team', '{n} teams'), at: page('/app/people') },
  Calendar: { many: t('Calendars'), counted: (n) => plural(n, '{n} calendar', '{n} calendars'), at: page('/app/calendars') },
  RoutingRule: { many: t('Routing rules'), counted: (n) => plural(n, '{n} routing rule', '{n} routing rules'), at: page('/app/routing') },
  SavedReply: { many: t('Saved replies'), counted: (n) => plural(n, '{n} saved reply', '{n} saved replies'), at: () => null },
  Schedule: { many: t('Schedules'), counted: (n) => plural(n, '{n} schedule', '{n} schedules'), at: own('schedules') },
  InboundWebhook: { many: t('Inbound webhooks'), counted: (n) => plural(n, '{n} inbound webhook', '{n} inbound webhooks'), at: own('inbound-webhooks') },
  AccessPolicy: { many: t('Access policies'), counted: (n) => plural(n, '{n} access policy', '{n} access policies'), at: (id) => ({ to: '/app/policies', search: { open: id } }) },
};

// Group is the items of one kind, under what several of it are called.
export interface Group { kind: string; many: string; items: Item[] }

export function grouped(items: readonly Item[]): Group[] {
  const found = [...new Set([...Object.keys(kinds), ...items.map((i) => i.kind)])];
  return found.map((kind) => ({ kind, many: kinds[kind]?.many ?? words(kind), items: items.filter((i) => i.kind === kind) })).filter((g) => g.items.length > 0);
}

// madeSaid is what a pack makes: “1 service, 4 offerings, 3 workflows”.
export const madeSaid = (items: readonly Item[]): string => grouped(items).map((g) => kinds[g.kind]?.counted(g.items.length) ?? `${g.items.length} ${g.many}`).join(', ');

// standsSaid is what of it the company has already, '' for nothing.
export function standsSaid(items: readonly Item[]): string {
  const n = items.filter(there).length;
  if (n === 0) return '';
  if (n === items.length) return t('Everything in this pack is there.');
  return plural(n, '{n} of them exists already and stays as it is.', '{n} of them exist already and stay as they are.');
}

// placeOf is where an item is found, once it is there.
export const placeOf = (i: Item): Place | null => (i.id ? kinds[i.kind]?.at(i.id) ?? null : null);

const first = { Service: 1, Offering: 1, Workflow: 1 }; // what people look for first

// opens is what somebody looks at first once a pack is installed: its first service, or else its first offering or workflow.
export function opens(items: readonly Item[]): { name: string; to: string } | null {
  const one = grouped(items).flatMap((g) => g.items).find((i) => i.kind in first && placeOf(i) !== null);
  const place = one && placeOf(one);
  return place ? { name: one.name, to: place.to } : null;
}

// DocumentFault is what is wrong in one document of a file, which is named by its kind and key, or by its number where it has none.
export interface DocumentFault { document: string; says: string[] }

const named = /^(Document \d+|[A-Z][A-Za-z]*\/[a-z0-9][a-z0-9-]*)(?::\s*(.*))?$/s;

// documentFaults sorts what was found in a file by its documents. rest is what of the refusal belongs to none, null for nothing.
export function documentFaults(fault: Fault | null): { all: DocumentFault[]; rest: Fault | null } {
  const all = new Map<string, string[]>();
  const rest = (fault?.details ?? []).filter((d) => {
    const [, document, place] = named.exec(d.field) ?? [];
    if (!document) return true;
    all.set(document, [...all.get(document) ?? [], [place, d.message].filter(Boolean).join(': ')]);
    return false;
  });
  return { all: [...all].map(([document, says]) => ({ document, says })), rest: fault && (all.size === 0 || rest.length > 0) ? { ...fault, details: rest } : null };
}
