import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../../app/data';
import { differing } from '../../app/digits';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { CreateOffering, UpdateOffering } from '../../gen/documents';
import type { OfferingFullFragment, OfferingSlaInput, OfferingStatus } from '../../gen/types';
import { Choices, useCalendarChoices, useWorkflowChoices } from '../../parts/choices';
import { ShownWhen } from '../../parts/shownwhen';
import type { Answers, FormField } from '../../ui/answer';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { FormFields } from '../../ui/formfields';
import { toast } from '../../ui/toast';
import { Limits } from './limits';

interface Draft { name: string; description: string; status: string; workflowId: string; response: string; resolution: string; warn: string; calendarId: string; reopenDays: string; reopenWorkflowId: string; asks: boolean; hasForm: boolean; fields: FormField[] }

const types = ['text', 'textarea', 'number', 'boolean', 'date', 'datetime', 'email', 'url', 'select', 'multiselect', 'user', 'team'];
const keyOf = (label: string) => label.trim().replace(/[^A-Za-z0-9]+(.)?/g, (_m, c: string | undefined) => c?.toUpperCase() ?? '').replace(/^[^A-Za-z]+/, '').replace(/^./, (c) => c.toLowerCase()).slice(0, 60);
// keyed gives each field the key by which it is answered, which no other one has: once given it stays, whatever the label becomes.
const keyed = (fields: FormField[]) => {
  const taken = new Set(fields.map((f) => f.key));
  return fields.map((f, i) => {
    if (f.key) return f;
    const stem = keyOf(f.label ?? '') || `field${i + 1}`;
    let key = stem;
    for (let n = 2; taken.has(key); n++) key = `${stem}${n}`;
    taken.add(key);
    return { ...f, key };
  });
};
// bare is what was read as it is sent back.
const bare = (sla: OfferingFullFragment['sla']) => JSON.parse(JSON.stringify(sla ?? {}, (k, v: unknown) => (k === '__typename' || v === null ? undefined : v))) as OfferingSlaInput;

