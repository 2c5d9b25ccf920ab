// wayfield names a way out, as the rules of a phase do.
import { useId } from 'react';
import { t } from '../../../app/text';
import { usePhase } from './context';
import { nameTaken, phaseOf, shaped } from './definition';
import { titled, ways } from './known';
import { NameField } from './namefield';

interface Props { label: string; hint?: string; value: string; change: (to: string) => void; problem?: string | undefined }

// WayField takes the name of a way out once it is left, and says where that leads. The way keeps its end under its new name.
export function WayField({ label, hint = '', value, change, problem }: Props) {
  const id = useId();
  const { definition, id: phase } = usePhase();
  const d = shaped(definition);
  const out = ways(definition, phase);
  const way = out.find((w) => w.name === value);
  const to = d && way && phaseOf(d, way.to);
  const take = (name: string) => {
    if (d && nameTaken(d, { from: phase, name: value }, name)) return t('Another outcome has this name.');
    change(name);
    return '';
  };
  return (
    <div>
      <NameField label={label} hint={to ? t('Leads to “{phase}”.', { phase: titled(to) }) : hint} problem={problem} value={value} take={take} input={{ dir: 'auto', maxLength: 100, ...(value === '' ? { list: `${id}ways` } : {}) }} />
      {value === '' && <datalist id={`${id}ways`}>{out.map((w) => <option key={w.name} value={w.name} />)}</datalist>}
    </div>
  );
}
