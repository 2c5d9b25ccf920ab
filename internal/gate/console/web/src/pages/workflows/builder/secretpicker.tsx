// secretpicker chooses a secret by its name.
import { Field } from '../../../ui/field';
import { usePhase } from './context';

const whole = /^\$\{\s*secrets\.([A-Z][A-Z0-9_]*)\s*\}$/;

// secretOf is the name of the secret that a text consists of; '' for another text.
export const secretOf = (text: string): string => whole.exec(text)?.[1] ?? '';

interface Props { label: string; hint?: string; none: string; value: string; change: (to: string | undefined) => void; problem?: string | undefined }

export function SecretPicker({ label, hint, none, value, change, problem }: Props) {
  const { secrets } = usePhase();
  const name = secretOf(value);
  const other = value !== '' && !secrets.includes(name);
  return (
    <Field label={label} hint={hint} fault={problem}>
      <select value={other ? value : name} onChange={(e) => { if (e.target.value !== value) change(e.target.value ? `\${secrets.${e.target.value}}` : undefined); }}>
        <option value="">{none}</option>
        {other && <option value={value}>{name || value}</option>}
        {secrets.map((s) => <option key={s}>{s}</option>)}
      </select>
    </Field>
  );
}
