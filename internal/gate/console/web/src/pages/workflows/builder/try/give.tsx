// give asks for the answer that a phase would get: the task's form and outcomes, a decision, or what another server answers.
import { useState } from 'react';
import { numberOf, parse } from '../../../../app/digits';
import type { Fault } from '../../../../app/fault';
import { t } from '../../../../app/text';
import { toSend, type Answers, type FormField } from '../../../../ui/answer';
import { Field, faultAt, faultBelow } from '../../../../ui/field';
import { FormFields } from '../../../../ui/formfields';
import type { Phase } from '../definition';
import { SendOnce, written as asWritten } from '../sendonce';
import { isObject, object, objects, text, type Json } from '../shape';
import { body, invalid, type Ask, type Step } from './answers';
import { FreeAnswers } from './sample';
import { typedAll } from './tried';
import { choiceSaid } from './words';

// Props are those of a question. now is what it was answered, prefix where the server has the answer, and give takes the new one.
interface Props { name: string; now: Json; busy: boolean; fault: Fault | null; prefix: string; give: (answer: Json) => void }

interface AskProps extends Props { ask: Ask; step: Step; phase: Phase | undefined; fields: Answers }

// GiveAsked answers a question to people. fields are the answers of the sample request: a correction begins with those that are wrong.
export function GiveAsked({ ask, step, phase, fields, name, now, busy, fault, prefix, give }: AskProps) {
  const form = objects(object(object(phase?.['config'])['form'])['fields']) as unknown as FormField[];
  const corrects = ask.kind === 'CORRECTION';
  const [answers, set] = useState<Answers>({ ...(corrects ? Object.fromEntries(invalid(step).filter((e) => e.field !== '').map((e) => [e.field, fields[e.field] ?? ''])) : {}), ...object(now['variables']) });
  const press = (choice: string) => {
    if (ask.kind === 'SIGN_OFF') give({ ...now, signOff: choice });
    else if (ask.kind === 'APPROVAL') give({ decision: choice });
    else give({ outcome: choice, ...(form.length > 0 ? { variables: toSend(form, answers) } : {}) });
  };
  const key = ask.kind === 'SIGN_OFF' ? 'signOff' : ask.kind === 'TASK' ? 'outcome' : 'decision';
  const said = faultAt(fault, `${prefix}.${key}`, prefix);
  return (
    <form className="try-give stack" noValidate aria-label={t('Answer of “{name}”', { name })} onSubmit={(e) => { e.preventDefault(); }}>
      {ask.kind === 'TASK' && <FormFields fields={form} answers={answers} set={set} fault={fault} prefix={`${prefix}.variables`} />}
      {corrects && <FreeAnswers label={t('Corrected answers')} of={answers} change={set} problem={faultBelow(fault, `${prefix}.variables`)} />}
      {said && <p className="fault" role="alert">{said}</p>}
      <p className="line">
        {corrects && <button type="button" className="small" disabled={busy} onClick={() => { give({ variables: typedAll(answers) }); }}>{t('Correct it')}</button>}
        {ask.outcomes.map((o, i) => <button key={o} type="button" className={`${i === 0 ? '' : 'plain '}small`} disabled={busy} onClick={() => { press(o); }}>{choiceSaid(ask, o)}</button>)}
      </p>
    </form>
  );
}

interface CalledProps extends Props { phaseId: string }

// GiveCalled answers the calls of a phase, all alike.
export function GiveCalled({ phaseId, name, now, busy, fault, prefix, give }: CalledProps) {
  const [status, setStatus] = useState(text(now['status']) || '200');
  const [written, write] = useState(now['body'] === undefined ? '' : asWritten(now['body']));
  const [headers, setHeaders] = useState(now['headers']);
  const answer = () => {
    const of = body(written, parse);
    give({ status: numberOf(status) ?? status, ...(isObject(headers) ? { headers } : {}), ...(of === undefined ? {} : { body: of }) });
  };
  return (
    <form className="try-give stack" noValidate aria-label={t('Answer of “{name}”', { name })} onSubmit={(e) => { e.preventDefault(); answer(); }}>
      <Field label={t('Status code')} fault={faultAt(fault, `${prefix}.status`)}><input inputMode="numeric" maxLength={3} value={status} onChange={(e) => { setStatus(e.target.value.trim()); }} /></Field>
      <Field label={t('Body')} optional hint={t('As JSON, or a text.')} fault={faultBelow(fault, `${prefix}.body`)}><textarea className="mono" rows={3} spellCheck={false} value={written} onChange={(e) => { write(e.target.value); }} /></Field>
      <p className="line">
        <button type="submit" className="small" disabled={busy}>{t('Use this answer')}</button>
        <button type="button" className="plain small" disabled={busy} onClick={() => { give({ failure: t('The other server does not answer.') }); }}>{t('Let the call fail')}</button>
      </p>
      <SendOnce phaseId={phaseId} take={(a) => { setStatus(text(a['status'])); setHeaders(a['headers']); write(a['body'] === undefined || a['body'] === null ? '' : asWritten(a['body'])); }} />
    </form>
  );
}

// GiveReturned ends a workflow that would be started. What its phases leave is JSON, by their ids.
export function GiveReturned({ name, now, busy, fault, prefix, give }: CalledProps) {
  const left = object(now['phases']);
  const [written, write] = useState(Object.keys(left).length > 0 ? JSON.stringify(left, null, 1) : '');
  const [wrong, setWrong] = useState('');
  const answer = () => {
    const phases = body(written, parse) ?? {};
    setWrong(isObject(phases) ? '' : t('This is not valid JSON yet.'));
    if (isObject(phases)) give({ phases });
  };
  return (
    <form className="try-give stack" noValidate aria-label={t('Answer of “{name}”', { name })} onSubmit={(e) => { e.preventDefault(); answer(); }}>
      <Field label={t('What its phases leave')} optional hint={t('As JSON, by the names of the phases in expressions.')} fault={wrong || faultBelow(fault, `${prefix}.phases`)}><textarea className="mono" rows={3} spellCheck={false} value={written} onChange={(e) => { write(e.target.value); }} /></Field>
      <p className="line">
        <button type="submit" className="small" disabled={busy}>{t('Let it end')}</button>
        <button type="button" className="plain small" disabled={busy} onClick={() => { give({ failure: t('The called workflow has failed.') }); }}>{t('Let it fail')}</button>
      </p>
    </form>
  );
}
