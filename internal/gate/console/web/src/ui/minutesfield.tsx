// minutesfield takes a length of time as a number of minutes.
import { useState, type ReactNode } from 'react';
import type { Numeric } from '../app/digits';
import { t } from '../app/text';
import { Field } from './field';
import { stepOf, steps, type Step } from './minutes';

const stepNames: Record<Step, string> = { days: t('Days'), hours: t('Hours'), minutes: t('Minutes') };

interface MinutesProps { label: string; hint?: ReactNode; problem?: string | undefined; value: Numeric | undefined; change: (to: number | undefined) => void; of?: readonly Step[]; optional?: boolean }

// MinutesField takes a number of minutes, which people count in days, hours or minutes.
export function MinutesField({ label, hint, problem, value, change, of = ['days', 'hours', 'minutes'], optional = true }: MinutesProps) {
  const minutes = value === undefined ? 0 : Number(value);
  const [chosen, choose] = useState<Step | null>(null);
  const step = chosen && (minutes === 0 || minutes % steps[chosen] === 0) ? chosen : stepOf(minutes, of);
  return <Field label={label} optional={optional} hint={hint} fault={problem}><Amount label={label} minutes={minutes} step={step} of={of} change={(n, to) => { choose(to); change(n); }} /></Field>;
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
