// secretpicker chooses a secret by its name.
import { Field } from '../../../ui/field';
import { useSecrets } from './context';

const whole = /^\$\{\s*secrets\.([A-Z][A-Z0-9_]*)\s*\}$/;

// secretOf is the name of the secret that a text consists of; '' for another text.
export const secretOf = (text: string): string => whole.exec(text)?.[1] ?? '';

interface Props { label: string; hint?: string; none: string; value: string; change: (to: string | undefined) => void; problem?: string | undefined }

export function SecretPicker({ label, hint, none, value, change, problem }: Props) {
  const all = useSecrets();
  const name = secretOf(value);
  const other = value !== '' && !all.some((s) => s.name === name);
  return (
    <Field label={label} hint={hint} fault={problem}>
      <select value={other ? value : name} onChange={(e) => { if (e.target.value !== value) change(e.target.value ? `\${secrets.${e.target.value}}` : undefined); }}>
        <option value="">{none}</option>
        {other && <option value={value}>{name || value}</option>}
        {all.map((s) => <option key={s.name} value={s.name}>{s.name}</option>)}
      </select>
    </Field>
  );
}
