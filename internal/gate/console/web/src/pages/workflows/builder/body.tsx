// body is what a call sends: names and values, a text, or any JSON.
import { useState } from 'react';
import { parse } from '../../../app/digits';
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';
import { CodeField } from './codefield';
import { usePhase } from './context';
import { formOf, scalar, scalarOf, turned, type Form, type Scalar } from './payload';
import { Entries } from './rows';
import { at, below, isObject, text } from './shape';
import type { Place } from './known';
import { TemplateField } from './templatefield';

const forms: Record<Form, string> = { none: t('Nothing'), pairs: t('Names and values'), text: t('Text'), json: t('JSON') };
const scalars: Record<Scalar, string> = { text: t('Text'), number: t('Number'), boolean: t('Yes or no'), null: t('Empty') };

export function Body({ label, path, value, change }: { label: string; path: string; value: unknown; change: (to: unknown) => void }) {
  const { problems } = usePhase();
  const [chosen, choose] = useState<Form | null>(null);
  const is = formOf(value);
  const form = chosen === 'json' && is !== 'none' ? 'json' : chosen === 'pairs' && is === 'json' ? 'json' : is;
  return (
    <>
      <Field label={label} fault={form === 'pairs' ? at(problems, path) : form === 'none' ? below(problems, path) : undefined}>
        <select value={form} onChange={(e) => { const to = e.target.value as Form; choose(to); change(turned(value, to)); }}>
          {Object.entries(forms).map(([key, says]) => <option key={key} value={key}>{says}</option>)}
        </select>
      </Field>
      {form === 'pairs' && isObject(value) && (
        <Entries
          label={t('Names and values')} of={value} change={change} name={t('Name')} pattern={/^/} says="" add={t('Add value')} fresh="" problemOf={(name) => below(problems, `${path}.${name}`)}
          value={(e, set, problem) => <Member value={e.value} set={set} problem={problem} />}
        />
      )}
      {form === 'text' && <TemplateField label={t('Text')} lines place={'call'} value={text(value)} change={change} problem={below(problems, path)} />}
      {form === 'json' && <Raw value={value} change={change} problem={below(problems, path)} />}
    </>
  );
}

interface MemberProps { value: unknown; set: (v: unknown) => void; problem: string | undefined; place?: Place }

// Member is one value of names and values, with its type.
export function Member({ value, set, problem, place = 'call' }: MemberProps) {
  const is = scalarOf(value) ?? 'text';
  return (
    <div className="member">
      <Field label={t('Type')} fault={is === 'null' ? problem : undefined}><select value={is} onChange={(e) => { set(scalar(value, e.target.value as Scalar)); }}>{Object.entries(scalars).map(([key, says]) => <option key={key} value={key}>{says}</option>)}</select></Field>
      {is === 'text' && <TemplateField label={t('Value')} place={place} value={text(value)} change={set} problem={problem} />}
      {is === 'number' && <Field label={t('Value')} fault={problem}><input type="number" step="any" value={text(value)} onChange={(e) => { set(scalar(e.target.value, 'number')); }} /></Field>}
      {is === 'boolean' && <Field label={t('Value')} fault={problem}><select value={text(value)} onChange={(e) => { set(scalar(e.target.value, 'boolean')); }}><option value="true">{t('Yes')}</option><option value="false">{t('No')}</option></select></Field>}
    </div>
  );
}

// Raw is any JSON, with templates in its texts. What is no JSON yet stays here.
export function Raw({ value, change, problem }: { value: unknown; change: (to: unknown) => void; problem: string | undefined }) {
  const [draft, setDraft] = useState<{ text: string; of: string } | null>(null);
  const now = JSON.stringify(value);
  const shown = draft?.of === now ? draft.text : JSON.stringify(value, null, 2);
  const write = (to: string) => {
    let read: unknown;
    try { read = parse(to); } catch { setDraft({ text: to, of: now }); return; }
    setDraft({ text: to, of: JSON.stringify(read) });
    change(read);
  };
  const wrong = draft?.of === now && !readable(draft.text) ? t('This is not valid JSON yet.') : undefined;
  return <CodeField label={t('JSON')} hint={t('A text such as "${request.title}" holds a value.')} problem={wrong ?? problem} rows={8} place={'call'} wrap={(code) => `\${${code}}`} value={shown} change={write} />;
}

export function readable(text: string): boolean {
  try { parse(text); return true; } catch { return false; }
}
