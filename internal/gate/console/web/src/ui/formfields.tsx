// formfields are the controls of an offering's or a task's form, one for each of the twelve types.
import type { ReactElement } from 'react';
import type { Fault } from '../app/fault';
import { useRead } from '../app/data';
import { useCan, useViewer } from '../app/session';
import { t } from '../app/text';
import { FormChoices } from '../gen/documents';
import { usePersonChoices, useTeamChoices } from '../parts/choices';
import type { Answers, FormField } from './answer';
import { fieldTime, visible } from './answer';
import { Field, faultAt } from './field';

interface Props { fields: FormField[]; answers: Answers; set: (a: Answers) => void; fault?: Fault | null; prefix?: string; offering?: string | undefined }

// FormFields are the questions of a form. offering is whose form it is: it tells members, too, which people and teams there are.
export function FormFields({ fields, answers, set, fault, prefix = 'fields', offering }: Props) {
  const viewer = useViewer();
  return (
    <>
      {fields.filter((f) => visible(f, fields, answers)).map((f) => (
        <Field key={f.key} label={f.label || f.key} hint={f.help || undefined} optional={!f.required} fault={faultAt(fault, `${prefix}.${f.key}`)}>
          {control(f, answers[f.key], (v) => { set({ ...answers, [f.key]: v }); }, offering)}
        </Field>
      ))}
      <datalist id="oneself"><option value={viewer.id}>{t('{name} (you)', { name: viewer.name })}</option></datalist>
    </>
  );
}

const inputs: Record<string, string> = { text: 'text', number: 'number', date: 'date', datetime: 'datetime-local', email: 'email', url: 'url' };

interface WhomProps { field: FormField; offering: string | undefined; value: string; set: (v: string) => void }

// Whom asks for a person or a team. The other properties are those that Field gives to its control.
function Whom({ field: f, offering, value, set, ...rest }: WhomProps) {
  const person = f.type === 'user';
  const sees = useCan(person ? 'user.read' : 'team.read');
  const [people, teams] = [usePersonChoices(!person), useTeamChoices(person)];
  const asked = useRead(FormChoices, { offeringId: offering ?? '', field: f.key }, sees || !offering);
  const all = sees ? (person ? people : teams) : asked.data?.formChoices ?? [];
  const required = f.required ?? false;
  if (all.length === 0) return <input {...rest} value={value} aria-required={required} list={person ? 'oneself' : undefined} placeholder={person ? 'usr_…' : 'team_…'} onChange={(e) => { set(e.target.value); }} />;
  return <select {...rest} value={value} aria-required={required} onChange={(e) => { set(e.target.value); }}><option value="">{t('Choose…')}</option>{all.map((p) => <option key={p.id} value={p.id}>{p.name}</option>)}</select>;
}

function control(f: FormField, value: unknown, set: (v: unknown) => void, offering: string | undefined): ReactElement<object> {
  const required = f.required ?? false;
  const text = value === undefined || value === null ? '' : String(value);
  switch (f.type) {
    case 'textarea':
      return <textarea dir="auto" value={text} aria-required={required} maxLength={f.max ? Number(f.max) : undefined} onChange={(e) => { set(e.target.value); }} />;
    case 'boolean':
      return <select value={text} aria-required={required} onChange={(e) => { set(e.target.value); }}><option value="">{t('Choose…')}</option><option value="true">{t('Yes')}</option><option value="false">{t('No')}</option></select>;
    case 'select':
      return <select value={text} aria-required={required} onChange={(e) => { set(e.target.value); }}><option value="">{t('Choose…')}</option>{f.options?.map((o) => <option key={o}>{o}</option>)}</select>;
    case 'multiselect':
      return (
        <select multiple aria-required={required} size={Math.min(6, f.options?.length ?? 2)} value={Array.isArray(value) ? value.map(String) : []} onChange={(e) => { set([...e.target.selectedOptions].map((o) => o.value)); }}>
          {f.options?.map((o) => <option key={o}>{o}</option>)}
        </select>
      );
    case 'user':
    case 'team':
      return <Whom field={f} offering={offering} value={text} set={set} />;
    default:
      return (
        <input
          type={inputs[f.type] ?? 'text'} dir={f.type === 'text' ? 'auto' : undefined} step={f.type === 'number' ? 'any' : undefined} min={f.type === 'number' ? f.min?.toString() : undefined} max={f.type === 'number' ? f.max?.toString() : undefined}
          value={f.type === 'datetime' ? fieldTime(text) : text} aria-required={required} onChange={(e) => { set(e.target.value); }}
        />
      );
  }
}
