// durationfield takes lengths of time: as days, hours, minutes and seconds, or as a number of minutes.
import { useId, useState, type ReactNode } from 'react';
import type { Numeric } from '../../../app/digits';
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';
import { spanOf, spanText, stepOf, steps, units, type Step, type Unit } from './duration';

const unitNames: Record<Unit, string> = { d: t('Days'), h: t('Hours'), m: t('Minutes'), s: t('Seconds') };
const stepNames: Record<Step, string> = { days: t('Days'), hours: t('Hours'), minutes: t('Minutes') };

interface Props { label: string; hint?: ReactNode; problem?: string | undefined; value: string; change: (to: string) => void }

// DurationField takes a length of time such as 3d4h. One that was written by hand and is none can be mended as text.
export function DurationField({ label, hint, problem, value, change }: Props) {
  const id = useId();
  const span = spanOf(value);
  if (!span) return <Field label={label} hint={hint} fault={problem}><input className="mono" value={value} onChange={(e) => { change(e.target.value); }} /></Field>;
  return (
    <fieldset className={`field${problem ? ' faulty' : ''}`} aria-describedby={[hint ? `${id}h` : '', problem ? `${id}f` : ''].filter(Boolean).join(' ') || undefined}>
      <legend>{label}</legend>
      <div className="span">
        {units.map((u) => (
          <label key={u}>
            <input inputMode="numeric" maxLength={9} value={span[u]} aria-invalid={problem ? true : undefined} onChange={(e) => { change(spanText({ ...span, [u]: e.target.value.replace(/\D/g, '') })); }} />
            <span>{unitNames[u]}</span>
          </label>
        ))}
      </div>
      {hint && <p className="hint" id={`${id}h`}>{hint}</p>}
      {problem && <p className="fault" id={`${id}f`}>{problem}</p>}
    </fieldset>
  );
}

interface MinutesProps { label: string; hint?: ReactNode; problem?: string | undefined; value: Numeric | undefined; change: (to: number | undefined) => void; of?: readonly Step[] }

// MinutesField takes a number of minutes, which people count in days, hours or minutes.
export function MinutesField({ label, hint, problem, value, change, of = ['days', 'hours', 'minutes'] }: MinutesProps) {
  const minutes = value === undefined ? 0 : Number(value);
  const [chosen, choose] = useState<Step | null>(null);
  const step = chosen && (minutes === 0 || minutes % steps[chosen] === 0) ? chosen : stepOf(minutes, of);
  return <Field label={label} optional hint={hint} fault={problem}><Amount label={label} minutes={minutes} step={step} of={of} change={(n, to) => { choose(to); change(n); }} /></Field>;
}

interface AmountProps { label: string; minutes: number; step: Step; of: readonly Step[]; change: (minutes: number | undefined, step: Step) => void }

// Amount is the number and its unit. The other properties are those that Field gives to its control.
function Amount({ label, minutes, step, of, change, ...rest }: AmountProps) {
  return (
    <div className="amount">
      <input {...rest} type="number" min={1} value={minutes > 0 ? minutes / steps[step] : ''} onChange={(e) => { const n = Math.round(e.target.valueAsNumber * steps[step]); change(n > 0 ? n : undefined, step); }} />
      <select aria-label={t('Unit of “{label}”', { label })} value={step} onChange={(e) => { const to = e.target.value as Step; change(minutes > 0 ? (minutes / steps[step]) * steps[to] : undefined, to); }}>
        {of.map((s) => <option key={s} value={s}>{stepNames[s]}</option>)}
      </select>
    </div>
  );
}
