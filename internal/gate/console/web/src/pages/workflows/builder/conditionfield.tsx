// conditionfield is a condition: an expression that gives yes or no.
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';
import { usePhase } from './context';
import { Picker } from './picker';

interface Props { value: string; onChange: (to: string) => void; label: string; problem?: string | undefined; readOnly: boolean }

export function ConditionField({ value, onChange, label, problem, readOnly }: Props) {
  const { tree } = usePhase().values('plain');
  return (
    <div className="stack-tight full">
      <Field label={label} fault={problem}><textarea className="mono" rows={2} spellCheck={false} readOnly={readOnly} value={value} onChange={(e) => { onChange(e.target.value); }} /></Field>
      {!readOnly && <span><Picker tree={tree} pick={(k) => { onChange(value ? `${value} ${k.code}` : k.code); }} label={t('Insert a value')} /></span>}
    </div>
  );
}
