import { Link, Navigate, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { Agents, CreateAgent, StopAllAgents } from '../../gen/documents';
import type { AgentAutonomy, AgentSource, AgentType } from '../../gen/types';
import { Subpages } from '../../parts/subpages';
import { Badge, Time, words } from '../../ui/bits';
import { Confirm, Dialog, Once } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';
import { Connections } from './connections';
import { levels } from './levels';

// AgentList is which automated participants the company has. Staff see their runs alone.
export default function AgentList() {
  const viewer = useViewer();
  if (!can(viewer, 'agent.read') && can(viewer, 'agentrun.read')) return <Navigate to="/app/runs" replace />;
  return <All />;
}

function All() {
  const viewer = useViewer();
  const read = usePages(Agents, { first: 50 }, !can(viewer, 'agent.read'));
  const [asking, setAsking] = useAsked<'make' | 'stop' | ''>('verb', '');
  const [reason, setReason] = useState('');
  const [once, setOnce] = useState<{ id: string; secret: string } | null>(null);
  const navigate = useNavigate();
  const open = (id: string) => { void navigate({ to: '/app/agents/$id', params: { id } }); };
  const [stop] = useWrite(StopAllAgents);
  const list = rows(read.data?.agents);
  const active = list.some((a) => a.status === 'ACTIVE');
  const halt = async () => {
    const o = await stop({ input: { reason } });
    if (o.data) toast({ text: `${plural(o.data.stopAllAgents.agents, '{n} AI agent was paused.', '{n} AI agents were paused.')} ${plural(o.data.stopAllAgents.runs, '{n} run was stopped.', '{n} runs were stopped.')}` });
    setAsking('');
    read.again();
  };
  return (
    <Page title={t('AI agents')} verb="agent.read" intro={t('AI agents: what they work on and how much they may do on their own.')} tabs={<Subpages of="agents" />} actions={<>
      {active && can(viewer, 'agent.stop_all') && <button type="button" className="danger-plain" onClick={() => { setAsking('stop'); }}>{t('Stop all')}</button>}
      {can(viewer, 'agent.create') && <button type="button" onClick={() => { setAsking('make'); }}>{t('New AI agent')}</button>}
    </>}>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={t('There are no AI agents')}><p>{t('An AI agent takes new requests, proposes who should handle them, and does what you allow.')}</p></Empty> : (
          <><div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">{t('Name')}</th><th scope="col">{t('Status')}</th><th scope="col">{t('Type')}</th><th scope="col">{t('Autonomy')}</th><th scope="col">{t('Version')}</th><th scope="col">{t('Changed')}</th></tr></thead>
              <tbody>
                {list.map((a) => (
                  <tr key={a.id}>
                    <td><Link className="name" dir="auto" to="/app/agents/$id" params={{ id: a.id }}>{a.name}</Link><span className="sub">{a.owner ? t('Owner: {name}', { name: a.owner.name }) : words(a.source)}</span></td>
                    <td className="tight"><Badge value={{ DRAFT: 'draft', ACTIVE: 'active', PAUSED: 'WARNING' }[a.status]}>{words(a.status)}</Badge>{a.shadow && <> <Badge value="off">{t('Shadow mode')}</Badge></>}</td>
                    <td className="tight">{words(a.type)}</td><td className="tight">{words(a.autonomy)}</td><td className="tight" data-label={t('Version')}>{a.version || <span className="soft">{t('None yet')}</span>}</td><td className="tight"><Time at={a.updatedAt} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <More shown={list.length} total={read.data?.agents?.totalCount} page={read.data?.agents?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
      <Connections />
      {asking === 'make' && <Make close={() => { setAsking(''); }} made={(id, secret) => { if (secret) setOnce({ id, secret }); else open(id); setAsking(''); }} />}
      {once && <Once title={t('The signing secret')} label={t('Signing secret')} value={once.secret} close={() => { setOnce(null); open(once.id); }}><p className="soft">{t('It signs the runs that are sent to the AI agent. Create its API key on the AI agent’s page.')}</p></Once>}
      {asking === 'stop' && (
        <Confirm title={t('Stop all AI agents?')} verb={t('Stop all')} close={() => { setAsking(''); }} act={halt} ready={reason.trim() !== ''}>
          <p>{t('Every unfinished run is stopped, and every AI agent is paused until somebody resumes it.')}</p>
          <Field label={t('Reason')} hint={t('It is kept with each run.')}><textarea dir="auto" value={reason} onChange={(e) => { setReason(e.target.value); }} /></Field>
        </Confirm>
      )}
    </Page>
  );
}

const works: Record<AgentType, string> = { QUEUE_INTAKE: t('It takes new requests.'), WORKFLOW_PHASE: t('It works on the phases of workflows that name it.') };
const runs: Record<AgentSource, string> = { MANAGED: t('The platform runs it.'), CUSTOM: t('Your company runs it: a program of yours handles its runs, with an API key.') };

function Make({ close, made }: { close: () => void; made: (id: string, secret: string | null) => void }) {
  const [draft, set, forget, base] = useDraft('agent-new', { name: '', autonomy: 'SUGGEST' as AgentAutonomy, type: 'QUEUE_INTAKE' as AgentType, source: 'MANAGED' as AgentSource });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CreateAgent, true);
  const evaluated = draft.type === 'QUEUE_INTAKE' && draft.source === 'MANAGED'; // others cannot be, and so never act alone
  const autonomy = !evaluated && draft.autonomy === 'AUTONOMOUS' ? 'ACT_WITH_APPROVAL' : draft.autonomy;
  const send = async () => {
    const o = await run({ input: { ...draft, autonomy } });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    made(o.data.createAgent.agent.id, o.data.createAgent.signingSecret);
  };
  return (
    <Dialog title={t('New AI agent')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Type')} hint={works[draft.type]} fault={faultAt(fault, 'type')}><select value={draft.type} onChange={(e) => { set({ ...draft, type: e.target.value as AgentType }); }}>{Object.keys(works).map((x) => <option key={x} value={x}>{words(x)}</option>)}</select></Field>
        <Field label={t('Source')} hint={runs[draft.source]} fault={faultAt(fault, 'source')}><select value={draft.source} onChange={(e) => { set({ ...draft, source: e.target.value as AgentSource }); }}>{Object.keys(runs).map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></Field>
        <Field label={t('Autonomy')} hint={levels[autonomy]} fault={faultAt(fault, 'autonomy')}><select value={autonomy} onChange={(e) => { set({ ...draft, autonomy: e.target.value as AgentAutonomy }); }}><option value="SUGGEST">{t('Suggest')}</option><option value="ACT_WITH_APPROVAL">{t('Act with approval')}</option>{evaluated && <option value="AUTONOMOUS">{t('Autonomous')}</option>}</select></Field>
        <p className="soft">{t('It starts as a draft. Nothing runs until you publish it.')}</p>
        <Rest base={base} fault={fault} fields={['name', 'type', 'source', 'autonomy']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
