// does are the fields that say what a schedule does: it submits a request, by the form of its offering, or starts a workflow.
import { rows, useRead } from '../../app/data';
import { useViewer } from '../../app/session';
import { t } from '../../app/text';
import { NameOf } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { RequestPriority } from '../../gen/types';
import { Choices, OfferingOptions, useOfferingChoices, usePersonChoices, useWorkflowChoices } from '../../parts/choices';
import type { FormField } from '../../ui/answer';
import { words } from '../../ui/bits';
import { Field, below, faultAt, faultBelow } from '../../ui/field';
import { FormFields } from '../../ui/formfields';
import { Wait } from '../../ui/states';
import type { FieldsProps } from './when';

// Problems are what the person has to choose before anything can be sent.
export interface Problems { offering?: string | undefined; workflow?: string | undefined; title?: string | undefined }

interface Named { id: string; name: string }
interface DoesProps extends FieldsProps { form: FormField[] | null; problems: Problems; was: { workflow?: Named | null; offering?: Named | null } }

const kinds = { request: t('Submit a request'), workflow: t('Start a workflow') };

export function Does({ plan: p, set, fault, form, problems, was }: DoesProps) {
  return (
    <div className="card pad stack">
      <fieldset>
        <legend className="hidden">{t('What it does')}</legend>
        <div className="schedule-kinds">
          {(Object.keys(kinds) as (keyof typeof kinds)[]).map((k) => <label key={k} className="check"><input type="radio" name="does" checked={p.does === k} onChange={() => { set({ does: k }); }} /><span>{kinds[k]}</span></label>)}
        </div>
      </fieldset>
      {p.does === 'workflow' ? <Starts plan={p} set={set} fault={fault} problems={problems} was={was} /> : <Files plan={p} set={set} fault={fault} form={form} problems={problems} was={was} />}
    </div>
  );
}

function Starts({ plan: p, set, fault, problems, was }: Omit<DoesProps, 'form'>) {
  const workflows = useWorkflowChoices();
  return (
    <Field label={t('Workflow')} hint={t('It runs without a request, in the version that is published then.')} fault={problems.workflow ?? faultAt(fault, 'workflowId')}>
      <select value={p.workflowId} aria-required onChange={(e) => { set({ workflowId: e.target.value }); }}>
        <option value="">{t('Choose…')}</option>
        <Choices of={workflows} now={p.workflowId ? { id: p.workflowId, name: was.workflow?.id === p.workflowId ? was.workflow.name : '…' } : null} />
      </select>
    </Field>
  );
}

// doesFields are the fields of a refusal that are said here.
export const doesFields = (p: FieldsProps['plan'], fault: FieldsProps['fault'], form: FormField[] | null): string[] => (p.does === 'workflow' ? ['workflowId']
  : ['offeringId', ...['title', 'requesterId', 'description', 'priority'].map((f) => `request.${f}`), ...below(fault, 'request.tags'), ...(form ?? []).map((f) => `request.fields.${f.key}`)]);

function Files({ plan: p, set, fault, form, problems, was }: DoesProps) {
  const services = useOfferingChoices();
  const viewer = useViewer();
  const people = usePersonChoices();
  const other = people.some((x) => x.id === p.requesterId) ? '' : p.requesterId; // somebody who cannot be chosen any more
  const node = useRead(NameOf, { id: other }, !other).data?.node;
  const known = services.some((s) => rows(s.offerings).some((o) => o.id === p.offeringId));
  return (
    <>
      <Field label={t('Service and offering')} fault={problems.offering ?? faultAt(fault, 'offeringId')}>
        <select value={p.offeringId} aria-required onChange={(e) => { set({ offeringId: e.target.value }); }}>
          <option value="">{t('Choose an offering')}</option>
          {p.offeringId && !known && <option value={p.offeringId}>{was.offering?.id === p.offeringId ? was.offering.name : '…'}</option>}
          <OfferingOptions of={services} />
        </select>
      </Field>
      <div className="pair">
        <Field label={t('Title')} hint={t('What each request is called.')} fault={problems.title ?? faultAt(fault, 'request.title')}><input dir="auto" aria-required maxLength={300} value={p.title} onChange={(e) => { set({ title: e.target.value }); }} /></Field>
        <Field label={t('Requester')} hint={t('The person it is for. They are notified and can reply.')} fault={faultAt(fault, 'request.requesterId')}>
          <select value={p.requesterId} onChange={(e) => { set({ requesterId: e.target.value }); }}>
            <option value="">{t('Yourself')}</option>
            <Choices of={people.filter((x) => x.id !== viewer.id || p.requesterId === viewer.id)} now={other ? { id: other, name: node && 'name' in node ? node.name : '…' } : null} />
          </select>
        </Field>
      </div>
      {p.offeringId && !form && <Wait />}
      {form && <FormFields fields={form} answers={p.fields} set={(fields) => { set({ fields }); }} fault={fault} prefix="request.fields" offering={p.offeringId} noFiles={t('A schedule brings no files.')} />}
      <More plan={p} set={set} fault={fault} />
    </>
  );
}

// More is what a request can say besides, which few need.
function More({ plan: p, set, fault }: FieldsProps) {
  const faulty = ['request.description', 'request.priority', 'request.tags'].some((f) => below(fault, f).length > 0);
  return (
    <details open={faulty || p.description !== '' || p.tags !== '' || p.priority !== 'MEDIUM' || undefined}>
      <summary>{t('Description, priority and tags')}</summary>
      <div className="stack">
        <Field label={t('Description')} optional fault={faultAt(fault, 'request.description')}><textarea dir="auto" value={p.description} onChange={(e) => { set({ description: e.target.value }); }} /></Field>
        <div className="pair">
          <Field label={t('Priority')} fault={faultAt(fault, 'request.priority')}><select value={p.priority} onChange={(e) => { set({ priority: e.target.value as RequestPriority }); }}>{enums.RequestPriority.map((x) => <option key={x} value={x}>{words(x)}</option>)}</select></Field>
          <Field label={t('Tags')} optional hint={t('One per line, such as env=production.')} fault={faultBelow(fault, 'request.tags')}><textarea rows={2} value={p.tags} onChange={(e) => { set({ tags: e.target.value }); }} /></Field>
        </div>
      </div>
    </details>
  );
}
