// durationfield takes lengths of time as days, hours, minutes and seconds.
import { useId, type ReactNode } from 'react';
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';
import { spanOf, spanText, units, type Unit } from './duration';

const unitNames: Record<Unit, string> = { d: t('Days'), h: t('Hours'), m: t('Minutes'), s: t('Seconds') };

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
