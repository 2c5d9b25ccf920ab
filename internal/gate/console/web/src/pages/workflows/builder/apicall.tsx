// apicall is the form of an API_CALL: what is sent, what is kept of the answer, and what follows on which status.
import { useMemo, useState } from 'react';
import { numberOf } from '../../../app/digits';
import { t } from '../../../app/text';
import { keyOf } from '../../../parts/formkeys';
import { Field } from '../../../ui/field';
import { Body, readable } from './body';
import type { FormProps } from './common';
import { PhaseContext, usePhase } from './context';
import { variable } from './value';
import { answered, labelsOf } from './known';
import { Picker } from './picker';
import { Entries, Rows } from './rows';
import { at, below, object, objects, put, text, type Json } from './shape';
import { secretOf, SecretPicker } from './secretpicker';
import { SendOnce, useExample } from './sendonce';
import { TemplateField } from './templatefield';
import { ValueField } from './valuefield';
import { WayField } from './wayfield';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const bearer = /^Bearer (\$\{[^}]*\})$/;

export function CallForm({ config, set }: FormProps) {
  const { id, problems } = usePhase();
  const headers = object(config['headers']);
  return (
    <>
      <div className="call-line">
        <Field label={t('Method')} fault={at(problems, 'config.method')}>
          <select value={text(config['method'])} onChange={(e) => { set('method', e.target.value); }}>{!methods.includes(text(config['method'])) && <option value={text(config['method'])} disabled>{t('Choose…')}</option>}{methods.map((m) => <option key={m}>{m}</option>)}</select>
        </Field>
        <TemplateField label={t('Address')} place={'call'} placeholder={'https://'} value={text(config['url'])} change={(to) => { set('url', to); }} problem={at(problems, 'config.url', 'config')} />
      </div>
      <Token headers={headers} change={(to) => { set('headers', to); }} />
      <Entries
        label={t('Headers')} of={headers} change={(to) => { set('headers', Object.keys(to).length > 0 ? to : undefined); }} name={t('Name')} placeholder={'accept-language'} pattern={/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/} says={t('That is not a header name.')} add={t('Add header')} fresh=""
        problem={at(problems, 'config.headers')} problemOf={(name) => below(problems, `config.headers.${name}`)}
        value={(e, to, problem) => <TemplateField label={t('Value')} place={'call'} value={text(e.value)} change={to} problem={problem} />}
      />
      {!['GET', 'HEAD'].includes(text(config['method'])) || config['body'] !== undefined ? <Body label={t('What is sent')} path="config.body" value={config['body']} change={(to) => { set('body', to); }} /> : null}
      <SendOnce phaseId={id} />
    </>
  );
}

// Token is the usual way to sign in to an API: a secret in the header Authorization.
function Token({ headers, change }: { headers: Json; change: (to: Json | undefined) => void }) {
  const name = Object.keys(headers).find((k) => k.toLowerCase() === 'authorization') ?? 'authorization';
  const now = text(headers[name]);
  const secret = bearer.exec(now)?.[1] ?? '';
  if (now && !secretOf(secret)) return null; // in a way of its own, below
  return (
    <SecretPicker
      label={t('Token')} none={t('None')} hint={t('A secret, sent as a bearer token to the hosts that it names.')} value={secret}
      change={(to) => { const next = put(headers, name, to ? `Bearer ${to}` : undefined); change(Object.keys(next).length > 0 ? next : undefined); }}
    />
  );
}

