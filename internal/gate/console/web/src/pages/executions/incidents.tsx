import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, useAll, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useTold } from '../../app/live';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { ExecutionIncidents, ExecutionMoved, MovePreviewOf, ResolveIncident } from '../../gen/documents';
import type { IncidentRowFragment } from '../../gen/types';
import { IncidentRow } from '../../parts/incident';
import { phaseName, words } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { Loaded, Section } from '../../ui/page';
import { Failed, Wait } from '../../ui/states';
import { toast } from '../../ui/toast';
import { definitionOf, type Execution } from './view';

// Incidents are what keeps an execution from going on, and the three ways to resolve one: again, without, or in another version.
export function Incidents({ execution: e, again }: { execution: Execution; again: () => void }) {
  const sees = useCan('incident.read');
  const read = useAll(ExecutionIncidents, { filter: { executionId: [e.id] } }, !sees);
  useTold(ExecutionMoved, { id: e.id }, read.again, !sees);
  const [moving, setMoving] = useAsked<IncidentRowFragment | null>('move', null);
  const list = rows(read.data?.incidents);
  if (read.fault && !read.data?.incidents) return <Section title={t('Workflow errors')}><Failed fault={read.fault} again={read.again} /></Section>;
  if (list.length === 0) return read.data || !sees ? null : <Wait />;
  const done = () => { setMoving(null); read.again(); again(); };
  return (
    <Section title={t('Workflow errors')}>
      <ul className="rows" aria-label={t('Workflow errors')}>
        {list.map((i) => <IncidentRow key={i.id} incident={i} move={() => { setMoving(i); }} done={done} />)}
      </ul>
      {moving && <Move execution={e} incident={moving} close={() => { setMoving(null); }} done={done} />}
    </Section>
  );
}

function Move({ execution: e, incident: i, close, done }: { execution: Execution; incident: IncidentRowFragment; close: () => void; done: () => void }) {
  const versions = rows(e.workflow?.versions).map((v) => v.version).filter((v) => v !== e.workflowVersion);
  const [version, setVersion] = useState(versions[0] ?? 0);
  const target = definitionOf(e, version);
  const [phaseId, setPhase] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const preview = useRead(MovePreviewOf, { id: i.id, version, ...(phaseId ? { phaseId } : {}) }, version === 0);
  const [run, busy] = useWrite(ResolveIncident, true);
  const name = (id: string) => target.phases?.find((p) => p.id === id)?.name ?? words(id);
  const send = async () => {
    const o = await run({ input: { id: i.id, action: 'MOVE', version, ...(phaseId ? { phaseId } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    toast({ text: t('The execution continues in version {version}.', { version }) });
    done();
  };
  return (
    <Dialog title={t('Move to another version')} close={close} wide>
      {versions.length === 0 ? <p>{t('There is no other version. Publish a fixed one first.')}</p> : (
        <form className="stack" noValidate onSubmit={(ev) => { ev.preventDefault(); void send(); }}>
          <div className="pair">
            <Field label={t('Version')} fault={faultAt(fault, 'version')}><select value={version} onChange={(ev) => { setVersion(Number(ev.target.value)); setPhase(''); }}>{versions.map((v) => <option key={v} value={v}>{t('Version {version}', { version: String(v) })}</option>)}</select></Field>
            <Field label={t('Continues at')} fault={faultAt(fault, 'phaseId')}><select value={phaseId} onChange={(ev) => { setPhase(ev.target.value); }}><option value="">{t('The current phase: {phase}', { phase: phaseName(e, i.phaseId) })}</option>{target.phases?.map((p) => <option key={p.id} value={p.id}>{p.name || p.id}</option>)}</select></Field>
          </div>
          <div role="status" aria-label={t('What would happen')}>
            <Loaded read={preview} skeleton={2}>
              {({ previewMove: m }) => (m ? (
                <div className="notice stack-tight">
                  <strong>{t('Preview: {status} at “{phase}”', { status: words(m.status), phase: name(m.phaseId) })}</strong>
                  <span>{m.phases.map((p) => `${name(p.phaseId)} (${words(p.status)})`).join(' → ')}</span>
                  {m.passed.length > 0 && <span>{t('Skipped: {phases}.', { phases: m.passed.map((p) => name(p.phaseId)).join(', ') })}{m.passed.some((p) => !p.mayDecide) && <> {t('Only people who decide on {phases} may move past it.', { phases: m.passed.filter((p) => !p.mayDecide).map((p) => `“${name(p.phaseId)}”`).join(', ') })}</>}</span>}
                  {m.lost.length > 0 && <span>{t('No longer read: the results of {phases}.', { phases: m.lost.map((l) => phaseName(e, l.phaseId)).join(', ') })}</span>}
                </div>
              ) : <p className="soft">{t('No preview is available.')}</p>)}
            </Loaded>
          </div>
          <Rest fault={fault} fields={['version', 'phaseId']} />
          <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy || preview.fault !== null}>{t('Move')}</button></footer>
        </form>
      )}
    </Dialog>
  );
}
