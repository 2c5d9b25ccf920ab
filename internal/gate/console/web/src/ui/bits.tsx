// bits are the small things that every page uses: badges, times, people.
import { useSyncExternalStore, type ReactNode } from 'react';
import { locale, placed, plural, t, zone } from '../app/text';

const tones: Record<string, string> = {
  PENDING: 'wait', IN_PROGRESS: 'work', COMPLETED: 'good', CANCELLED: 'off', OPEN: 'wait', RUNNING: 'work', WAITING: 'wait', FAILED: 'bad',
  active: 'good', draft: 'wait', archived: 'off', inactive: 'off', invited: 'wait', deactivated: 'off', erased: 'off', revoked: 'off', expired: 'off', SUCCESS: 'good',
  APPROVED: 'good', REJECTED: 'bad', EXPIRED: 'off', allowed: 'good', denied: 'bad', failed: 'bad', Allow: 'good', Deny: 'bad', RequireApproval: 'wait', SKIPPED: 'off',
  ON_TRACK: 'good', WARNING: 'wait', BREACHED: 'bad', MET: 'good', PAUSED: 'off', paid: 'good', open: 'wait', void: 'off', uncollectible: 'bad',
  enabled: 'good', disabled: 'off',
};

// inWords is a value or name of the API as people write it in English; words is it in the language of the page.
export const inWords = (s: string) => {
  const lower = s.replaceAll('_', ' ').replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return lower.charAt(0).toUpperCase() + lower.slice(1);
};
export const words = (s: string) => t(inWords(s)); // not said

export function Badge({ value, children }: { value: string; children?: ReactNode }) {
  return <span className={`badge ${tones[value] ?? 'off'}`}>{children ?? words(value)}</span>;
}

export function Priority({ value }: { value: string }) {
  const level = { LOW: 1, MEDIUM: 2, HIGH: 3, URGENT: 4 }[value] ?? 0;
  return (
    <span className={`p${level} priority`}>
      <svg width="14" height="12" viewBox="0 0 14 12" aria-hidden="true">
        {[0, 1, 2].map((i) => <rect key={i} x={1 + i * 4.5} y={8 - i * 3} width="3" height={4 + i * 3} rx="1" className={level > i ? 'on' : ''} />)}
      </svg>
      {words(value)}
    </span>
  );
}

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
const steps: [Intl.RelativeTimeFormatUnit, number][] = [['day', 86_400], ['hour', 3600], ['minute', 60]];
const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: zone });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: zone });

const secondsTo = (iso: string) => (new Date(iso).getTime() - Date.now()) / 1000;
const isFar = (seconds: number) => Math.abs(seconds) > 30 * 86_400; // and so is shown by its day

function ago(iso: string): string {
  const seconds = secondsTo(iso);
  if (isFar(seconds)) return day.format(new Date(iso));
  for (const [unit, size] of steps) if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  return seconds > 5 ? t('in under a minute') : t('just now'); // the server's clock may be a little ahead
}

// Relative times move on by themselves: twice a minute for all that are shown.
let beat = 0;
const watchers = new Set<() => void>();
setInterval(() => { beat++; watchers.forEach((w) => { w(); }); }, 30_000);
const watch = (w: () => void) => { watchers.add(w); return () => { watchers.delete(w); }; };
const useBeat = () => useSyncExternalStore(watch, () => beat);

// momentSaid is a moment with its day and time.
export const momentSaid = (at: string): string => exact.format(new Date(at));

export function Time({ at, none = '–', full }: { at: string | null | undefined; none?: string; full?: boolean }) {
  useBeat();
  if (!at) return <span className="soft">{none}</span>;
  const date = new Date(at);
  return <time dateTime={at} title={exact.format(date)}>{full ? exact.format(date) : ago(at)}</time>;
}

// Expires says when something does: in 3 days, or on a day.
export const Expires = ({ at }: { at: string }) => <span>{placed(isFar(secondsTo(at)) ? t('expires on {when}') : t('expires {when}'), { when: <Time at={at} /> })}</span>;

export const percent = (share: number) => `${Math.round(share * 100)} %`;

// lasting is how people call so many minutes, exactly: 90 minutes, 3 hours, 2 days 4 hours.
export function lasting(minutes: number): string {
  const [days, hours, rest] = minutes < 2880 ? [0, Math.floor(minutes / 60), minutes % 60] : [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60), minutes % 60];
  const minute = (n: number) => plural(n, '{n} minute', '{n} minutes');
  if (minutes < 120) return minute(minutes);
  return [days > 0 && plural(days, '{n} day', '{n} days'), hours > 0 && plural(hours, '{n} hour', '{n} hours'), rest > 0 && minute(rest)].filter(Boolean).join(' ');
}

// moment is a time as people write it; date a day.
export const moment = (iso: string) => exact.format(new Date(iso));
export const date = (iso: string) => day.format(new Date(iso));

// calendarDay is a day that has no time, as people write it: the same one in every zone.
const dayAlone = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
export const calendarDay = (iso: string) => (/^\d{4}-\d\d-\d\d$/.test(iso) ? dayAlone.format(new Date(`${iso}T00:00Z`)) : iso);

export function Person({ name }: { name: string | null | undefined }) {
  if (!name) return <span className="soft">{t('Nobody')}</span>;
  const letters = name.split(/[\s._@-]+/).filter(Boolean).slice(0, 2).map((p) => p[0]?.toUpperCase()).join('');
  return <span className="person"><span className="avatar" aria-hidden>{letters}</span><span className="name" dir="auto">{name}</span></span>;
}

// phaseName is what people call a phase of an execution.
export function phaseName(e: { phaseNames?: unknown } | null | undefined, id: string): string {
  const name = (e?.phaseNames as Record<string, string> | null | undefined)?.[id];
  return name && name !== id ? name : words(id);
}

// standsAt says where an execution stands: in blocks it may be in several phases at once.
export function standsAt(e: { phaseId?: string | null; phaseIds: readonly string[]; phaseNames?: unknown }): string {
  const ids = e.phaseIds.length > 0 ? e.phaseIds : e.phaseId ? [e.phaseId] : [];
  return ids.length === 0 ? '' : t('at {phase}', { phase: ids.map((id) => phaseName(e, id)).join(', ') });
}

// phaseType is a type of phases in words. The API has no enum for them.
const phaseTypes: Record<string, string> = {
  START: t('Start'), PROCESS: t('Task'), DECISION: t('Decision'), DATA: t('Set values'), TIMER: t('phase|Wait'), WEBHOOK_CALLOUT: t('Send a webhook'), API_CALL: t('Call an address'), APPROVAL: t('Approval'), END: t('End'),
  CALL_WORKFLOW: t('Call a workflow'), PARALLEL: t('In parallel'), FOR_EACH: t('For each'), JOIN: t('Together again'),
};
export const phaseType = (type: string) => phaseTypes[type] ?? words(type);

// slaWord is a state of a service level in words. One that was missed stays so once the request is done, so that it is not called overdue.
const slaStates: Record<string, string> = { ON_TRACK: t('On track'), WARNING: t('Due soon'), BREACHED: t('SLA missed'), MET: t('SLA met'), PAUSED: t('Paused') };
export const slaWord = (state: string) => slaStates[state] ?? words(state);

export const money = (cents: number, currency = 'usd') => new Intl.NumberFormat(locale, { style: 'currency', currency: currency.toUpperCase() }).format(cents / 100);
