import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useAsked } from '../../app/asked';
import { useRead, useWrite } from '../../app/data';
import { sentence } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { CreateWorkflow, PublishWorkflow, UpdateWorkflow, WorkflowDiffOf, WorkflowOne } from '../../gen/documents';
import { Badge } from '../../ui/bits';
import { useDraft } from '../../ui/draft';
import { Rest } from '../../ui/field';
import { focusSoon } from '../../ui/focus';
import { Loaded, Page } from '../../ui/page';
import { NotFound, Skeleton } from '../../ui/states';
import { Tabs } from '../../ui/tabs';
import { toast } from '../../ui/toast';
import { foundOf, type Refused } from './builder/found';
import { Code, readText } from './code';
import { copyOf, mostCopies } from './copies';
import { Edit, Gone, Publish, type Workflow } from './dialogs';
import { History, Runs } from './history';
import { UsedBy } from './used';

const Builder = lazy(() => import('./builder/view'));

// WorkflowView is one workflow: it is built here or written as JSON, published, and what uses it is told.
export default function WorkflowView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(WorkflowOne, { id });
  const w = read.data?.workflow;
  return (
    <Page wide title={w?.name ?? t('Workflow')} verb="workflow.read" intro={w?.description} above={<Link to="/app/workflows">{t('Workflows')}</Link>}>
      <Loaded read={read}>{({ workflow }) => (workflow ? <Body key={workflow.id} workflow={workflow} /> : <NotFound says={t('This workflow was not found')} />)}</Loaded>
    </Page>
  );
}

type View = 'build' | 'json' | 'history' | 'used';