// Answer is what is expected of the call, and what becomes of its answer.
export function AnswerForm({ config, set }: FormProps) {
  const outer = usePhase();
  const { problems } = outer;
  const came = useExample(outer.id);
  const [pasted, setPasted] = useState('');
  const example = pasted || came;
  const values = useMemo(() => {
    const tree = [answered(example), ...outer.values('response').tree.slice(1)];
    return { tree, labels: labelsOf(tree) };
  }, [outer, example]);
  const retries = object(config['retries']);
  const again = (key: string, value: unknown) => {
    const to = put(retries, key, value);
    set('retries', Object.keys(to).length > 0 ? to : undefined);
  };
  return (
    <PhaseContext value={{ ...outer, values: (place) => (place === 'response' ? values : outer.values(place)) }}>
      <Entries
        label={t('Keep from the response')} hint={t('Later phases read each by its name. The status code is always kept.')} of={object(config['response'])} change={(to) => { set('response', Object.keys(to).length > 0 ? to : undefined); }} name={t('Name')} placeholder={'number'} pattern={variable} says={t('Use letters, digits and _ only, not starting with a digit.')} tidy={keyOf} add={t('Keep a value')} fresh={'response.body.'}
        problem={at(problems, 'config.response')} problemOf={(name) => at(problems, `config.response.${name}`)}
        value={(e, to, problem) => <Kept value={text(e.value)} change={to} problem={problem} />}
      />
      <details>
        <summary>{t('Example response')}</summary>
        <Field label={t('Example response')} hint={t('Send the call once, or paste one, to choose values from it. It is not saved.')} fault={example.trim() !== '' && !readable(example) ? t('This is not valid JSON yet.') : undefined}>
          <textarea className="mono" rows={5} spellCheck={false} value={example} onChange={(e) => { setPasted(e.target.value); }} />
        </Field>
      </details>
      <Rows<Json>
        label={t('Other responses')} hint={t('An error response stops the workflow unless it has an outcome here.')} all={objects(config['statusRules'])} change={(to) => { set('statusRules', to.length > 0 ? to : undefined); }} fresh={() => ({ status: '404', transition: '' })} add={t('Add status code')} ordered problem={at(problems, 'config.statusRules')}
        row={(rule, change, i) => (
          <div className="entry">
            <Field label={t('Status code')} hint={t('Such as 404, or 4xx for all of them.')} fault={at(problems, `config.statusRules[${i}].status`, `config.statusRules[${i}]`)}><input className="mono" maxLength={3} value={text(rule['status'])} onChange={(e) => { change(put(rule, 'status', e.target.value.trim().toLowerCase())); }} /></Field>
            <WayField label={t('Outcome')} value={text(rule['transition'])} change={(to) => { change(put(rule, 'transition', to)); }} problem={at(problems, `config.statusRules[${i}].transition`)} />
          </div>
        )}
      />
      <div className="pair level">
        <Field label={t('Retries')} optional fault={at(problems, 'config.retries.max', 'config.retries')}><input type="number" min={0} max={10} placeholder="3" value={text(retries['max'])} onChange={(e) => { again('max', numberOf(e.target.value)); }} /></Field>
        <Field label={t('Before the first retry (seconds)')} optional fault={at(problems, 'config.retries.backoffSeconds')}><input type="number" min={1} max={3600} placeholder="1" value={text(retries['backoffSeconds'])} onChange={(e) => { again('backoffSeconds', numberOf(e.target.value)); }} /></Field>
        <Field label={t('Timeout (seconds)')} optional fault={at(problems, 'config.timeoutSeconds')}><input type="number" min={1} max={60} placeholder="30" value={text(config['timeoutSeconds'])} onChange={(e) => { set('timeoutSeconds', numberOf(e.target.value)); }} /></Field>
      </div>
    </PhaseContext>
  );
}

const inBody = /^response\.body((?:\.[A-Za-z_]\w*|\[\d+\])+|\.)$/;

// Kept is where a value stands in the answer: by the names that lead to it, or as an expression.
function Kept({ value, change, problem }: { value: string; change: (to: string) => void; problem: string | undefined }) {
  const { readOnly, values } = usePhase();
  const [written, write] = useState(''); // also while it ends with the point of the next name
  const path = inBody.exec(value)?.[1] ?? (value !== '' && written === value ? value.slice('response.body'.length) : undefined);
  const take = (to: string) => {
    const code = to.startsWith('[') ? `response.body${to}` : `response.body.${to}`;
    write(code);
    change(code);
  };
  if (path === undefined) return <ValueField label={t('From the response')} place={'response'} only={['known', 'code']} value={value} change={change} problem={problem} />;
  return (
    <div>
      <Field label={t('Field of the response')} hint={t('Such as order.number, or items[0].id.')} fault={problem}><input className="mono" spellCheck={false} value={path.replace(/^\./, '')} onChange={(e) => { take(e.target.value.trim()); }} /></Field>
      {!readOnly && (
        <div className="line template-verbs">
          <Picker tree={values('response').tree} label={t('Choose a value')} pick={(k) => { change(k.code); }} />
          <button type="button" className="quiet small" onClick={() => { change('response.body'); }}>{t('As an expression')}</button>
        </div>
      )}
    </div>
  );
}
