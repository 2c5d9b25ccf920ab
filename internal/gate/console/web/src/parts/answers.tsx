// answers shows what somebody has answered to a form.
import { useRead } from '../app/data';
import { useCan } from '../app/session';
import { t } from '../app/text';
import { FormChoices, NameOf } from '../gen/documents';
import type { FileFragment } from '../gen/types';
import { filesOf, momentOf, written } from '../ui/answer';
import { calendarDay, Time, words } from '../ui/bits';
import { AnswerFiles } from './fileanswer';

interface FormField { key: string; label?: string | null; type: string }

// Answered is a request with what its form asks.
interface Answered { fields?: unknown; attachments?: FileFragment[] | null; offering?: { id: string; form?: unknown } | null }

// Answers are what the requester said, by the labels of the offering's form.
export function Answers({ request: r }: { request: Answered }) {
  const form = (r.offering?.form as { fields?: FormField[] } | null)?.fields ?? [];
  const values = (r.fields ?? {}) as Record<string, unknown>;
  const keys = [...form.map((f) => f.key).filter((k) => k in values), ...Object.keys(values).filter((k) => !form.some((f) => f.key === k))];
  if (keys.length === 0) return null;
  const label = (k: string) => form.find((f) => f.key === k)?.label ?? words(k);
  return (
    <dl className="card answers">
      {keys.map((k) => <div key={k} className="contents"><dt dir="auto">{label(k)}</dt><dd dir="auto"><Value value={values[k]} type={form.find((f) => f.key === k)?.type} of={r.offering?.id} field={k} files={r.attachments} /></dd></div>)}
    </dl>
  );
}

interface ValueProps { value: unknown; type?: string | undefined; of: string | undefined; field: string; files: FileFragment[] | null | undefined }

// Value is an answer as people read it.
export function Value({ value, type, of, field, files }: ValueProps) {
  if (value === null || value === undefined || value === '') return <span className="soft">–</span>;
  if (filesOf(value).length > 0) return <AnswerFiles ids={filesOf(value)} files={files} />;
  if (type === 'user' || type === 'team') return <Named id={String(value)} of={of} field={field} />;
  if (typeof value === 'boolean') return <>{value ? t('Yes') : t('No')}</>;
  if (type === 'url' && /^https?:/.test(String(value))) return <a href={String(value)} rel="noreferrer noopener" target="_blank">{String(value)}</a>;
  if (type === 'date') return <time dateTime={String(value)}>{calendarDay(String(value))}</time>;
  const at = type === 'datetime' ? momentOf(String(value)) : null;
  return at ? <Time at={at.toISOString()} full /> : <>{written(value)}</>;
}

// Named is a person or a team by name. Who may read neither is told by the form that asks for them.
function Named({ id, of, field }: { id: string; of: string | undefined; field: string }) {
  const sees = useCan(id.startsWith('usr_') ? 'user.read' : 'team.read');
  const node = useRead(NameOf, { id }, !sees).data?.node;
  const asked = useRead(FormChoices, { offeringId: of ?? '', field, ids: [id] }, sees || !of).data?.formChoices[0];
  return <>{node && 'name' in node ? node.name : asked?.name ?? (sees ? id : id.startsWith('usr_') ? t('Somebody') : t('A team'))}</>;
}
