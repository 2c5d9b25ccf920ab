// common are the parts of a phase that every type has: what happens to the request, who takes part, how long it may take.
import { t } from '../../../app/text';
import { Choices } from '../../../parts/choices';
import { Field } from '../../../ui/field';
import { MinutesField } from '../../../ui/minutesfield';
import { isNumeric, numberOf, type Numeric } from '../../../app/digits';
import { usePhase } from './context';
import type { Exit } from './definition';
import { actions } from './formwords';
import { at, below, isObject, object, put, text, type Json } from './shape';

// Does is what the form of a block can do besides changing its own phase: lead a way out elsewhere, and add a branch.
export interface Does { lead: (from: Exit, to: string) => void; branch: () => void }

export interface FormProps { phase: Json; config: Json; set: (key: string, value: unknown) => void; change: (phase: Json) => void; does: Does }

// numeric is a number of the definition, undefined for none.
export const numeric = (v: unknown): Numeric | undefined => (isNumeric(v) ? v : undefined);

export function Action({ phase, change, label, hint }: { phase: Json; change: (p: Json) => void; label: string; hint?: string }) {
  const { problems } = usePhase();
  return (
    <Field label={label} hint={hint} fault={at(problems, 'requestAction')}>
      <select value={text(phase['requestAction'])} onChange={(e) => { change(put(phase, 'requestAction', e.target.value || undefined)); }}>
        <option value="">{t('Leave it as it is')}</option>
        {Object.entries(actions).map(([value, says]) => <option key={value} value={value}>{says}</option>)}
      </select>
    </Field>
  );
}

// Calendar chooses whose working hours count.
export function Calendar({ value, change, problem, none }: { value: string; change: (id: string | undefined) => void; problem?: string | undefined; none: string }) {
  const { calendars } = usePhase();
  if (calendars.length === 0 && !value && !problem) return null;
  const gone = value && !calendars.some((c) => c.id === value) ? { id: value, name: t('Unknown calendar') } : null;
  return (
    <Field label={t('Calendar')} hint={t('Whose working hours count.')} fault={problem}>
      <select value={value} onChange={(e) => { change(e.target.value || undefined); }}><option value="">{none}</option><Choices of={calendars} now={gone} /></select>
    </Field>
  );
}

// Level is the service level of a phase.
export function Level({ phase, change }: { phase: Json; change: (p: Json) => void }) {
  const { problems } = usePhase();
  const sla = object(phase['sla']);
  const set = (key: string, value: unknown) => {
    const to = put(sla, key, value);
    change(put(phase, 'sla', Object.values(to).some((v) => v !== null) ? to : undefined));
  };
  return (
    <>
      <div className="pair">
        <MinutesField label={t('First response within')} value={numeric(sla['responseMinutes'])} change={(n) => { set('responseMinutes', n); }} problem={at(problems, 'sla.responseMinutes')} hint={t('Until somebody takes it up.')} />
        <MinutesField label={t('Done within')} value={numeric(sla['resolutionMinutes'])} change={(n) => { set('resolutionMinutes', n); }} problem={at(problems, 'sla.resolutionMinutes', 'sla')} />
      </div>
      <div className="pair">
        <Field label={t('Warn at (percent)')} optional hint={t('Of the time; 80 when empty, 0 for no warning.')} fault={below(problems, 'sla.warnAtPercent')}>
          <input type="number" min={0} max={99} value={isObject(phase['sla']) ? text(sla['warnAtPercent']) : ''} onChange={(e) => { set('warnAtPercent', numberOf(e.target.value)); }} />
        </Field>
        <Calendar value={text(sla['calendarId'])} change={(id) => { set('calendarId', id); }} problem={below(problems, 'sla.calendarId')} none={t('24 × 7')} />
      </div>
    </>
  );
}
