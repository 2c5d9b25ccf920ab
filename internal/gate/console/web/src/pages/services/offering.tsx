import { Link } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { rows, useRead, useWrite } from '../../app/data';
import { differing } from '../../app/digits';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { placed, t } from '../../app/text';
import { CreateOffering, UpdateOffering, WorkflowDrafts } from '../../gen/documents';
import type { OfferingFullFragment, OfferingSlaInput, OfferingStatus } from '../../gen/types';
import { Choices, useCalendarChoices, useWorkflowChoices } from '../../parts/choices';
import { FormBuilder, formFaults } from '../../parts/formbuilder';
import { keyed } from '../../parts/formkeys';
import type { FormField } from '../../ui/answer';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { below, Check, Field, Rest, faultAt } from '../../ui/field';
import { toast } from '../../ui/toast';
import { lacking, place, sent, written, type Escalation } from './escalation';
import { Escalations } from './escalations';

interface Draft { name: string; description: string; status: string; workflowId: string; response: string; resolution: string; warn: string; calendarId: string; escalations: Escalation[]; reopenDays: string; reopenWorkflowId: string; asks: boolean; hasForm: boolean; fields: FormField[] }

const named = 3; // drafts that are named

// Drafts says why a workflow is not there to be chosen: its draft must be published first.
function Drafts() {
  const found = useRead(WorkflowDrafts, {}, !useCan('workflow.read')).data?.workflows;
  const drafts = rows(found);
  if (drafts.length === 0) return t('Only published workflows can be chosen.');
  const links = drafts.slice(0, named).map((w, i) => <Fragment key={w.id}>{i > 0 && ', '}<Link to="/app/workflows/$id" params={{ id: w.id }} dir="auto">{w.name}</Link></Fragment>);
  const more = (found?.totalCount ?? drafts.length) - links.length;
  return <>{placed(t('Only published workflows can be chosen. Publish these first: {drafts}'), { drafts: <>{links}</> })}{more > 0 && <> {t('and {n} more', { n: more })}</>}</>;
}

// bare is what was read as it is sent back.
const bare = (sla: OfferingFullFragment['sla']) => JSON.parse(JSON.stringify(sla ?? {}, (k, v: unknown) => (k === '__typename' || v === null ? undefined : v))) as OfferingSlaInput;

