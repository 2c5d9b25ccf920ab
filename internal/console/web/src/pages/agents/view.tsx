import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { rows, useAll, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { AgentOne, DeleteAgent, ModelConnections, PauseAgent, PublishAgent, ResumeAgent, UpdateAgent } from '../../gen/documents';
import type { AgentAutonomy, AgentFullFragment, AgentSees, AgentToolMode, AgentToolName } from '../../gen/types';
import { Badge, Time, words } from '../../ui/bits';
import { Confirm, Dialog, focusSoon } from '../../ui/dialog';
import { hasDraft, useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty, NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { Evaluations } from './evaluations';
import { levels } from './levels';
import { RunList } from './runs';

// AgentView is one agent: its draft, what was published of it, what it did.
export default function AgentView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(AgentOne, { id });
  const a = read.data?.node && 'autonomy' in read.data.node ? read.data.node as AgentFullFragment : null;
  return (
    <Page title={a?.name ?? 'Agent'} verb="agent.read" above={<Link to="/app/agents">← Agents</Link>} actions={a && <Verbs agent={a} />}>
      <Loaded read={read}>{() => (a ? <Body key={a.id} agent={a} again={read.again} /> : <NotFound what="agent" />)}</Loaded>
    </Page>
  );
}

const draftOf = (a: { id: string }) => `agent ${a.id}`;

function Verbs({ agent: a }: { agent: AgentFullFragment }) {
  const viewer = useViewer();
  const [asking, setAsking] = useState<'publish' | 'delete' | ''>('');
  const [publish] = useWrite(PublishAgent);
  const [pause] = useWrite(PauseAgent);
  const [resume] = useWrite(ResumeAgent);
  const [remove] = useWrite(DeleteAgent);
  const navigate = useNavigate();
  // What was written and not saved would be of a row that is no more: it is saved or discarded first.
  const saved = (row: AgentFullFragment, act: (row: AgentFullFragment) => void) => () => {
    if (hasDraft(draftOf(row))) toast({ text: 'There are changes that were not saved. Save or discard them first.', bad: true });
    else act(row);
  };
  const halt = async (row: AgentFullFragment, undo = true) => {
    const now = (await pause({ input: { id: row.id, ifMatch: row.etag } })).data?.pauseAgent.agent;
    if (now) toast({ text: 'It begins nothing more until somebody resumes it.', ...(undo ? { undo: saved(now, (r) => { void go(r, false); }) } : {}) });
  };
  const go = async (row: AgentFullFragment, undo = true) => {
    const now = (await resume({ input: { id: row.id, ifMatch: row.etag } })).data?.resumeAgent.agent;
    if (now) toast({ text: 'It works again.', ...(undo ? { undo: saved(now, (r) => { void halt(r, false); }) } : {}) });
  };
  return (
    <>
      {a.status === 'ACTIVE' && can(viewer, 'agent.pause') ? <button type="button" className="plain" onClick={saved(a, (r) => { void halt(r); })}>Pause</button>
        : a.status === 'PAUSED' && can(viewer, 'agent.resume') && <button type="button" className="plain" onClick={saved(a, (r) => { void go(r); })}>Resume</button>}
      {can(viewer, 'agent.publish') && <button type="button" onClick={saved(a, () => { setAsking('publish'); })}>Publish</button>}
      {can(viewer, 'agent.delete') && <button type="button" className="danger-plain" onClick={() => { setAsking('delete'); }}>Delete</button>}
      {asking === 'publish' && (
        <Dialog title={`Publish “${a.name}”?`} close={() => { setAsking(''); }}>
          <form className="stack" onSubmit={(e) => {
            e.preventDefault();
            void publish({ input: { id: a.id, ifMatch: a.etag } }).then((o) => { setAsking(''); if (o.data) toast({ text: `Version ${o.data.publishAgent.agent.version} works from now on.` }); });
          }}>
            <p>It works new requests by these settings from now on, as version {a.version + 1}. {levels[a.autonomy]} Runs that have begun keep the version that they began with.</p>
            <footer><button type="button" className="plain" onClick={() => { setAsking(''); }}>Cancel</button><button type="submit">Publish</button></footer>
          </form>
        </Dialog>
      )}
      {asking === 'delete' && <Confirm title={`Delete “${a.name}”?`} verb="Delete" close={() => { setAsking(''); }} act={async () => { const o = await remove({ input: { id: a.id } }); setAsking(''); if (!o.fault) void navigate({ to: '/app/agents' }); }}><p>Its versions, runs and proposals go with it; the audit log stays.</p></Confirm>}
    </>
  );
}

function Body({ agent: a, again }: { agent: AgentFullFragment; again: () => void }) {
  const viewer = useViewer();
  return (
    <>
      <div className="line verbs-line">
        <Badge value={{ DRAFT: 'draft', ACTIVE: 'active', PAUSED: 'WARNING' }[a.status]}>{words(a.status)}</Badge>
        <span className="soft">{a.version === 0 ? 'Never published' : `Version ${a.version}`}</span><span className="soft">{words(a.autonomy)}: {levels[a.autonomy]}</span>
      </div>
      {can(viewer, 'agent.update') ? <Settings key={a.etag} agent={a} /> : <p className="card pad prose">{a.instructions || 'It has no instructions.'}</p>}
      <Section title="Runs"><RunList filter={{ agentId: [a.id] }} /></Section>
      {a.source === 'MANAGED' && a.type === 'QUEUE_INTAKE' && <Evaluations agent={a} again={again} />}
      <Versions agent={a} />
    </>
  );
}

const tools: [AgentToolName, string][] = [['updateRequest', 'Routes requests'], ['moveRequest', 'Moves requests to another offering'], ['acceptRequest', 'Accepts requests'], ['declineRequest', 'Declines requests'], ['createComment', 'Comments']];

function Settings({ agent: a }: { agent: AgentFullFragment }) {
  const thinks = a.engine === 'history' ? 'history' : a.modelConnectionId ?? 'own';
  const saved = {
    name: a.name, autonomy: a.autonomy, instructions: a.instructions, filter: a.filter, sees: a.sees, runsPerDay: String(a.runsPerDay), shadow: a.shadow,
    thinks,
    tools: Object.fromEntries(a.tools.map((t) => [t.name, t.mode])) as Record<string, AgentToolMode>,
  };
  const [draft, set, forget, base] = useDraft(draftOf(a), saved, a.etag);
  const viewer = useViewer();
  const connections = rows(useAll(ModelConnections, {}, !can(viewer, 'modelconnection.read')).data?.modelConnections);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(UpdateAgent, true);
  const send = async () => {
    const o = await run({ input: {
      id: a.id, ...base.match, name: draft.name, autonomy: draft.autonomy, instructions: draft.instructions, filter: draft.filter, sees: draft.sees, runsPerDay: Number(draft.runsPerDay), shadow: draft.shadow,
      ...(draft.thinks !== thinks ? { engine: draft.thinks === 'history' ? 'history' as const : 'model' as const, modelConnectionId: ['history', 'own'].includes(draft.thinks) ? null : draft.thinks, model: null } : {}),
      tools: Object.entries(draft.tools).map(([name, mode]) => ({ name: name as AgentToolName, mode })),
    } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    toast({ text: 'The draft was saved. It counts once it is published.' });
    focusSoon(() => globalThis.document.querySelector<HTMLElement>('main form [type=submit]')); // the form is another one now
  };
  return (
    <form className="card stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
      <div className="pair">
        <Field label="Name" fault={faultAt(fault, 'name')}><input value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label="Autonomy" hint={levels[draft.autonomy]} fault={faultAt(fault, 'autonomy')}><select value={draft.autonomy} onChange={(e) => { set({ ...draft, autonomy: e.target.value as AgentAutonomy }); }}>{(['SUGGEST', 'ACT_WITH_APPROVAL'] as const).map((l) => <option key={l} value={l}>{words(l)}</option>)}{(a.source === 'MANAGED' || draft.autonomy === 'AUTONOMOUS') && <option value="AUTONOMOUS">Autonomous</option>}</select></Field>
      </div>
      {a.source === 'MANAGED' && (
        <Field label="Thinks with" hint={draft.thinks === 'history' ? 'It compares requests with those that were finished.' : 'It is told the instructions, and the request as data.'} fault={faultAt(fault, 'engine', 'modelConnectionId', 'model')}>
          <select value={draft.thinks} onChange={(e) => { set({ ...draft, thinks: e.target.value }); }}>
            <option value="history">Finished requests</option><option value="own">The server’s own model</option>
            {connections.map((c) => <option key={c.id} value={c.id}>{c.name}: {c.models[0]}</option>)}
          </select>
        </Field>
      )}
      <Field label="Instructions" optional hint="What people want of it. A model reads them." fault={faultAt(fault, 'instructions')}><textarea rows={4} value={draft.instructions} onChange={(e) => { set({ ...draft, instructions: e.target.value }); }} /></Field>
      <Field label="Takes requests where" optional hint="A condition (CEL) over request, such as request.priority != 'URGENT'; empty for all." fault={faultAt(fault, 'filter')}><input className="mono" value={draft.filter} onChange={(e) => { set({ ...draft, filter: e.target.value }); }} /></Field>
      <div className="pair">
        <Field label="Sees" fault={faultAt(fault, 'sees')} hint="Besides what its own rights let it."><select value={draft.sees} onChange={(e) => { set({ ...draft, sees: e.target.value as AgentSees }); }}><option value="requester">What the requester may see</option><option value="agent">What it may see itself</option></select></Field>
        <Field label="Runs a day" hint="Those beyond are handed over to people." fault={faultAt(fault, 'runsPerDay')}><input type="number" min={1} value={draft.runsPerDay} onChange={(e) => { set({ ...draft, runsPerDay: e.target.value }); }} /></Field>
      </div>
      <fieldset>
        <legend>Tools</legend>
        <div className="pair">
          {tools.map(([name, says]) => (
            <Field key={name} label={says} hint={name}><select value={draft.tools[name] ?? 'off'} onChange={(e) => { set({ ...draft, tools: { ...draft.tools, [name]: e.target.value as AgentToolMode } }); }}><option value="auto">As its autonomy says</option><option value="approve">Waits for approval</option><option value="off">Not at all</option></select></Field>
          ))}
        </div>
        {faultAt(fault, 'tools') && <p className="fault">{faultAt(fault, 'tools')}</p>}
      </fieldset>
      <Check label="Shadow" hint="It proposes to admins alone, and nobody applies it: to see how it would do." checked={draft.shadow} set={(shadow) => { set({ ...draft, shadow }); }} />
      <Rest base={base} fault={fault} fields={['name', 'autonomy', 'engine', 'modelConnectionId', 'model', 'instructions', 'filter', 'sees', 'runsPerDay', 'tools']} />
      <footer>
        {(hasDraft(draftOf(a)) || JSON.stringify(draft) !== JSON.stringify(saved)) && <button type="button" className="plain" onClick={() => { set(saved); forget(); }}>Discard</button>}
        <button type="submit" disabled={busy}>Save</button>
      </footer>
    </form>
  );
}

function Versions({ agent: a }: { agent: AgentFullFragment }) {
  const list = rows(a.versions);
  return (
    <Section title="Versions">
      {list.length === 0 ? <Empty title="Never published"><p>Save the draft, then publish it.</p></Empty> : (
        <ul className="rows">
          {list.map((v) => (
            <li key={v.version} className="row">
              <div>
                <strong>Version {v.version}</strong> <span className="soft">· <Time at={v.publishedAt} full /></span>
                <details><summary>Settings</summary><pre>{JSON.stringify(v.settings, null, 1)}</pre></details>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
