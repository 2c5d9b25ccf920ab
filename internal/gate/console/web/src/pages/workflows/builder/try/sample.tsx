// sample says what a workflow is tried on: a request that is made up, one of the past, or the last call of its webhook.
import { useDeferredValue, useState } from 'react';
import { rows, useRead } from '../../../../app/data';
import { numberOf } from '../../../../app/digits';
import type { Fault } from '../../../../app/fault';
import { useCan } from '../../../../app/session';
import { t } from '../../../../app/text';
import { FindRequests } from '../../../../gen/documents';
import { keyOf } from '../../../../parts/formkeys';
import { toSend, type Answers, type FormField } from '../../../../ui/answer';
import { Field, faultBelow } from '../../../../ui/field';
import { focusSoon } from '../../../../ui/focus';
import { FormFields } from '../../../../ui/formfields';
import { PhaseContext, useAsked, useLastCall } from '../context';
import type { Asked } from '../known';
import { Entries } from '../rows';
import { text } from '../shape';
import { variable } from '../value';
import type { On } from './kept';

// formOf are the questions of the offering whose form the sample answers; none for free answers.
export const formOf = (asked: Asked[], on: On): FormField[] => ((asked.find((a) => a.name === on.offering) ?? asked[0])?.fields ?? []) as unknown as FormField[];

// Tried is what tries can be made on, and sent is what of it goes to the server.
export interface Tried { asked: Asked[]; called: boolean; sent: (on: On) => { request?: string; fields?: Answers; webhook?: unknown; input?: Answers } }

export function useTried(workflow: string): Tried {
  const [asked, call] = [useAsked(workflow), useLastCall(workflow)];
  const about = (on: On) => {
    if (on.kind === 'request' && on.request) return { request: on.request.id };
    if (on.kind === 'call' && call) return { webhook: { headers: call.headers, body: call.body } };
    const form = formOf(asked, on);
    return { fields: form.length > 0 ? toSend(form, on.fields) : typedAll(on.fields) };
  };
  return { asked, called: call !== null, sent: (on) => ({ ...about(on), ...(Object.keys(on.input).length > 0 ? { input: typedAll(on.input) } : {}) }) };
}

// Props are those of the choice. reads are the names of what a workflow that calls this one gives.
interface Props { on: On; tried: Tried; reads: string[]; fault: Fault | null; change: (on: On, at: 'once' | 'later') => void }

// TriedOn chooses what it is tried on. What is complete with the choice is tried at once.
export function TriedOn({ on, tried: { asked, called }, reads, fault, change }: Props) {
  const finds = useCan('request.read');
  const form = formOf(asked, on);
  const of = asked.length > 1 ? (asked.find((a) => a.name === on.offering) ?? asked[0])?.name ?? '' : '';
  const choose = (value: string) => {
    const [kind, offering = ''] = value.split(/ (.*)/s) as [On['kind'], string?];
    change({ ...on, kind, offering, ...(kind === 'sample' && offering !== on.offering ? { fields: {} } : {}) }, kind === 'request' && !on.request ? 'later' : 'once');
  };
  const set = (fields: Answers) => { change({ ...on, fields }, 'later'); };
  return (
    <>
      <Field label={t('Try with')}>
        <select value={on.kind === 'sample' ? `sample ${of}` : on.kind} onChange={(e) => { choose(e.target.value); }}>
          {asked.length > 1 ? asked.map((a) => <option key={a.name} value={`sample ${a.name}`}>{t('A sample request: {offering}', { offering: a.name })}</option>) : <option value="sample ">{t('A sample request')}</option>}
          {(finds || on.kind === 'request') && <option value="request">{t('A past request…')}</option>}
          {(called || on.kind === 'call') && <option value="call">{t('The last call of its webhook')}</option>}
        </select>
      </Field>
      {on.kind === 'request' && <Past chosen={on.request} choose={(request) => { change({ ...on, request }, request ? 'once' : 'later'); }} />}
      {on.kind === 'sample' && (
        <details className="more">
          <summary>{t('Answers of the sample')}</summary>
          <div className="stack phase-form">
            {form.length > 0 ? <FormFields fields={form} answers={on.fields} set={set} fault={fault} /> : <FreeAnswers label={t('Answers')} of={on.fields} change={set} />}
          </div>
        </details>
      )}
      {reads.length > 0 && (
        <details className="more">
          <summary>{t('Given by the calling workflow')}</summary>
          <FreeAnswers label={t('Values')} of={{ ...Object.fromEntries(reads.map((name) => [name, ''])), ...on.input }} change={(input) => { change({ ...on, input }, 'later'); }} problem={faultBelow(fault, 'input')} />
        </details>
      )}
    </>
  );
}

interface PastProps { chosen: On['request']; choose: (request: On['request']) => void }

// Past finds a request by its number or its words.
function Past({ chosen, choose }: PastProps) {
  const [q, set] = useState('');
  const found = useRead(FindRequests, { q: useDeferredValue(q.trim()) || null }, chosen !== null);
  const box = () => globalThis.document.querySelector<HTMLElement>('.try input[type=search]'); // not said
  const again = () => globalThis.document.querySelector<HTMLElement>('.try-past button'); // not said
  if (chosen) return <p className="line try-past"><strong className="grow" dir="auto">{chosen.title}</strong><button type="button" className="plain small" onClick={() => { choose(null); focusSoon(box); }}>{t('Another request')}</button></p>;
  const list = rows(found.data?.requests).slice(0, 6);
  return (
    <>
      <Field label={t('Find a request')} hint={t('By its number or its words.')}><input type="search" dir="auto" autoComplete="off" maxLength={200} value={q} onChange={(e) => { set(e.target.value); }} /></Field>
      <ul className="try-found" aria-label={t('Requests')} aria-busy={found.behind}>
        {list.map((r) => <li key={r.id}><button type="button" className="quiet" dir="auto" onClick={() => { choose({ id: r.id, title: `#${r.number} ${r.title}` }); focusSoon(again); }}>#{r.number} {r.title}</button></li>)}
      </ul>
      {found.data && list.length === 0 && <p className="soft">{t('No request was found.')}</p>}
    </>
  );
}

const nothing = { workflow: '', definition: {}, id: '', problems: [], readOnly: false, values: () => ({ tree: [], labels: new Map() }), people: { user: [], team: [], agent: [] }, calendars: [], secrets: [] };

// typedAll are free answers as they were written: numbers and truth values are such.
export const typedAll = (written: Answers): Answers => Object.fromEntries(Object.entries(written).map(([name, v]) => [name, v === 'true' ? true : v === 'false' ? false : typeof v === 'string' ? numberOf(v) ?? v : v]));

interface FreeProps { label: string; of: Answers; change: (to: Answers) => void; problem?: string | undefined }

// FreeAnswers are answers where no form says what is asked.
export function FreeAnswers({ label, of, change, problem }: FreeProps) {
  return (
    <PhaseContext value={nothing}>
      <Entries
        label={label} of={of} change={change} name={t('Name in expressions')} pattern={variable} says={t('Use letters, digits and _ only, not starting with a digit.')} tidy={keyOf} add={t('Add an answer')} fresh="" problem={problem} problemOf={() => undefined}
        value={(e, set) => <Field label={t('Value')}><input dir="auto" value={text(e.value)} onChange={(x) => { set(x.target.value); }} /></Field>}
      />
    </PhaseContext>
  );
}