// OfferingEditor builds an offering: its form with a live preview, its workflow, its service level.
export function OfferingEditor({ serviceId, offering: o, close }: { serviceId: string; offering: OfferingFullFragment | null; close: () => void }) {
  const form = o?.form as { fields?: FormField[] } | null | undefined;
  const saved: Draft = {
    name: o?.name ?? '', description: o?.description ?? '', status: o?.status ?? 'active', workflowId: o?.workflowId ?? '',
    response: String(o?.sla?.responseMinutes ?? ''), resolution: String(o?.sla?.resolutionMinutes ?? ''), warn: String(o?.sla?.warnAtPercent ?? 80),
    calendarId: o?.sla?.calendarId ?? '', escalations: written(o?.sla?.escalations), reopenDays: String(o?.reopenDays ?? 7), reopenWorkflowId: o?.reopenWorkflowId ?? '', asks: o?.askSatisfaction ?? false, hasForm: Boolean(form), fields: form?.fields ?? [],
  };
  const [draft, set, forget, base] = useDraft(`offering ${o?.id ?? serviceId}`, saved, o?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const reads = useCan('calendar.read');
  const [workflows, calendars] = [useWorkflowChoices(), useCalendarChoices()];
  const [create, making] = useWrite(CreateOffering, true);
  const [update, saving] = useWrite(UpdateOffering, true);
  const number = (text: string) => (text.trim() === '' ? null : Number(text));
  const inputOf = (d: Draft) => {
    const warns = d.response || d.resolution || o?.sla?.byPriority ? number(d.warn) : null; // without a target there is nothing to warn of
    const sla = { ...bare(o?.sla ?? null), responseMinutes: number(d.response), resolutionMinutes: number(d.resolution), warnAtPercent: warns, calendarId: d.calendarId || null, escalations: sent(d.escalations) };
    const fields = keyed(d.fields);
    return { name: d.name, description: d.description || null, status: d.status as OfferingStatus, workflowId: d.workflowId || null, reopenDays: Number(d.reopenDays || 0), reopenWorkflowId: d.reopenWorkflowId || null, askSatisfaction: d.asks, sla, form: d.hasForm || fields.length > 0 ? { fields } : null };
  };
  const send = async () => {
    const lacks = lacking(draft.escalations);
    setFault(lacks);
    if (lacks) return;
    const input = inputOf(draft);
    const changed = differing(input, inputOf(saved));
    const done = !o ? await create({ input: { serviceId, ...input } }) : Object.keys(changed).length > 0 ? await update({ input: { id: o.id, ...base.match, ...changed } }) : null;
    setFault(done?.fault ?? null);
    if (done?.fault) return;
    forget();
    close();
    toast({ text: o ? t('The offering was saved.') : t('The offering was created.') });
  };
  const known = ['name', 'slug', 'description', 'workflowId', 'sla.responseMinutes', 'sla.resolutionMinutes', 'sla.warnAtPercent', 'sla.calendarId', ...below(fault, place), 'reopenDays', 'reopenWorkflowId', ...formFaults(fault, 'form.fields', draft.fields.length)];
  return (
    <Dialog title={o ? t('Offering “{name}”', { name: o.name }) : t('New offering')} close={close} side>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name', 'slug')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Description')} optional fault={faultAt(fault, 'description')}><textarea dir="auto" value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} /></Field>
        <div className="pair">
          <Field label={t('Status')}><select value={draft.status} onChange={(e) => { set({ ...draft, status: e.target.value }); }}><option value="active">{t('Active')}</option><option value="inactive">{t('Inactive')}</option></select></Field>
          <Field label={t('Workflow')} hint={<Drafts />} fault={faultAt(fault, 'workflowId')}><select value={draft.workflowId} onChange={(e) => { set({ ...draft, workflowId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={workflows} now={o?.workflow ?? draft.workflowId} /></select></Field>
        </div>
        <div className="pair">
          <Field label={t('First response (minutes)')} optional fault={faultAt(fault, 'sla.responseMinutes')}><input type="number" min={1} value={draft.response} onChange={(e) => { set({ ...draft, response: e.target.value }); }} /></Field>
          <Field label={t('Resolution (minutes)')} optional fault={faultAt(fault, 'sla.resolutionMinutes')}><input type="number" min={1} value={draft.resolution} onChange={(e) => { set({ ...draft, resolution: e.target.value }); }} /></Field>
          <Field label={t('Warn at (percent)')} optional hint={t('Of the time; 80 when empty, 0 for no warning.')} fault={faultAt(fault, 'sla.warnAtPercent')}><input type="number" min={0} max={99} value={draft.warn} onChange={(e) => { set({ ...draft, warn: e.target.value }); }} /></Field>
          {(reads || draft.calendarId) && <Field label={t('Calendar')} hint={t('Whose working hours count.')} fault={faultAt(fault, 'sla.calendarId')}><select value={draft.calendarId} onChange={(e) => { set({ ...draft, calendarId: e.target.value }); }}><option value="">{t('24 × 7')}</option><Choices of={calendars} now={draft.calendarId} /></select></Field>}
          <Field label={t('Reopen within (days)')} hint={t('For requesters, after completion; 0 for never. Staff always may.')} fault={faultAt(fault, 'reopenDays')}><input type="number" min={0} max={365} value={draft.reopenDays} onChange={(e) => { set({ ...draft, reopenDays: e.target.value }); }} /></Field>
          <Field label={t('Workflow on reopening')} fault={faultAt(fault, 'reopenWorkflowId')}><select value={draft.reopenWorkflowId} onChange={(e) => { set({ ...draft, reopenWorkflowId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={workflows} now={draft.reopenWorkflowId} /></select></Field>
        </div>
        <Escalations all={draft.escalations} change={(escalations) => { set({ ...draft, escalations }); }} fault={fault} />
        <Check label={t('Ask the requester how satisfied they are, once a request is completed')} checked={draft.asks} set={(asks) => { set({ ...draft, asks }); }} />
        <h3>{t('Form')}</h3>
        <FormBuilder fields={draft.fields} change={(fields) => { set({ ...draft, hasForm: true, fields }); }} fault={fault} at="form.fields" />
        <Rest base={base} fault={fault} fields={known} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{o ? t('Save') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