// OfferingEditor builds an offering: its form with a live preview, its workflow, its service level.
export function OfferingEditor({ serviceId, offering: o, close }: { serviceId: string; offering: OfferingFullFragment | null; close: () => void }) {
  const form = o?.form as { fields?: FormField[] } | null | undefined;
  const promised = Boolean(o?.sla?.responseMinutes || o?.sla?.resolutionMinutes || o?.sla?.byPriority);
  const saved: Draft = {
    name: o?.name ?? '', description: o?.description ?? '', status: o?.status ?? 'active', workflowId: o?.workflowId ?? '',
    response: String(o?.sla?.responseMinutes ?? ''), resolution: String(o?.sla?.resolutionMinutes ?? ''), warn: String(o?.sla?.warnAtPercent ?? (promised ? '' : 80)),
    calendarId: o?.sla?.calendarId ?? '', reopenDays: String(o?.reopenDays ?? 7), reopenWorkflowId: o?.reopenWorkflowId ?? '', asks: o?.askSatisfaction ?? false, hasForm: Boolean(form), fields: form?.fields ?? [],
  };
  const [draft, set, forget, base] = useDraft(`offering ${o?.id ?? serviceId}`, saved, o?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [answers, setAnswers] = useState<Answers>({});
  const reads = useCan('calendar.read');
  const [workflows, calendars] = [useWorkflowChoices(), useCalendarChoices()];
  const [create, making] = useWrite(CreateOffering, true);
  const [update, saving] = useWrite(UpdateOffering, true);
  const number = (text: string) => (text.trim() === '' ? null : Number(text));
  const inputOf = (d: Draft) => {
    const warns = d.response || d.resolution || o?.sla?.byPriority ? number(d.warn) : null; // without a target there is nothing to warn of
    const sla = { ...bare(o?.sla ?? null), responseMinutes: number(d.response), resolutionMinutes: number(d.resolution), warnAtPercent: warns, calendarId: d.calendarId || null };
    const fields = keyed(d.fields);
    return { name: d.name, description: d.description || null, status: d.status as OfferingStatus, workflowId: d.workflowId || null, reopenDays: Number(d.reopenDays || 0), reopenWorkflowId: d.reopenWorkflowId || null, askSatisfaction: d.asks, sla, form: d.hasForm || fields.length > 0 ? { fields } : null };
  };
  const send = async () => {
    const input = inputOf(draft);
    const changed = differing(input, inputOf(saved));
    const done = !o ? await create({ input: { serviceId, ...input } }) : Object.keys(changed).length > 0 ? await update({ input: { id: o.id, ...base.match, ...changed } }) : null;
    setFault(done?.fault ?? null);
    if (done?.fault) return;
    forget();
    close();
    toast({ text: o ? t('The offering was saved.') : t('The offering was created.') });
  };
  const change = (i: number, f: Partial<FormField>) => { set({ ...draft, fields: draft.fields.map((x, j) => (j === i ? { ...x, ...f } : x)) }); };
  const move = (i: number, by: number) => {
    const fields = [...draft.fields];
    const [f] = fields.splice(i, 1);
    if (f) fields.splice(i + by, 0, f);
    set({ ...draft, fields });
  };
  // limit is when a field is shown. What it names has a key of its own from then on, so that another label does not lose it.
  const limit = (i: number, visibleWhen: FormField['visibleWhen']) => {
    set({ ...draft, fields: keyed(draft.fields).map((f, j) => ({ ...f, key: Object.hasOwn(visibleWhen ?? {}, f.key) ? f.key : draft.fields[j]?.key ?? '', ...(j === i ? { visibleWhen } : {}) })) });
  };
  // within are the fields at fault of one and below it, such as form.fields[0].options[1].
  const within = (at: string) => fault?.details.map((d) => d.field).filter((f) => f === at || f.startsWith(`${at}.`) || f.startsWith(`${at}[`)) ?? [];
  const known = ['name', 'slug', 'description', 'workflowId', 'sla.responseMinutes', 'sla.resolutionMinutes', 'sla.warnAtPercent', 'sla.calendarId', 'reopenDays', 'reopenWorkflowId', ...draft.fields.flatMap((_f, i) => ['key', 'label', 'type', 'options', 'help', 'visibleWhen', 'min', 'max', 'pattern'].flatMap((k) => within(`form.fields[${i}].${k}`)))];
  return (
    <Dialog title={o ? t('Offering “{name}”', { name: o.name }) : t('New offering')} close={close} side>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name', 'slug')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Description')} optional fault={faultAt(fault, 'description')}><textarea dir="auto" value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} /></Field>
        <div className="pair">
          <Field label={t('Status')}><select value={draft.status} onChange={(e) => { set({ ...draft, status: e.target.value }); }}><option value="active">{t('Active')}</option><option value="inactive">{t('Inactive')}</option></select></Field>
          <Field label={t('Workflow')} fault={faultAt(fault, 'workflowId')}><select value={draft.workflowId} onChange={(e) => { set({ ...draft, workflowId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={workflows} now={o?.workflow ?? draft.workflowId} /></select></Field>
        </div>
        <div className="pair">
          <Field label={t('First response (minutes)')} optional fault={faultAt(fault, 'sla.responseMinutes')}><input type="number" min={1} value={draft.response} onChange={(e) => { set({ ...draft, response: e.target.value }); }} /></Field>
          <Field label={t('Resolution (minutes)')} optional fault={faultAt(fault, 'sla.resolutionMinutes')}><input type="number" min={1} value={draft.resolution} onChange={(e) => { set({ ...draft, resolution: e.target.value }); }} /></Field>
          <Field label={t('Warn at (percent)')} optional hint={t('Of the time, such as 80. Empty for no warning.')} fault={faultAt(fault, 'sla.warnAtPercent')}><input type="number" min={1} max={99} value={draft.warn} onChange={(e) => { set({ ...draft, warn: e.target.value }); }} /></Field>
          {(reads || draft.calendarId) && <Field label={t('Calendar')} hint={t('Whose working hours count.')} fault={faultAt(fault, 'sla.calendarId')}><select value={draft.calendarId} onChange={(e) => { set({ ...draft, calendarId: e.target.value }); }}><option value="">{t('24 × 7')}</option><Choices of={calendars} now={draft.calendarId} /></select></Field>}
          <Field label={t('Reopen within (days)')} hint={t('For requesters, after completion; 0 for never. Staff always may.')} fault={faultAt(fault, 'reopenDays')}><input type="number" min={0} max={365} value={draft.reopenDays} onChange={(e) => { set({ ...draft, reopenDays: e.target.value }); }} /></Field>
          <Field label={t('Workflow on reopening')} fault={faultAt(fault, 'reopenWorkflowId')}><select value={draft.reopenWorkflowId} onChange={(e) => { set({ ...draft, reopenWorkflowId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={workflows} now={draft.reopenWorkflowId} /></select></Field>
        </div>
        <Check label={t('Ask the requester how satisfied they are, once a request is completed')} checked={draft.asks} set={(asks) => { set({ ...draft, asks }); }} />
        <h3>{t('Form')}</h3>
        <div className="form-builder">
          {draft.fields.map((f, i) => (
            <fieldset key={i} className="card form-field">
              <legend className="hidden">{t('Field {n}', { n: i + 1 })}</legend>
              <header>
                <strong dir="auto">{f.label || t('Field {n}', { n: i + 1 })}</strong>
                <span className="line">
                  <button type="button" className="icon" aria-label={t('Move field {n} up', { n: i + 1 })} disabled={i === 0} onClick={() => { move(i, -1); }}><ArrowUp size={15} aria-hidden /></button>
                  <button type="button" className="icon" aria-label={t('Move field {n} down', { n: i + 1 })} disabled={i === draft.fields.length - 1} onClick={() => { move(i, 1); }}><ArrowDown size={15} aria-hidden /></button>
                  <button type="button" className="icon" aria-label={t('Remove field {n}', { n: i + 1 })} onClick={() => { set({ ...draft, fields: draft.fields.filter((_x, j) => j !== i) }); }}><Trash2 size={15} aria-hidden /></button>
                </span>
              </header>
              <div className="pair">
                <Field label={t('Label')} fault={faultAt(fault, `form.fields[${i}].label`, `form.fields[${i}].key`)}><input dir="auto" value={f.label ?? ''} onChange={(e) => { change(i, { label: e.target.value }); }} /></Field>
                <Field label={t('Type')} fault={faultAt(fault, `form.fields[${i}].type`)}><select value={f.type} onChange={(e) => { change(i, { type: e.target.value, options: ['select', 'multiselect'].includes(e.target.value) ? f.options ?? [] : null, min: null, max: null, pattern: null }); }}>{types.map((type) => <option key={type}>{type}</option>)}</select></Field>
              </div>
              {['select', 'multiselect'].includes(f.type) && (
                <Field label={t('Options')} hint={t('One per line.')} fault={faultAt(fault, ...within(`form.fields[${i}].options`))}>
                  <textarea dir="auto" value={(f.options ?? []).join('\n')} onChange={(e) => { change(i, { options: e.target.value.split('\n') }); }} onBlur={() => { change(i, { options: (f.options ?? []).map((x) => x.trim()).filter(Boolean) }); }} />
                </Field>
              )}
              <Field label={t('Help')} optional fault={faultAt(fault, `form.fields[${i}].help`)}><input dir="auto" value={f.help ?? ''} onChange={(e) => { change(i, { help: e.target.value || null }); }} /></Field>
              <Limits field={f} at={`form.fields[${i}]`} change={(to) => { change(i, to); }} fault={fault} />
              <Check label={t('Required')} checked={f.required ?? false} set={(required) => { change(i, { required }); }} />
              <ShownWhen index={i} path={`form.fields[${i}].visibleWhen`} all={keyed(draft.fields)} set={(visibleWhen) => { limit(i, visibleWhen); }} fault={fault} />
            </fieldset>
          ))}
          <button type="button" className="plain" onClick={() => { set({ ...draft, hasForm: true, fields: [...draft.fields, { key: '', label: '', type: 'text', required: false }] }); }}><Plus size={15} aria-hidden /> {t('Add field')}</button>
        </div>
        {draft.fields.length > 0 && (
          <section className="card pad stack" aria-label={t('Preview')}>
            <h3>{t('Preview')}</h3>
            <FormFields fields={keyed(draft.fields)} answers={answers} set={setAnswers} />
          </section>
        )}
        <Rest base={base} fault={fault} fields={known} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{o ? t('Save') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
