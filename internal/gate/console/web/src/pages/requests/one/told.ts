// told says a change of the audit log as people would: names for ids, words for the API's values, and by whose proposal it came.
import { isNumeric } from '../../../app/digits';
import { t } from '../../../app/text';
import { moment, words } from '../../../ui/bits';

type Changes = Record<string, { from?: unknown; to?: unknown } | null>;

// what are the fields that people know by another name than the API's.
const what: Record<string, string> = { fields: t('Answers'), snoozedUntil: t('Snoozed until') };
const beside = ['updatedAt', 'version', 'etag', 'proposalId', 'agent', 'via']; // which are no fields of the request

function say(field: string, v: unknown, named: ReadonlyMap<unknown, string>): unknown {
  if (named.has(v)) return named.get(v);
  if (isNumeric(v)) return v;
  if (typeof v === 'boolean') return v ? t('Yes') : t('No');
  if (Array.isArray(v)) return v.map(String).join(', ');
  if (v !== null && typeof v === 'object') return Object.entries(v).map(([k, x]) => (x === '' ? k : `${k}=${typeof x === 'object' ? JSON.stringify(x) : String(x)}`)).join(', ');
  if (typeof v !== 'string') return v;
  if (field === 'priority' || field === 'status') return words(v);
  return /(At|Until)$/.test(field) && !Number.isNaN(Date.parse(v)) ? moment(v) : v;
}

// told are the fields that have changed, from what to what.
export const told = (changes: Changes, named: ReadonlyMap<unknown, string>) => Object.entries(changes).filter(([k]) => !beside.includes(k))
  .map(([k, c]) => ({ name: `${what[k] ?? words(k.replace(/Id$/, ''))}:`, from: say(k, c?.from, named), to: say(k, c?.to, named) }));

// through is the way by which a call came, where it is not the console or the API itself.
const through: Record<string, string> = { mail: t('by mail'), mcp: t('through an MCP client') };

// cause says how a change came about, where it was not simply made by the person.
export function cause(changes: Changes): string {
  if (changes['proposalId']) return t('as an AI agent proposed');
  if (changes['agent']) return t('in a run of an AI agent');
  const via = changes['via']?.to;
  return typeof via === 'string' ? through[via] ?? t('through {via}', { via }) : '';
}
