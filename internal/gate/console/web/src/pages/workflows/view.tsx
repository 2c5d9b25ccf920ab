import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import { parse } from '../../app/digits';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { DeleteWorkflow, PublishWorkflow, UpdateWorkflow, WorkflowDiffOf, WorkflowExecutions, WorkflowOne, WorkflowVersions } from '../../gen/documents';
import type { WorkflowOneQuery, WorkflowStatus } from '../../gen/types';
import { Remove } from '../../parts/remove';
import { Badge, phaseName, Time, words } from '../../ui/bits';
import { Changes } from '../../ui/changes';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { focusSoon } from '../../ui/focus';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty, Failed, NotFound, Wait } from '../../ui/states';
import { toast } from '../../ui/toast';
import { drawable, ofPhase, phaseAt, PhaseList, Picture, placeOf, type Definition } from '../../parts/picture';

type Workflow = NonNullable<WorkflowOneQuery['workflow']>;

// WorkflowView is one workflow: its picture, its definition, what was published, what runs.
export default function WorkflowView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(WorkflowOne, { id });
  const w = read.data?.workflow;
  return (
    <Page title={w?.name ?? t('Workflow')} verb="workflow.read" intro={w?.description} above={<Link to="/app/workflows">{t('Workflows')}</Link>}>
      <Loaded read={read}>{({ workflow }) => (workflow ? <Body key={workflow.id} workflow={workflow} /> : <NotFound says={t('This workflow was not found')} />)}</Loaded>
    </Page>
  );
}

