import { numberOf } from '../app/digits';
import type { Fault } from '../app/fault';
import { t } from '../app/text';
import type { FormField } from '../ui/answer';
import { Field, faultAt } from '../ui/field';

// bounds are what min and max count, by the types that take them.
const bounds: Record<string, [string, string]> = {
  number: [t('Minimum'), t('Maximum')], text: [t('Minimum characters'), t('Maximum characters')], textarea: [t('Minimum characters'), t('Maximum characters')], multiselect: [t('Minimum choices'), t('Maximum choices')],
};
const patterned = ['text', 'textarea', 'email', 'url'];

interface Props { field: FormField; at: string; change: (f: Partial<FormField>) => void; fault: Fault | null }

// Limits are what an answer must keep to, for the types that have any.
export function Limits({ field: f, at, change, fault }: Props) {
  const [least, most] = bounds[f.type] ?? [];
  const faulty = ['min', 'max', 'pattern'].some((k) => faultAt(fault, `${at}.${k}`));
  const set = [f.min, f.max, f.pattern].some((v) => v !== null && v !== undefined && v !== '');
  const number = (label: string, key: 'min' | 'max') => (
    <Field label={label} optional fault={faultAt(fault, `${at}.${key}`)}>
      <input type="number" step={f.type === 'number' ? 'any' : 1} min={f.type === 'number' ? undefined : 0} value={f[key]?.toString() ?? ''} onChange={(e) => { change({ [key]: numberOf(e.target.value) ?? null }); }} />
    </Field>
  );
  if (!least && !patterned.includes(f.type)) return null;
  return (
    <details open={set || faulty || undefined}>
      <summary>{t('Limits')}</summary>
      <div className="stack">
        {least && most && <div className="pair">{number(least, 'min')}{number(most, 'max')}</div>}
        {patterned.includes(f.type) && (
          <Field label={t('Pattern')} optional hint={t('A regular expression that the whole answer must match, such as [A-Z]{2}-[0-9]+.')} fault={faultAt(fault, `${at}.pattern`)}>
            <input className="mono" spellCheck={false} value={f.pattern ?? ''} onChange={(e) => { change({ pattern: e.target.value || null }); }} />
          </Field>
        )}
      </div>
    </details>
  );
}
