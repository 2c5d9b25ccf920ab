// wayfield names a way out, as the rules of a phase do.
import { useId, type ReactNode } from 'react';
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';
import { usePhase } from './context';
import { titled, ways } from './known';
import { object, objects } from './shape';

interface Props { label: string; hint?: ReactNode; value: string; change: (to: string) => void; problem?: string | undefined }

// WayField takes the name of a way out, and says where that leads.
export function WayField({ label, hint, value, change, problem }: Props) {
  const id = useId();
  const { definition, id: phase } = usePhase();
  const out = ways(definition, phase);
  const way = out.find((w) => w.name === value);
  const to = objects(object(definition)['phases']).find((p) => p['id'] === way?.to);
  return (
    <div>
      <Field label={label} hint={to ? t('Leads to “{phase}”.', { phase: titled(to) }) : hint} fault={problem}>
        <input dir="auto" maxLength={100} list={`${id}ways`} value={value} onChange={(e) => { change(e.target.value); }} />
      </Field>
      <datalist id={`${id}ways`}>{out.map((w) => <option key={w.name} value={w.name} />)}</datalist>
    </div>
  );
}
