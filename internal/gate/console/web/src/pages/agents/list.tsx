import { Link, Navigate, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { Agents, CreateAgent, StopAllAgents } from '../../gen/documents';
import type { AgentAutonomy, AgentSource, AgentType } from '../../gen/types';
import { Subpages } from '../../parts/subpages';
import { Badge, count, Time, words } from '../../ui/bits';
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
    if (o.data) toast({ text: `${count(o.data.stopAllAgents.agents, 'agent is', 'agents are')} paused, ${count(o.data.stopAllAgents.runs, 'run was', 'runs were')} stopped.` });
    setAsking('');
    read.again();
  };
  return (
    <Page title="Agents" verb="agent.read" intro="Automated participants: what they work and how far they go by themselves." tabs={<Subpages of="agents" />} actions={<>
      {active && can(viewer, 'agent.stop_all') && <button type="button" className="danger-plain" onClick={() => { setAsking('stop'); }}>Stop all</button>}
      {can(viewer, 'agent.create') && <button type="button" onClick={() => { setAsking('make'); }}>New agent</button>}
    </>}>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title="There are no agents"><p>An agent takes new requests, proposes where they go, and does what you let it.</p></Empty> : (
          <><div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">Name</th><th scope="col">Status</th><th scope="col">Works</th><th scope="col">Autonomy</th><th scope="col">Version</th><th scope="col">Changed</th></tr></thead>
              <tbody>
                {list.map((a) => (
                  <tr key={a.id}>
                    <td><Link className="name" to="/app/agents/$id" params={{ id: a.id }}>{a.name}</Link><span className="sub">{a.owner ? `${a.owner.name} answers for it` : words(a.source)}</span></td>
                    <td className="tight"><Badge value={{ DRAFT: 'draft', ACTIVE: 'active', PAUSED: 'WARNING' }[a.status]}>{words(a.status)}</Badge>{a.shadow && <> <Badge value="off">Shadow</Badge></>}</td>
                    <td className="tight">{words(a.type)}</td><td className="tight">{words(a.autonomy)}</td><td className="tight" data-label="Version">{a.version || <span className="soft">None yet</span>}</td><td className="tight"><Time at={a.updatedAt} /></td>
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
      {once && <Once title="The signing secret" label="Signing secret" value={once.secret} close={() => { setOnce(null); open(once.id); }}><p className="soft">It signs the runs that are pushed to the agent. Its API key is made on its page.</p></Once>}
      {asking === 'stop' && (
        <Confirm title="Stop all agents?" verb="Stop all" close={() => { setAsking(''); }} act={halt} ready={reason.trim() !== ''}>
          <p>Every run that has not ended is stopped, and every agent is paused until somebody resumes it.</p>
          <Field label="Reason" hint="It is kept with each run."><textarea value={reason} onChange={(e) => { setReason(e.target.value); }} /></Field>
        </Confirm>
      )}
    </Page>
  );
}

const works: Record<AgentType, string> = { QUEUE_INTAKE: 'It takes new requests.', WORKFLOW_PHASE: 'It works the phases of workflows that name it.' };
const runs: Record<AgentSource, string> = { MANAGED: 'The platform runs it.', CUSTOM: 'Your company runs it: a program of yours works its runs, with an API key.' };

function Make({ close, made }: { close: () => void; made: (id: string, secret: string | null) => void }) {
  const [draft, set, forget, base] = useDraft('agent new', { name: '', autonomy: 'SUGGEST' as AgentAutonomy, type: 'QUEUE_INTAKE' as AgentType, source: 'MANAGED' as AgentSource });
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
    <Dialog title="New agent" close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label="Name" fault={faultAt(fault, 'name')}><input value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label="Type" hint={works[draft.type]} fault={faultAt(fault, 'type')}><select value={draft.type} onChange={(e) => { set({ ...draft, type: e.target.value as AgentType }); }}>{Object.keys(works).map((t) => <option key={t} value={t}>{words(t)}</option>)}</select></Field>
        <Field label="Source" hint={runs[draft.source]} fault={faultAt(fault, 'source')}><select value={draft.source} onChange={(e) => { set({ ...draft, source: e.target.value as AgentSource }); }}>{Object.keys(runs).map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></Field>
        <Field label="Autonomy" hint={levels[autonomy]} fault={faultAt(fault, 'autonomy')}><select value={autonomy} onChange={(e) => { set({ ...draft, autonomy: e.target.value as AgentAutonomy }); }}><option value="SUGGEST">Suggest</option><option value="ACT_WITH_APPROVAL">Act with approval</option>{evaluated && <option value="AUTONOMOUS">Autonomous</option>}</select></Field>
        <p className="soft">It begins as a draft: nothing runs before you publish it.</p>
        <Rest base={base} fault={fault} fields={['name', 'type', 'source', 'autonomy']} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy}>Create</button></footer>
      </form>
    </Dialog>
  );
}
