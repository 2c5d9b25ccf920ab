// task is the form of a PROCESS: a task for a person, a team or an agent.
import { useRef } from 'react';
import type { Fault } from '../../../app/fault';
import { t } from '../../../app/text';
import { FormBuilder } from '../../../parts/formbuilder';
import type { FormField } from '../../../ui/answer';
import { Field } from '../../../ui/field';
import { MinutesField } from '../../../ui/minutesfield';
import { numeric, type FormProps } from './common';
import { usePhase } from './context';
import { rekeyed } from './fresh';
import { at, list, object, objects, put, text, within } from './shape';
import { ShowsField } from './shows';
import { TemplateField } from './templatefield';

export function TaskForm(props: FormProps) {
  const { config, set } = props;
  const { problems } = usePhase();
  return (
    <>
      <TemplateField label={t('Title of the task')} optional value={text(config['title'])} change={(to) => { set('title', to || undefined); }} problem={at(problems, 'config.title')} hint={t('Without one the task has the name of the phase.')} />
      <Field label={t('Instructions')} optional fault={at(problems, 'config.instructions')}><textarea dir="auto" maxLength={10_000} value={text(config['instructions'])} onChange={(e) => { set('instructions', e.target.value || undefined); }} /></Field>
      <MinutesField label={t('Due within')} value={numeric(config['dueMinutes'])} change={(n) => { set('dueMinutes', n); }} problem={at(problems, 'config.dueMinutes')} />
      <ShowsField {...props} />
    </>
  );
}

// TaskFields is what a completion asks.
export function TaskFields({ config, set }: FormProps) {
  const { definition, id, problems } = usePhase();
  const fresh = useRef(new Set<string>());
  const form = object(config['form']);
  const fields = objects(form['fields']) as unknown as FormField[];
  const named = (key: string) => new RegExp(`phases\\.${id}\\.${key}\\b`).test(JSON.stringify(definition));
  const change = (to: FormField[]) => {
    const keyed = rekeyed(to, fields, fresh.current, named);
    fresh.current = keyed.fresh;
    set('form', to.length > 0 ? put(form, 'fields', keyed.fields) : undefined);
  };
  const fault: Fault = { code: '', message: '', details: problems.map((p) => ({ field: p.path, message: p.message })) };
  const whole = problems.filter((p) => within(p.path, 'config.form') && !p.path.startsWith('config.form.fields[')).map((p) => p.message).join(' ');
  return (
    <>
      {whole && <p className="fault" role="alert">{whole}</p>}
      <FormBuilder fields={list(form['fields']).length > 0 ? fields : []} change={change} fault={fault} at="config.form.fields" />
    </>
  );
}