function Body({ workflow: w }: { workflow: Workflow }) {
  const viewer = useViewer();
  const kept = useMemo(() => JSON.stringify(w.definition, null, 2), [w.definition]);
  const [{ text }, set, forget, base] = useDraft(`workflow ${w.id}`, { text: kept }, w.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [save, saving] = useWrite(UpdateWorkflow, true);
  const [publish, publishing] = useWrite(PublishWorkflow, true);
  const [diff, setDiff] = useState(0);
  const [asking, setAsking] = useAsked<'edit' | 'publish' | 'delete' | ''>('verb', '');
  const parsed = useMemo<{ sent: unknown; definition: Definition; error: string }>(() => {
    try {
      const sent = parse(text);
      return { sent, definition: drawable(sent), error: '' };
    } catch (e) {
      return { sent: null, definition: drawable(w.definition), error: (e as Error).message };
    }
  }, [text, w.definition]);
  const faults = new Map<string, string[]>();
  for (const d of fault?.details ?? []) {
    const phase = phaseAt(parsed.sent, d.field);
    if (parsed.definition.phases?.some((p) => p.id === phase)) faults.set(phase, [...(faults.get(phase) ?? []), ofPhase(d)]);
  }
  const changed = text !== kept;
  const publishes = can(viewer, 'workflow.publish', w);
  const draft = useRead(WorkflowDiffOf, { id: w.id }, w.version === 0 || !publishes);
  const { again } = draft;
  const compared = useRef(w.etag);
  useEffect(() => {
    if (compared.current !== w.etag && w.version > 0 && publishes) again(); // a saved draft differs otherwise
    compared.current = w.etag;
  }, [again, publishes, w.version, w.etag]);
  const same = draft.data?.workflowDiff?.changes.length === 0;
  const store = async () => {
    if (parsed.error) return;
    const o = await save({ input: { id: w.id, ...base.match, definition: parsed.sent as never } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    toast({ text: t('The draft was saved. New requests run it once it is published.') });
  };
  const go = async () => {
    const o = await publish({ input: { id: w.id, ifMatch: w.etag } });
    setAsking('');
    setFault(o.fault);
    if (o.data) toast({ text: t('Version {version} is published.', { version: String(o.data.publishWorkflow.workflow.version) }) });
  };
  return (
    <>
      <div className="line verbs-line">
        <Badge value={w.status} /><span className="soft">{w.version === 0 ? t('Not published yet') : t('Version {version}', { version: String(w.version) })}</span><span className="grow" />
        {can(viewer, 'workflow.update', w) && <button type="button" className="plain" disabled={changed} title={changed ? t('Save the draft first') : undefined} onClick={() => { setAsking('edit'); }}>{t('Edit')}</button>}
        {publishes && <button type="button" className={same && !changed ? 'plain' : undefined} disabled={changed || same || publishing} title={changed ? t('Save the draft first') : same ? t('The draft is the same as version {version}', { version: String(w.version) }) : undefined} onClick={() => { setAsking('publish'); }}>{t('Publish')}</button>}
        {can(viewer, 'workflow.delete', w) && <button type="button" className="danger-plain" onClick={() => { setAsking('delete'); }}>{t('Delete')}</button>}
      </div>
      <Picture definition={parsed.definition} faulty={new Set(faults.keys())} />
      <Section title={t('Phases')}><PhaseList definition={parsed.definition} faults={faults} /></Section>
      {can(viewer, 'workflow.update', w) && (
        <Section title={t('Draft')}>
          <form className="card stack" onSubmit={(e) => { e.preventDefault(); void store(); }}>
            <Field label={t('Definition')} hint={t('Phases and transitions as JSON. The picture is updated as you type.')} fault={parsed.error || (fault && fault.details.length > 0 ? t('The definition has errors, see the list below.') : undefined)}>
              <textarea className="mono" rows={20} spellCheck={false} value={text} onChange={(e) => { if (e.target.value === kept) forget(); else set({ text: e.target.value }); }} />
            </Field>
            <Rest base={changed ? base : undefined} fault={fault && fault.details.length > 0 ? null : fault} fields={[]} />
            {fault && fault.details.length > 0 && <ul className="fault" role="alert">{fault.details.map((d) => <li key={d.field + d.message}>{placeOf(parsed.definition, d.field)}: {d.message}</li>)}</ul>}
            <footer>
              {changed && !base.restored && !base.outdated && <button type="button" className="plain" onClick={() => { forget(); setFault(null); focusSoon(() => globalThis.document.querySelector<HTMLElement>('textarea.mono')); }}>{t('Discard')}</button>}
              <button type="submit" disabled={saving || !changed || parsed.error !== ''}>{t('Save')}</button>
            </footer>
          </form>
        </Section>
      )}
      <Published workflow={w} compare={setDiff} />
      <Runs id={w.id} />
      {diff > 0 && <Diff id={w.id} to={diff} close={() => { setDiff(0); }} />}
      {asking === 'edit' && <Edit workflow={w} close={() => { setAsking(''); }} />}
      {asking === 'publish' && <Publish workflow={w} close={() => { setAsking(''); }} act={go} />}
      {asking === 'delete' && <Gone workflow={w} close={() => { setAsking(''); }} />}
    </>
  );
}

// Edit changes what a workflow is called, what it is for, and whether it runs.
function Edit({ workflow: w, close }: { workflow: Workflow; close: () => void }) {
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

function Publish({ workflow: w, close, act }: { workflow: Workflow; close: () => void; act: () => Promise<void> }) {
  return (
    <Dialog title={t('Publish “{name}”?', { name: w.name })} close={close} wide>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void act(); }}>
        <p>{t('New requests will run the draft, as version {version}. Running executions continue with the version they started with.', { version: String(w.version + 1) })}</p>
        {w.version > 0 && <Differences id={w.id} />}
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit">{t('Publish')}</button></footer>
      </form>
    </Dialog>
  );
}

function Gone({ workflow: w, close }: { workflow: Workflow; close: () => void }) {
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

function Published({ workflow: w, compare }: { workflow: Workflow; compare: (version: number) => void }) {
  const read = usePages(WorkflowVersions, { id: w.id });
  const versions = read.data?.workflow?.versions;
  const list = rows(versions);
  if (list.length === 0) return read.data || read.fault ? null : <Wait />;
  return (
    <Section title={t('Versions')}>
      <ul className="rows">
        {list.map((v) => (
          <li key={v.version} className="row"><div>{t('Version {version}', { version: String(v.version) })} <span className="soft">· <Time at={v.publishedAt} full /></span></div><div className="verbs">{v.version > 1 && <button type="button" className="plain small" aria-label={t('What changed in version {version}', { version: String(v.version) })} onClick={() => { compare(v.version); }}>{t('What changed')}</button>}</div></li>
        ))}
      </ul>
      <More shown={list.length} total={versions?.totalCount} page={versions?.pageInfo} next={read.next} />
    </Section>
  );
}

function Diff({ id, to, close }: { id: string; to: number; close: () => void }) {
  return <Dialog title={t('What changed in version {version}', { version: String(to) })} close={close} wide><Differences id={id} to={to} /></Dialog>;
}

// Differences are what a version changed, or what the draft would.
function Differences({ id, to }: { id: string; to?: number }) {
  const read = useRead(WorkflowDiffOf, to === undefined ? { id } : { id, to });
  return <Loaded read={read} skeleton={3}>{({ workflowDiff: d }) => (!d || d.changes.length === 0 ? <Empty title={t('No differences')} /> : <Changes list={d.changes.map((c) => ({ ...c, name: <code>{c.path}</code> }))} />)}</Loaded>;
}

function Runs({ id }: { id: string }) {
  const read = usePages(WorkflowExecutions, { filter: { workflowId: [id] } });
  const list = rows(read.data?.executions);
  if (read.fault && !read.data?.executions) return <Section title={t('Executions')}><Failed fault={read.fault} again={read.again} /></Section>;
  if (list.length === 0) return read.data ? null : <Wait />;
  return (
    <Section title={t('Executions')} actions={<Link to="/app/executions" search={{ workflowId: id } as never}>{t('All executions')}</Link>}>
      <ul className="rows">
        {list.map((e) => (
          <li key={e.id} className="row"><div><Link className="name" dir="auto" to="/app/executions/$id" params={{ id: e.id }}>{e.request?.title ?? e.id}</Link><div className="meta"><Badge value={e.status} /><span>{t('Version {version}', { version: String(e.workflowVersion) })}</span>{e.phaseId && <span>{t('at {phase}', { phase: phaseName(e, e.phaseId) })}</span>}<Time at={e.startedAt} /></div></div></li>
        ))}
      </ul>
      <More shown={list.length} total={read.data?.executions?.totalCount} page={read.data?.executions?.pageInfo} next={read.next} />
    </Section>
  );
}