function Body({ workflow: w }: { workflow: Workflow }) {
  const viewer = useViewer();
  const view = (useSearch({ strict: false }) as { view?: View }).view ?? 'build';
  const navigate = useNavigate();
  const kept = useMemo(() => JSON.stringify(w.definition, null, 2), [w.definition]);
  const [{ text }, set, forget, base] = useDraft(`workflow ${w.id}`, { text: kept }, w.etag);
  const [refused, setRefused] = useState<Refused | null>(null);
  const [save, saving] = useWrite(UpdateWorkflow, true);
  const [publish, publishing] = useWrite(PublishWorkflow, true);
  const [copy, copying] = useWrite(CreateWorkflow, true);
  const [asking, setAsking] = useAsked<'edit' | 'publish' | 'delete' | ''>('verb', '');
  const shown = useDeferredValue(text); // what somebody does in the builder is drawn before it is read back
  const parsed = useMemo(() => readText(shown, w.definition), [shown, w.definition]);
  const found = useMemo(() => foundOf(refused, parsed.sent), [refused, parsed.sent]);
  const fault = refused?.fault ?? null;
  const [changed, edits, publishes] = [text !== kept, can(viewer, 'workflow.update', w), can(viewer, 'workflow.publish', w)];
  const change = useCallback((to: string) => { if (to === kept) forget(); else set({ text: to }); }, [kept, forget, set]);
  const same = useSame(w, publishes);
  const store = async () => {
    const { sent, error } = readText(text, w.definition);
    if (error) return;
    const o = await save({ input: { id: w.id, ...base.match, definition: sent as never } });
    setRefused(o.fault && { fault: o.fault, sent });
    if (o.fault) return;
    forget();
    toast({ text: t('The draft was saved. New requests run it once it is published.') });
  };
  const go = async () => {
    const o = await publish({ input: { id: w.id, ifMatch: w.etag } });
    setAsking('');
    setRefused(o.fault && { fault: o.fault, sent: parsed.sent });
    if (o.fault && (view === 'history' || view === 'used')) void navigate({ to: '.', search: {} as never }); // what is wrong is shown at its phase
    if (o.data) toast({ text: t('Version {version} is published.', { version: String(o.data.publishWorkflow.workflow.version) }) });
  };
  const duplicate = async () => {
    for (let n = 1; ; n++) {
      const o = await copy({ input: { ...copyOf(w, n), ...(w.description ? { description: w.description } : {}), definition: w.definition as never } });
      if (o.data) void navigate({ to: '/app/workflows/$id', params: { id: o.data.createWorkflow.workflow.id } });
      if (o.fault?.code === 'conflict' && n < mostCopies) continue; // there is a copy of this number
      if (o.fault) toast({ text: sentence(o.fault), bad: true });
      return;
    }
  };
  const discard = () => { forget(); setRefused(null); focusSoon(() => globalThis.document.querySelector<HTMLElement>('textarea.mono, [data-phase]')); };
  const take = (to: string, version: number) => {
    change(to);
    toast({ text: t('Version {version} is the draft now. Save it to keep it.', { version: String(version) }), undo: () => { change(text); } });
    void navigate({ to: '.', search: {} as never });
  };
  const away = changed && !base.restored && !base.outdated && <button type="button" className="plain" onClick={discard}>{t('Discard')}</button>;
  return (
    <>
      <div className="line verbs-line">
        <Badge value={w.status} /><span className="soft">{w.version === 0 ? t('Not published yet') : t('Version {version}', { version: String(w.version) })}</span>{changed && <span className="soft">· {t('Changes that are not saved')}</span>}<span className="grow" />
        {edits && <button type="button" className="plain" disabled={changed} title={changed ? t('Save the draft first') : undefined} onClick={() => { setAsking('edit'); }}>{t('Edit')}</button>}
        {can(viewer, 'workflow.create') && <button type="button" className="plain" disabled={copying || changed} title={changed ? t('Save the draft first') : undefined} onClick={() => { void duplicate(); }}>{t('verb|Duplicate')}</button>}
        {view === 'build' && edits && <>{away}<button type="button" className={changed ? undefined : 'plain'} disabled={saving || !changed || parsed.error !== ''} onClick={() => { void store(); }}>{t('Save draft')}</button></>}
        {publishes && <button type="button" className={same || changed ? 'plain' : undefined} disabled={changed || same || publishing} title={changed ? t('Save the draft first') : same ? t('The draft is the same as version {version}', { version: String(w.version) }) : undefined} onClick={() => { setAsking('publish'); }}>{t('Publish')}</button>}
        {can(viewer, 'workflow.delete', w) && <button type="button" className="danger-plain" onClick={() => { setAsking('delete'); }}>{t('Delete')}</button>}
      </div>
      <Tabs label={t('Parts of the workflow')} tabs={([['build', t('Builder')], ['json', t('JSON')], ['history', t('versions|History')], ['used', t('Used by')]] as const).map(([of, label]) => ({ label, to: `/app/workflows/${w.id}`, search: of === 'build' ? {} : { view: of }, current: view === of }))} />
      {view === 'build' && (
        <>
          <form onSubmit={(e) => { e.preventDefault(); }}><Rest base={changed ? base : undefined} fault={fault && fault.details.length > 0 ? null : fault} fields={[]} /></form>
          <Suspense fallback={<Skeleton rows={6} />}><Builder id={w.id} text={text} change={change} found={found} saved={w.definition} readOnly={!edits} fresh={w.version === 0 && edits && (parsed.definition.phases?.length ?? 0) < 4} /></Suspense>
        </>
      )}
      {view === 'json' && <Code text={text} change={change} edits={edits} parsed={parsed} fault={fault} base={changed ? base : undefined} away={away} busy={saving || !changed} store={() => { void store(); }} />}
      {view === 'history' && <><History workflow={w} edits={edits} take={take} /><Runs id={w.id} /></>}
      {view === 'used' && <UsedBy id={w.id} />}
      {asking === 'edit' && <Edit workflow={w} close={() => { setAsking(''); }} />}
      {asking === 'publish' && <Publish workflow={w} close={() => { setAsking(''); }} act={go} />}
      {asking === 'delete' && <Gone workflow={w} close={() => { setAsking(''); }} />}
    </>
  );
}

// useSame reports whether the draft is what was published last.
function useSame(w: Workflow, publishes: boolean): boolean {
  const draft = useRead(WorkflowDiffOf, { id: w.id }, w.version === 0 || !publishes);
  const { again } = draft;
  const compared = useRef(w.etag);
  useEffect(() => {
    if (compared.current !== w.etag && w.version > 0 && publishes) again(); // a saved draft differs otherwise
    compared.current = w.etag;
  }, [again, publishes, w.version, w.etag]);
  return draft.data?.workflowDiff?.changes.length === 0;
}
