// field holds the controls of forms: each with its label, its hint, and the fault that the server found in it.
import { cloneElement, useEffect, useId, useState, type MouseEvent, type ReactElement, type ReactNode } from 'react';
import { sentence, unproven, type Fault } from '../app/fault';
import { placed, t } from '../app/text';
import { settled } from './faults';
import { focusSoon } from './focus';
import { Decider } from './states';
import type { Base } from './draft';

export { below, faultAt, faultBelow } from './faults';

type Control = ReactElement<{ id?: string; 'aria-invalid'?: boolean; 'aria-describedby'?: string; required?: boolean }>;
interface FieldProps { label: string; hint?: ReactNode; fault?: string | undefined; optional?: boolean; children: Control }

export function Field({ label, hint, fault, optional, children }: FieldProps) {
  const id = useId();
  const described = [hint ? `${id}h` : '', fault ? `${id}f` : ''].filter(Boolean).join(' ');
  return (
    <div className={`field${fault ? ' faulty' : ''}`}>
      <div className="label-row"><label htmlFor={id}>{label}</label>{optional && <span className="soft small-text" aria-hidden>{t('Optional')}</span>}</div>
      {cloneElement(children, { id, ...(fault ? { 'aria-invalid': true } : {}), ...(described ? { 'aria-describedby': described } : {}) })}
      {hint && <p className="hint" id={`${id}h`}>{hint}</p>}
      {fault && <p className="fault" id={`${id}f`}>{fault}</p>}
    </div>
  );
}

interface RestProps { fault: Fault | null | undefined; fields: string[]; base?: Base | undefined }

// Rest says what of a refusal belongs to no field of the form. Of a draft it says that it was begun before, and lets it stand or go,
// also where somebody else has changed the row.
export function Rest({ fault, fields, base }: RestProps) {
  const said = fault && !settled.has(fault) ? fault : null;
  const missed = said?.code === 'precondition_failed';
  return (
    <>
      {base && <Begun base={base} fault={said} />}
      {said && !(base && missed) && <Refusal fault={said} fields={fields} />}
    </>
  );
}

function Begun({ base, fault }: { base: Base; fault: Fault | null }) {
  const missed = fault?.code === 'precondition_failed';
  // The button goes once it was pressed; the focus stays in the form.
  const press = (act: (form: HTMLFormElement | null) => void, next: string) => (e: MouseEvent<HTMLButtonElement>) => {
    const form = e.currentTarget.form;
    if (fault) settled.add(fault);
    act(form);
    focusSoon(() => form?.querySelector<HTMLElement>(next));
  };
  const discard = press((form) => {
    base.discard();
    if (missed && !base.outdated) form?.closest('dialog')?.dispatchEvent(new Event('cancel')); // what it was opened with is not the row any more
  }, 'input, select, textarea'); // not said
  const away = <button type="button" className="plain small" onClick={discard}>{t('Discard what I wrote')}</button>;
  if (base.kept) return <p className="notice" role="status">{t('Saving will overwrite somebody else’s changes.')}</p>;
  if (!missed && !base.outdated) return base.restored ? <p className="notice" role="status">{t('You began this draft earlier.')} {away}</p> : null;
  return (
    <div className="alert" role="alert">
      <p>{t('Somebody has changed this meanwhile.')}</p>
      <p className="line"><button type="button" className="plain small" onClick={press(base.keep, '[type=submit]')}>{t('Keep what I wrote')}</button>{away}</p>
    </div>
  );
}

function Refusal({ fault, fields }: { fault: Fault; fields: string[] }) {
  if (unproven(fault)) return null; // a dialog has asked for the proof
  const other = fault.details.filter((d) => !fields.includes(d.field));
  if (fault.details.length > 0 && other.length === 0) return null;
  const says = [
    fault.code === 'forbidden' && t('You may not do this.'), fault.code === 'connection_lost' ? sentence(fault) : fault.message,
    fault.code === 'precondition_failed' && t('Something has changed meanwhile.'),
  ].filter(Boolean).join(' ');
  return (
    <div className="alert" role="alert">
      <p>{says}{fault.reason && <> (<Decider reason={fault.reason} />)</>}</p>
      {other.length > 0 && <ul>{other.map((d) => <li key={d.field + d.message}><code>{d.field}</code> {d.message}</li>)}</ul>}
      {fault.requestId && <p className="soft small-text">{placed(t('Request ID: {id}'), { id: <code>{fault.requestId}</code> })}</p>}
    </div>
  );
}

interface CheckProps { label: string; checked: boolean; set: (v: boolean) => void; hint?: string; name?: string }

export function Check({ label, checked, set, hint, name }: CheckProps) {
  const id = useId();
  return (
    <div className="check">
      <input id={id} type="checkbox" name={name} checked={checked} aria-describedby={hint ? `${id}h` : undefined} onChange={(e) => { set(e.target.checked); }} />
      <div><label htmlFor={id}>{label}</label>{hint && <p className="hint" id={`${id}h`}>{hint}</p>}</div>
    </div>
  );
}

interface FilterProps { label: string; placeholder: string; value: string; set: (v: string) => void }

// Filter is a text that counts once Enter is pressed or the field is left.
export function Filter({ label, placeholder, value, set }: FilterProps) {
  const [text, setText] = useState(value);
  useEffect(() => { setText(value); }, [value]);
  const take = () => { if (text.trim() !== value) set(text.trim()); };
  return <Field label={label}><input value={text} placeholder={placeholder} onChange={(e) => { setText(e.target.value); }} onBlur={take} onKeyDown={(e) => { if (e.key === 'Enter') take(); }} /></Field>; // not said
}
