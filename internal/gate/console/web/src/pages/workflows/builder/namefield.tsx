// namefield is a name that counts once it is left, or by Enter: every letter of it would be another name.
import { useState, type ComponentProps, type KeyboardEvent } from 'react';
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';

interface Props { label: string; hint?: string; problem?: string | undefined; value: string; take: (to: string) => string; input: Omit<ComponentProps<'input'>, 'value'> }

// NameField gives what was written to take, which returns what is wrong with it, '' for nothing. An empty name is none: the old one
// stays, and that is said.
export function NameField({ label, hint, problem, value, take, input }: Props) {
  const [written, write] = useState({ of: value, text: value, fault: '' });
  const { text, fault } = written.of === value ? written : { text: value, fault: '' };
  const leave = () => {
    const to = text.trim();
    const none = value === '' ? '' : t('A name is needed: the old one stays.');
    write({ of: value, text: to || value, fault: to === '' ? none : to === value ? '' : take(to) });
  };
  const keys = (e: KeyboardEvent) => { if (e.key === 'Enter') leave(); }; // not said
  return (
    <Field label={label} hint={hint} fault={fault || problem}>
      <input {...input} value={text} onChange={(e) => { write({ of: value, text: e.target.value, fault: '' }); }} onBlur={leave} onKeyDown={keys} />
    </Field>
  );
}
