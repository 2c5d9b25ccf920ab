// dialogs ask before a workflow is renamed, published or deleted.
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { DeleteWorkflow, UpdateWorkflow } from '../../gen/documents';
import type { WorkflowOneQuery, WorkflowStatus } from '../../gen/types';
import { Remove } from '../../parts/remove';
import { words } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { Skeleton } from '../../ui/states';
import { toast } from '../../ui/toast';

const Differences = lazy(() => import('./differences'));

export type Workflow = NonNullable<WorkflowOneQuery['workflow']>;

// Edit changes what a workflow is called, what it is for, and whether it runs.
export function Edit({ workflow: w, close }: { workflow: Workflow; close: () => void }) {
  const [draft, set, forget, base] = useDraft(`workflow ${w.id} edit`, { name: w.name, description: w.description ?? '', status: w.status }, w.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(UpdateWorkflow, true);
  const statuses: WorkflowStatus[] = [w.version === 0 ? 'draft' : 'active', 'archived'];
  const send = async () => {
    const o = await run({ input: { id: w.id, ...base.match, name: draft.name, description: draft.description || null, ...(draft.status === w.status ? {} : { status: draft.status }) } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    toast({ text: t('The workflow was saved.') });
  };
  return (
    <Dialog title={t('Edit “{name}”', { name: w.name })} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Description')} optional fault={faultAt(fault, 'description')}><textarea dir="auto" value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} /></Field>
        <Field label={t('Status')} hint={t('New requests do not run an archived workflow.')} fault={faultAt(fault, 'status')}><select value={draft.status} onChange={(e) => { set({ ...draft, status: e.target.value as WorkflowStatus }); }}>{statuses.map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></Field>
        <Rest base={base} fault={fault} fields={['name', 'description', 'status']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}

export function Publish({ workflow: w, close, act }: { workflow: Workflow; close: () => void; act: () => Promise<void> }) {
  return (
    <Dialog title={t('Publish “{name}”?', { name: w.name })} close={close} wide>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void act(); }}>
        <p>{t('New requests will run the draft, as version {version}. Running executions continue with the version they started with.', { version: String(w.version + 1) })}</p>
        {w.version > 0 && <Suspense fallback={<Skeleton rows={3} />}><Differences id={w.id} of={{ draft: w.definition, versions: new Map() }} /></Suspense>}
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit">{t('Publish')}</button></footer>
      </form>
    </Dialog>
  );
}

export function Gone({ workflow: w, close }: { workflow: Workflow; close: () => void }) {
  const viewer = useViewer();
  const [run] = useWrite(DeleteWorkflow, true);
  const [update] = useWrite(UpdateWorkflow, true);
  const navigate = useNavigate();
  const act = async () => {
    const { fault } = await run({ input: { id: w.id, ifMatch: w.etag } });
    if (fault) return fault;
    close();
    void navigate({ to: '/app/workflows' });
    return null;
  };
  const archive = async () => {
    const { fault } = await update({ input: { id: w.id, ifMatch: w.etag, status: 'archived' } });
    if (fault) return fault;
    close();
    toast({ text: t('The workflow is archived.') });
    return null;
  };
  return (
    <Remove title={t('Delete “{name}”?', { name: w.name })} close={close} act={act} instead={w.status !== 'archived' && can(viewer, 'workflow.update', w) ? { verb: t('Archive'), act: archive } : null}>
      <p>{t('A workflow that was published, or that an offering or a webhook uses, cannot be deleted. Archive it instead.')}</p>
    </Remove>
  );
}
