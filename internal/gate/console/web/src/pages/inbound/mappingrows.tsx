// mappingrows says what the request of a call is made of, as rows: the question, and what of the call answers it.
import { useMemo, useState } from 'react';
import { useRead } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useSettled } from '../../app/settled';
import { t } from '../../app/text';
import { ConditionFields, InboundOffering, TryOnCall } from '../../gen/documents';
import { named } from '../../parts/conditionwords';
import type { ConditionField } from '../../parts/conditions';
import { faultAt } from '../../ui/field';
import { fixedAs, fixedChoices, fixedOf, isOpen, said, type Mapping, type Question } from './mapping';

export interface Target { name: string; label: string; needed: boolean; hint?: string; type?: string; options?: readonly string[] | null }
interface Props { id: string; offeringId: string; value: Mapping; set: (to: Mapping) => void; fault: Fault | null }

const own: Target[] = [
  { name: 'title', label: t('Title'), needed: false, hint: t('The name of the webhook, if empty.') },
  { name: 'description', label: t('Description'), needed: false },
  { name: 'priority', label: t('Priority'), needed: false, hint: t('LOW, MEDIUM, HIGH or URGENT.'), options: ['LOW', 'MEDIUM', 'HIGH', 'URGENT'] },
  { name: 'tags', label: t('Tags'), needed: false, hint: t('A list, or a text with commas.') },
  { name: 'requesterEmail', label: t('Requester’s email'), needed: false, hint: t('Nobody, if no person has it.') },
];

// targetOf is the row of a question.
export const targetOf = (q: Question): Target => ({ name: `fields.${q.key}`, label: q.label ?? q.key, needed: isOpen(q), ...(q.type ? { type: q.type } : {}), options: q.options ?? null });

// MappingRows are the rows of an offering's requests. What stands there is tried on the last call when somebody asks for it.
export function MappingRows({ id, offeringId, value, set, fault }: Props) {
  const offering = useRead(InboundOffering, { id: offeringId }, !offeringId).data?.offering;
  const read = useRead(ConditionFields, { for: 'INBOUND', id, phaseId: null, definition: null });
  const fields = useMemo<ConditionField[]>(() => (read.data?.conditionFields ?? []).map(named), [read.data]);
  const [trying, setTrying] = useState(false);
  const questions = ((offering?.form as { fields?: Question[] } | null)?.fields ?? []).map(targetOf);
  const gone = Object.keys(value).filter((name) => !own.some((x) => x.name === name) && !questions.some((x) => x.name === name)).map((name): Target => ({ name, label: name.replace(/^fields\./, ''), needed: false, hint: t('This question is not asked any more.') }));
  const general = faultAt(fault, 'fieldMapping');
  return (
    <fieldset className="stack mapping">
      <legend>{t('What the request is made of')}</legend>
      {general && <p className="fault">{general}</p>}
      {[...own, ...questions, ...gone].map((x) => (
        <MappingRow key={x.name} id={id} target={x} fields={fields} trying={trying} value={value[x.name] ?? ''} fault={faultAt(fault, `fieldMapping.${x.name}`)} set={(to) => { set(to === '' ? Object.fromEntries(Object.entries(value).filter(([name]) => name !== x.name)) : { ...value, [x.name]: to }); }} />
      ))}
      <p className="line"><button type="button" className="plain small" aria-pressed={trying} onClick={() => { setTrying(!trying); }}>{t('Test with the last call')}</button>
        {fields.length <= 2 && read.data && <span className="soft small-text">{t('Once a call has come, its values can be chosen here.')}</span>}</p>
    </fieldset>
  );
}

interface RowProps { id?: string; target: Target; fields: ConditionField[]; value: string; set: (to: string) => void; trying: boolean; fault: string | undefined }

const other = ':other'; // an expression that is no value of the call
const always = ':always'; // the same answer for each call

// MappingRow is what answers one question: a value of the call, the same for each call, or an expression.
export function MappingRow({ id, target: x, fields, value, set, trying, fault }: RowProps) {
  const choices = fixedChoices(x);
  const known = fields.some((f) => f.expression === value) || choices?.some(([expression]) => expression === value) === true;
  const [way, setWay] = useState('');
  const same = choices ? null : fixedOf(value);
  const fixed = way === always || (way === '' && value !== '' && same !== null);
  const written = !fixed && (way === other || (value !== '' && fields.length > 0 && !known));
  const groups = new Map<string, ConditionField[]>();
  for (const f of fields) groups.set(f.group, [...groups.get(f.group) ?? [], f]);
  const choose = (to: string) => {
    const writes = to === other || to === always;
    setWay(writes ? to : '');
    if (!writes) set(to);
    else if (to === always && same === null) set('');
  };
  return (
    <div className={`mapping-row${fault ? ' faulty' : ''}`} role="group" aria-label={x.label}>
      <span className="mapping-name">{x.label}{x.needed && <span className="soft small-text"> {t('Required')}</span>}</span>
      <select aria-label={t('Value for {name}', { name: x.label })} value={fixed ? always : written ? other : known ? value : ''} onChange={(e) => { choose(e.target.value); }}>
        <option value="">{t('Nothing')}</option>
        {[...groups].map(([label, list]) => <optgroup key={label} label={label}>{list.map((f) => <option key={f.expression} value={f.expression}>{f.label}</option>)}</optgroup>)}
        {choices ? <optgroup label={t('Always the same')}>{choices.map(([expression, label]) => <option key={expression} value={expression}>{label}</option>)}</optgroup> : <option value={always}>{t('Always the same…')}</option>}
        <option value={other}>{t('Expression…')}</option>
      </select>
      {fixed && <input dir="auto" aria-label={t('Answer to {name}', { name: x.label })} value={same ?? ''} onChange={(e) => { set(e.target.value === '' ? '' : fixedAs(e.target.value, x.type)); }} />}
      {written && <textarea className="mono" rows={2} spellCheck={false} aria-label={t('Expression for {name}', { name: x.label })} value={value} onChange={(e) => { set(e.target.value); }} />}
      {fault && <p className="fault">{fault}</p>}
      {trying && id && value.trim() !== '' ? <Result id={id} expression={value} /> : x.hint && <p className="hint">{x.hint}</p>}
    </div>
  );
}

// Result is what an expression gives for the last call.
function Result({ id, expression }: { id: string; expression: string }) {
  const asked = useSettled(expression.trim(), 400);
  const read = useRead(TryOnCall, { for: 'INBOUND', id, expression: asked }, asked === '');
  const c = read.data?.checkExpression;
  if (!c || read.behind) return <p className="hint" role="status">{t('Loading…')}</p>;
  if (c.fault ?? c.error) return <p className="fault" role="status">{c.fault?.message ?? t('The last call does not have it: {cause}', { cause: c.error ?? '' })}</p>;
  return <p className="hint" role="status" dir="auto">{c.result === undefined ? t('There is no call to try it on.') : t('Last call: {value}', { value: said(c.result) })}</p>;
}
