// formbuilder builds the form of an offering or of a task, with a live preview.
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Fault } from '../app/fault';
import { t } from '../app/text';
import type { Answers, FormField } from '../ui/answer';
import { Check, Field, below, faultAt } from '../ui/field';
import { FormFields } from '../ui/formfields';
import { moved, without } from '../ui/lists';
import { FileKinds } from './filekinds';
import { keyed } from './formkeys';
import { Limits } from './limits';
import { ShownWhen } from './shownwhen';

const types: Record<string, string> = {
  text: t('Short text'), textarea: t('Long text'), number: t('Number'), boolean: t('Yes or no'), date: t('Date'), datetime: t('Date and time'), email: t('E-mail address'), url: t('Web address'),
  select: t('One choice'), multiselect: t('Several choices'), user: t('Person'), team: t('Team'), file: t('File'),
};

// formFaults are the fields at fault that the builder shows, of a form with so many fields.
export const formFaults = (fault: Fault | null, at: string, count: number): string[] => Array.from({ length: count }, (_x, i) =>
  ['key', 'label', 'type', 'options', 'help', 'visibleWhen', 'min', 'max', 'pattern', 'accept', 'maxFiles'].flatMap((k) => below(fault, `${at}[${i}].${k}`))).flat();

interface Props { fields: FormField[]; change: (to: FormField[]) => void; fault: Fault | null; at: string }

// FormBuilder takes the fields of a form. at is where they stand, as faults name them: form.fields.
export function FormBuilder({ fields, change, fault, at }: Props) {
  const [answers, setAnswers] = useState<Answers>({});
  const edit = (i: number, f: Partial<FormField>) => { change(fields.map((x, j) => (j === i ? { ...x, ...f } : x))); };
  // limit is when a field is shown. What it names has a key of its own from then on, so that another label does not lose it.
  const limit = (i: number, visibleWhen: FormField['visibleWhen']) => {
    change(keyed(fields).map((f, j) => ({ ...f, key: Object.hasOwn(visibleWhen ?? {}, f.key) ? f.key : fields[j]?.key ?? '', ...(j === i ? { visibleWhen } : {}) })));
  };
  return (
    <>
      <div className="form-builder">
        {fields.map((f, i) => (
          <fieldset key={i} className="card form-field">
            <legend className="hidden">{t('Field {n}', { n: i + 1 })}</legend>
            <header>
              <strong dir="auto">{f.label || t('Field {n}', { n: i + 1 })}</strong>
              <span className="line">
                <button type="button" className="icon" aria-label={t('Move field {n} up', { n: i + 1 })} disabled={i === 0} onClick={() => { change(moved(fields, i, -1)); }}><ArrowUp size={15} aria-hidden /></button>
                <button type="button" className="icon" aria-label={t('Move field {n} down', { n: i + 1 })} disabled={i === fields.length - 1} onClick={() => { change(moved(fields, i, 1)); }}><ArrowDown size={15} aria-hidden /></button>
                <button type="button" className="icon" aria-label={t('Remove field {n}', { n: i + 1 })} onClick={() => { change(without(fields, i)); }}><Trash2 size={15} aria-hidden /></button>
              </span>
            </header>
            <div className="pair">
              <Field label={t('Label')} fault={faultAt(fault, `${at}[${i}].label`, `${at}[${i}].key`)}><input dir="auto" value={f.label ?? ''} onChange={(e) => { edit(i, { label: e.target.value }); }} /></Field>
              <Field label={t('Type')} fault={faultAt(fault, `${at}[${i}].type`)}><select value={f.type} onChange={(e) => { edit(i, { type: e.target.value, options: ['select', 'multiselect'].includes(e.target.value) ? f.options ?? [] : null, min: null, max: null, pattern: null, accept: null, maxFiles: null }); }}>{Object.entries(types).map(([type, says]) => <option key={type} value={type}>{says}</option>)}</select></Field>
            </div>
            {['select', 'multiselect'].includes(f.type) && (
              <Field label={t('Options')} hint={t('One per line.')} fault={faultAt(fault, ...below(fault, `${at}[${i}].options`))}>
                <textarea dir="auto" value={(f.options ?? []).join('\n')} onChange={(e) => { edit(i, { options: e.target.value.split('\n') }); }} onBlur={() => { edit(i, { options: (f.options ?? []).map((x) => x.trim()).filter(Boolean) }); }} />
              </Field>
            )}
            {f.type === 'file' && <FileKinds field={f} at={`${at}[${i}]`} change={(to) => { edit(i, to); }} fault={fault} />}
            <Field label={t('Help')} optional fault={faultAt(fault, `${at}[${i}].help`)}><input dir="auto" value={f.help ?? ''} onChange={(e) => { edit(i, { help: e.target.value || null }); }} /></Field>
            <Limits field={f} at={`${at}[${i}]`} change={(to) => { edit(i, to); }} fault={fault} />
            <Check label={t('Required')} checked={f.required ?? false} set={(required) => { edit(i, { required }); }} />
            <ShownWhen index={i} path={`${at}[${i}].visibleWhen`} all={keyed(fields)} set={(visibleWhen) => { limit(i, visibleWhen); }} fault={fault} />
          </fieldset>
        ))}
        <button type="button" className="plain" onClick={() => { change([...fields, { key: '', label: '', type: 'text', required: false }]); }}><Plus size={15} aria-hidden /> {t('Add field')}</button>
      </div>
      {fields.length > 0 && (
        <section className="card pad stack" aria-label={t('Preview')}>
          <h3>{t('Preview')}</h3>
          <FormFields fields={keyed(fields)} answers={answers} set={setAnswers} noFiles="" />
        </section>
      )}
    </>
  );
}
