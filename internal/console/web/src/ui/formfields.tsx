// formfields are the controls of an offering's or a task's form, one for each of the twelve types.
import type { ReactElement } from 'react';
import type { Fault } from '../app/fault';
import { useViewer } from '../app/session';
import { usePersonChoices, useTeamChoices } from '../parts/choices';
import type { Answers, FormField } from './answer';
import { localTime, visible } from './answer';
import { Field, faultAt } from './field';

interface Props { fields: FormField[]; answers: Answers; set: (a: Answers) => void; fault?: Fault | null; prefix?: string }

export function FormFields({ fields, answers, set, fault, prefix = 'fields' }: Props) {
  const viewer = useViewer();
  const people = usePersonChoices(!fields.some((f) => f.type === 'user'));
  const teams = useTeamChoices(!fields.some((f) => f.type === 'team'));
  return (
    <>
      {fields.filter((f) => visible(f, fields, answers)).map((f) => (
        <Field key={f.key} label={f.label || f.key} hint={f.help || undefined} optional={!f.required} fault={faultAt(fault, `${prefix}.${f.key}`)}>
          {control(f, answers[f.key], (v) => { set({ ...answers, [f.key]: v }); }, f.type === 'user' ? people : teams)}
        </Field>
      ))}
      <datalist id="oneself"><option value={viewer.id}>{viewer.name} (you)</option></datalist>
    </>
  );
}

const inputs: Record<string, string> = { text: 'text', number: 'number', date: 'date', datetime: 'datetime-local', email: 'email', url: 'url' };

function control(f: FormField, value: unknown, set: (v: unknown) => void, people: { id: string; name: string }[]): ReactElement<object> {
  const required = f.required ?? false;
  const text = value === undefined || value === null ? '' : String(value);
  switch (f.type) {
    case 'textarea':
      return <textarea value={text} aria-required={required} maxLength={f.max ?? undefined} onChange={(e) => { set(e.target.value); }} />;
    case 'boolean':
      return <select value={text} aria-required={required} onChange={(e) => { set(e.target.value); }}><option value="">Choose…</option><option value="true">Yes</option><option value="false">No</option></select>;
    case 'select':
      return <select value={text} aria-required={required} onChange={(e) => { set(e.target.value); }}><option value="">Choose…</option>{f.options?.map((o) => <option key={o}>{o}</option>)}</select>;
    case 'multiselect':
      return (
        <select multiple aria-required={required} size={Math.min(6, f.options?.length ?? 2)} value={Array.isArray(value) ? value.map(String) : []} onChange={(e) => { set([...e.target.selectedOptions].map((o) => o.value)); }}>
          {f.options?.map((o) => <option key={o}>{o}</option>)}
        </select>
      );
    case 'user':
    case 'team':
      return people.length > 0
        ? <select value={text} aria-required={required} onChange={(e) => { set(e.target.value); }}><option value="">Choose…</option>{people.map((p) => <option key={p.id} value={p.id}>{p.name}</option>)}</select>
        : <input value={text} aria-required={required} list={f.type === 'user' ? 'oneself' : undefined} placeholder={f.type === 'user' ? 'usr_…' : 'team_…'} onChange={(e) => { set(e.target.value); }} />;
    default:
      return (
        <input
          type={inputs[f.type] ?? 'text'} step={f.type === 'number' ? 'any' : undefined} min={f.type === 'number' ? f.min ?? undefined : undefined} max={f.type === 'number' ? f.max ?? undefined : undefined}
          value={f.type === 'datetime' && text.endsWith('Z') ? localTime(new Date(text)) : text} aria-required={required} onChange={(e) => { set(e.target.value); }}
        />
      );
  }
}
