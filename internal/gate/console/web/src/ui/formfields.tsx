// formfields are the controls of an offering's or a task's form, one for each of the thirteen types.
import { useDeferredValue, useRef, useState, type ReactElement } from 'react';
import type { Fault } from '../app/fault';
import { useRead } from '../app/data';
import { useCan, useViewer } from '../app/session';
import { plural, t } from '../app/text';
import { FormChoices } from '../gen/documents';
import { Choices, usePersonChoices, useTeamChoices } from '../parts/choices';
import { FileAnswer } from '../parts/fileanswer';
import { kindsOf } from './accept';
import type { Answers, FormField } from './answer';
import { fieldTime, visible } from './answer';
import { Field, below, faultAt } from './field';

interface Props { fields: FormField[]; answers: Answers; set: (a: Answers) => void; fault?: Fault | null; prefix?: string; offering?: string | undefined;
  sending?: (on: boolean) => void; // hears whether files are on their way: what is sent meanwhile is without them
  noFiles?: string | undefined; // why no files can be given here; '' says nothing of it
}

// FormFields are the questions of a form. offering is whose form it is: it tells members, too, which people and teams there are.
export function FormFields({ fields, answers, set, fault, prefix = 'fields', offering, sending, noFiles }: Props) {
  const viewer = useViewer();
  const latest = useRef(answers); // two questions may get their files before the form is drawn again
  latest.current = answers;
  const going = useRef(new Set<string>());
  const put = (key: string, v: unknown) => { set(latest.current = { ...latest.current, [key]: v }); };
  const tell = (key: string, on: boolean) => {
    if (on) going.current.add(key);
    else going.current.delete(key);
    sending?.(going.current.size > 0);
  };
  return (
    <>
      {fields.filter((f) => visible(f, fields, answers)).map((f) => {
        const at = `${prefix}.${f.key}`;
        if (f.type === 'file') {
          const ids = (answers[f.key] ?? []) as unknown[];
          const wrong = faultAt(fault, at) ?? (below(fault, at).length > 0 ? t('See what is wrong with the files.') : undefined);
          return (
            <Field key={f.key} label={f.label || f.key} hint={[f.help, takesOf(f), noFiles].filter(Boolean).join(' ') || undefined} optional={!f.required} fault={wrong}>
              {noFiles === undefined ? <FileAnswer field={f} value={ids} set={(v) => { put(f.key, v); }} wrong={ids.map((_x, i) => faultAt(fault, `${at}[${i}]`))} sending={(on) => { tell(f.key, on); }} />
                : <button type="button" className="plain small start" disabled>{t('Attach files')}</button>}
            </Field>
          );
        }
        return (
          <Field key={f.key} label={f.label || f.key} hint={f.help || undefined} optional={!f.required} fault={faultAt(fault, at)}>
            {control(f, answers[f.key], (v) => { put(f.key, v); }, offering)}
          </Field>
        );
      })}
      <datalist id="oneself"><option value={viewer.id}>{t('{name} (you)', { name: viewer.name })}</option></datalist>
    </>
  );
}

// takesOf says which files a question takes.
function takesOf(f: FormField): string {
  const most = Number(f.maxFiles ?? 1);
  return [f.accept && f.accept.length > 0 && t('Takes {kinds}.', { kinds: kindsOf(f.accept) }), most > 1 && plural(most, 'At most {n} file.', 'At most {n} files.')].filter(Boolean).join(' ');
}

// asked are the names of a form's questions as faults have them, with what is below: a file of an answer is at fault by itself.
export const asked = (fault: Fault | null | undefined, fields: FormField[], prefix = 'fields'): string[] =>
  fields.flatMap((f) => [`${prefix}.${f.key}`, ...below(fault, `${prefix}.${f.key}`)]);

const inputs: Record<string, string> = { text: 'text', number: 'number', date: 'date', datetime: 'datetime-local', email: 'email', url: 'url' };

interface WhomProps { field: FormField; offering: string | undefined; value: string; set: (v: string) => void }

const mostChoices = 200; // that are told to those who read no users or teams; a word finds the others

// Whom asks for a person or a team. The other properties are those that Field gives to its control.
function Whom({ field: f, offering, value, set, ...rest }: WhomProps) {
  const person = f.type === 'user';
  const sees = useCan(person ? 'user.read' : 'team.read');
  const [people, teams] = [usePersonChoices(!person), useTeamChoices(person)];
  const [find, setFind] = useState('');
  const q = useDeferredValue(find.trim());
  const asked = useRead(FormChoices, { offeringId: offering ?? '', field: f.key, ...(q ? { q } : {}) }, sees || !offering);
  const all = sees ? (person ? people : teams) : asked.data?.formChoices ?? [];
  const long = find !== '' || (!sees && all.length >= mostChoices);
  const chosen = useRef<{ id: string; name: string }>(undefined);
  const required = f.required ?? false;
  if (all.length === 0 && !long) return <input {...rest} value={value} aria-required={required} list={person ? 'oneself' : undefined} placeholder={person ? 'usr_…' : 'team_…'} onChange={(e) => { set(e.target.value); }} />;
  const choose = (id: string) => {
    chosen.current = all.find((c) => c.id === id);
    set(id);
  };
  return (
    <>
      {long && <input className="find" type="search" dir="auto" aria-label={t('Search')} placeholder={t('Search')} value={find} onChange={(e) => { setFind(e.target.value); }} />}
      <select {...rest} value={value} aria-required={required} onChange={(e) => { choose(e.target.value); }}><option value="">{t('Choose…')}</option><Choices of={all} now={chosen.current?.id === value ? chosen.current : value} /></select>
    </>
  );
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
