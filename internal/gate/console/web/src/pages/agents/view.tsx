import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { config } from '../../app/config';
import { rows, useAll, useRead, useRest, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import { AgentOne, CreateAgentKey, DeleteAgent, ModelConnections, MoreAgentVersions, PauseAgent, PublishAgent, ResumeAgent, RotateAgentSecret, UpdateAgent } from '../../gen/documents';
import type { AgentAutonomy, AgentFullFragment, AgentSees, AgentToolMode, AgentToolName } from '../../gen/types';
import { Condition } from '../../parts/condition';
import { Badge, Time, words } from '../../ui/bits';
import { Confirm, Copyable, Dialog, Once } from '../../ui/dialog';
import { hasDraft, useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { focusSoon } from '../../ui/focus';
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
    <Page title={a?.name ?? t('AI agent')} verb="agent.read" above={<Link to="/app/agents">{t('AI agents')}</Link>} actions={a && <Verbs agent={a} />}>
      <Loaded read={read}>{() => (a ? <Body key={a.id} agent={a} again={read.again} /> : <NotFound says={t('This AI agent was not found')} />)}</Loaded>
    </Page>
  );
}

const draftOf = (a: { id: string }) => `agent ${a.id}`;

// What was written and not saved would be of a row that is no more: it is saved or discarded first.
const saved = (row: AgentFullFragment, act: (row: AgentFullFragment) => void) => () => {
  if (hasDraft(draftOf(row))) toast({ text: t('There are changes that were not saved. Save or discard them first.'), bad: true });
  else act(row);
};

function Verbs({ agent: a }: { agent: AgentFullFragment }) {
  const viewer = useViewer();
  const [asking, setAsking] = useAsked<'publish' | 'delete' | ''>('verb', '');
  const [publish] = useWrite(PublishAgent);
  const [pause] = useWrite(PauseAgent);
  const [resume] = useWrite(ResumeAgent);
  const [remove] = useWrite(DeleteAgent);
  const navigate = useNavigate();
  const modelless = a.type === 'WORKFLOW_PHASE' && a.source === 'MANAGED' && a.engine === 'history'; // it is refused: only models work phases
  const halt = async (row: AgentFullFragment, undo = true) => {
    const now = (await pause({ input: { id: row.id, ifMatch: row.etag } })).data?.pauseAgent.agent;
    if (now) toast({ text: t('It starts no new runs until somebody resumes it.'), ...(undo ? { undo: saved(now, (r) => { void go(r, false); }) } : {}) });
  };
  const go = async (row: AgentFullFragment, undo = true) => {
    const now = (await resume({ input: { id: row.id, ifMatch: row.etag } })).data?.resumeAgent.agent;
    if (now) toast({ text: t('It works again.'), ...(undo ? { undo: saved(now, (r) => { void halt(r, false); }) } : {}) });
  };
  return (
    <>
      {a.status === 'ACTIVE' && can(viewer, 'agent.pause') ? <button type="button" className="plain" onClick={saved(a, (r) => { void halt(r); })}>{t('Pause')}</button>
        : a.status === 'PAUSED' && can(viewer, 'agent.resume') && <button type="button" className="plain" onClick={saved(a, (r) => { void go(r); })}>{t('Resume')}</button>}
      {can(viewer, 'agent.publish') && <button type="button" disabled={modelless} title={modelless ? t('Choose a model first') : undefined} onClick={saved(a, () => { setAsking('publish'); })}>{t('Publish')}</button>}
      {can(viewer, 'agent.delete') && <button type="button" className="danger-plain" onClick={() => { setAsking('delete'); }}>{t('Delete')}</button>}
      {asking === 'publish' && (
        <Dialog title={t('Publish “{name}”?', { name: a.name })} close={() => { setAsking(''); }}>
          <form className="stack" onSubmit={(e) => {
            e.preventDefault();
            void publish({ input: { id: a.id, ifMatch: a.etag } }).then((o) => { setAsking(''); if (o.data) toast({ text: t('Version {version} works from now on.', { version: String(o.data.publishAgent.agent.version) }) }); });
          }}>
            <p>{t('From now on it works with these settings, as version {version}. {autonomy} Runs in progress keep their version.', { version: String(a.version + 1), autonomy: levels[a.autonomy] })}</p>
            <footer><button type="button" className="plain" onClick={() => { setAsking(''); }}>{t('Cancel')}</button><button type="submit">{t('Publish')}</button></footer>
          </form>
        </Dialog>
      )}
      {asking === 'delete' && <Confirm title={t('Delete “{name}”?', { name: a.name })} verb={t('Delete')} close={() => { setAsking(''); }} act={async () => { const o = await remove({ input: { id: a.id } }); setAsking(''); if (!o.fault) void navigate({ to: '/app/agents' }); }}><p>{t('Its versions, runs and proposals are deleted, too. The audit log stays.')}</p></Confirm>}
    </>
  );
}

function Body({ agent: a, again }: { agent: AgentFullFragment; again: () => void }) {
  const viewer = useViewer();
  return (
    <>
      <div className="line verbs-line">
        <Badge value={{ DRAFT: 'draft', ACTIVE: 'active', PAUSED: 'WARNING' }[a.status]}>{words(a.status)}</Badge>
        <span className="soft">{a.version === 0 ? t('Never published') : t('Version {version}', { version: String(a.version) })}</span><span className="soft">{words(a.autonomy)}: {levels[a.autonomy]}</span>
      </div>
      {can(viewer, 'agent.update') ? <Settings key={a.etag} agent={a} /> : <p className="card pad prose" dir="auto">{a.instructions || t('It has no instructions.')}</p>}
      {(a.source === 'CUSTOM' || a.type === 'WORKFLOW_PHASE') && <Usage agent={a} />}
      <Section title={t('Runs')}><RunList filter={{ agentId: [a.id] }} /></Section>
      {a.source === 'MANAGED' && a.type === 'QUEUE_INTAKE' && <Evaluations agent={a} again={again} />}
      <Versions agent={a} />
    </>
  );
}

// Usage is how an agent comes to its work where the platform alone does not see to it.
function Usage({ agent: a }: { agent: AgentFullFragment }) {
  const viewer = useViewer();
  const custom = a.source === 'CUSTOM';
  const [asking, setAsking] = useAsked<'key' | 'rotate' | ''>('key', '');
  const [once, setOnce] = useState<{ label: string; value: string; title: string } | null>(null);
  const [rotate] = useWrite(RotateAgentSecret);
  const close = () => { setAsking(''); };
  return (
    <Section title={t('How it is used')} actions={custom && <>
      {can(viewer, 'agent.rotate_secret') && <button type="button" className="plain" onClick={saved(a, () => { setAsking('rotate'); })}>{t('Rotate signing secret')}</button>}
      {can(viewer, 'agent.create_key') && <button type="button" className="plain" onClick={() => { setAsking('key'); }}>{t('New API key')}</button>}
    </>}>
      <div className="card pad stack">
        {a.type === 'WORKFLOW_PHASE' && <><p>{t('Name it among the participants of a workflow phase, as responsible or consulted:')}</p><Copyable label={t('Participant')} value={JSON.stringify({ role: 'responsible', type: 'agent', id: a.id })} /></>}
        {custom && <><p>{a.endpointUrl ? t('Its runs are sent to its address, signed. It can also fetch them:') : t('It fetches its runs:')}</p><Copyable label={t('Example call')} value={`curl "${config.baseUrl}/v1/agent-runs?status=QUEUED" -H "x-api-key: $KEY"`} /><p className="soft">{placed(t('Its calls in a run carry the header {header} with the ID of the run.'), { header: <code>{'Agent-Run'}</code> })}</p></>}
      </div>
      {asking === 'key' && <MakeKey agent={a} close={close} made={(value) => { close(); setOnce({ label: t('API key'), value, title: t('The new API key') }); }} />}
      {asking === 'rotate' && <Confirm title={t('Rotate the signing secret?')} verb={t('Rotate')} close={close} act={async () => { const o = await rotate({ input: { id: a.id, ifMatch: a.etag } }); close(); if (o.data) setOnce({ label: t('Signing secret'), value: o.data.rotateAgentSecret.signingSecret, title: t('The new signing secret') }); }}><p>{t('For one day, runs are also signed with the old secret.')}</p></Confirm>}
      {once && <Once title={once.title} label={once.label} value={once.value} close={() => { setOnce(null); }} />}
    </Section>
  );
}

function MakeKey({ agent: a, close, made }: { agent: AgentFullFragment; close: () => void; made: (value: string) => void }) {
  const [draft, set, forget, base] = useDraft(`key ${a.id}`, { name: '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CreateAgentKey, true);
  const send = async () => {
    const o = await run({ input: { agentId: a.id, name: draft.name } });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    made(o.data.createAgentKey.value);
  };
  return (
    <Dialog title={t('New API key of {name}', { name: a.name })} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} hint={t('The name of the program. It may do what the AI agent may.')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ name: e.target.value }); }} /></Field>
        <Rest base={base} fault={fault} fields={['name']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}

const tools: Record<AgentToolName, string> = { updateRequest: t('Routes requests'), moveRequest: t('Moves requests to another offering'), acceptRequest: t('Accepts requests'), declineRequest: t('Declines requests'), createComment: t('Writes comments') };

function Settings({ agent: a }: { agent: AgentFullFragment }) {
  const [managed, intake] = [a.source === 'MANAGED', a.type === 'QUEUE_INTAKE'];
  const tooled = intake || !managed; // of a phase's task a model has one tool, to complete it
  const thinks = a.engine === 'history' ? 'history' : a.modelConnectionId ?? 'own';
  const row = {
    name: a.name, autonomy: a.autonomy, instructions: a.instructions, filter: a.filter, sees: a.sees, runsPerDay: String(a.runsPerDay), shadow: a.shadow,
    thinks, endpointUrl: a.endpointUrl, consultMinutes: String(a.consultMinutes),
    tools: Object.fromEntries(a.tools.map((x) => [x.name, x.mode])) as Record<string, AgentToolMode>,
  };
  const [draft, set, forget, base] = useDraft(draftOf(a), row, a.etag);
  const viewer = useViewer();
  const connections = rows(useAll(ModelConnections, {}, !can(viewer, 'modelconnection.read')).data?.modelConnections);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(UpdateAgent, true);
  const onward = () => { focusSoon(() => globalThis.document.querySelector<HTMLElement>('main [type=submit]')); };
  const send = async () => {
    const o = await run({ input: {
      id: a.id, ...base.match, name: draft.name, autonomy: draft.autonomy, instructions: draft.instructions, filter: draft.filter, sees: draft.sees, runsPerDay: Number(draft.runsPerDay), shadow: draft.shadow,
      ...(draft.thinks !== thinks ? { engine: draft.thinks === 'history' ? 'history' as const : 'model' as const, modelConnectionId: ['history', 'own'].includes(draft.thinks) ? null : draft.thinks, model: null } : {}),
      ...(managed ? {} : { endpointUrl: draft.endpointUrl.trim() || null }), ...(intake ? {} : { consultMinutes: Number(draft.consultMinutes) }),
      ...(tooled ? { tools: Object.entries(draft.tools).map(([name, mode]) => ({ name: name as AgentToolName, mode })) } : {}),
    } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    toast({ text: t('The draft was saved. It takes effect once it is published.') });
    onward(); // the form is another one now
  };
  return (
    <form className="card stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
      <div className="pair">
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Autonomy')} hint={levels[draft.autonomy]} fault={faultAt(fault, 'autonomy')}><select value={draft.autonomy} onChange={(e) => { set({ ...draft, autonomy: e.target.value as AgentAutonomy }); }}>{(['SUGGEST', 'ACT_WITH_APPROVAL'] as const).map((l) => <option key={l} value={l}>{words(l)}</option>)}{(managed && intake || draft.autonomy === 'AUTONOMOUS') && <option value="AUTONOMOUS">{t('Autonomous')}</option>}</select></Field>
      </div>
      {managed ? (
        <>
          <Field label={t('Decides with')} hint={draft.thinks !== 'history' ? t('It gets the instructions, and the request as data.') : intake ? t('It compares requests with completed ones.') : t('Phases need a model. Choose one before you publish.')} fault={faultAt(fault, 'engine', 'modelConnectionId', 'model')}>
            <select value={draft.thinks} onChange={(e) => { set({ ...draft, thinks: e.target.value }); }}>
              <option value="history" disabled={!intake}>{intake ? t('Completed requests') : t('Choose…')}</option><option value="own">{t('The server’s own model')}</option>
              {connections.map((c) => <option key={c.id} value={c.id}>{c.name}: {c.models[0]}</option>)}
            </select>
          </Field>
          <Field label={t('Instructions')} optional hint={t('What you expect of it. The model reads them.')} fault={faultAt(fault, 'instructions')}><textarea rows={4} dir="auto" value={draft.instructions} onChange={(e) => { set({ ...draft, instructions: e.target.value }); }} /></Field>
        </>
      ) : <Field label={t('Address')} optional hint={t('An https address. New runs are sent there. Without it, the AI agent fetches its runs.')} fault={faultAt(fault, 'endpointUrl')}><input className="mono" value={draft.endpointUrl} onChange={(e) => { set({ ...draft, endpointUrl: e.target.value }); }} /></Field>}
      {intake
        ? <Condition scope="AGENT" label={t('Takes requests where')} optional hint={t('Without a condition it takes all requests.')} value={draft.filter} problem={faultAt(fault, 'filter')} onChange={(filter) => { set({ ...draft, filter }); }} />
        : <Field label={t('Minutes for an opinion')} hint={t('How long a phase that consults it waits at most.')} fault={faultAt(fault, 'consultMinutes')}><input type="number" min={1} value={draft.consultMinutes} onChange={(e) => { set({ ...draft, consultMinutes: e.target.value }); }} /></Field>}
      <div className="pair">
        <Field label={t('Sees')} fault={faultAt(fault, 'sees')} hint={t('In addition to its own permissions.')}><select value={draft.sees} onChange={(e) => { set({ ...draft, sees: e.target.value as AgentSees }); }}><option value="requester">{t('What the requester may see')}</option><option value="agent">{t('What it may see itself')}</option></select></Field>
        <Field label={t('Runs per day')} hint={t('Requests beyond this limit are handed over to people.')} fault={faultAt(fault, 'runsPerDay')}><input type="number" min={1} value={draft.runsPerDay} onChange={(e) => { set({ ...draft, runsPerDay: e.target.value }); }} /></Field>
      </div>
      {tooled && (
        <fieldset>
          <legend>{t('Tools')}</legend>
          <div className="pair level">
            {Object.entries(tools).map(([name, says]) => (
              <Field key={name} label={says} hint={name}><select value={draft.tools[name] ?? 'off'} onChange={(e) => { set({ ...draft, tools: { ...draft.tools, [name]: e.target.value as AgentToolMode } }); }}><option value="auto">{t('According to its autonomy')}</option><option value="approve">{t('Waits for approval')}</option><option value="off">{t('Not at all')}</option></select></Field>
            ))}
          </div>
          {faultAt(fault, 'tools') && <p className="fault">{faultAt(fault, 'tools')}</p>}
        </fieldset>
      )}
      <Check label={t('Shadow mode')} hint={t('Only admins see its proposals, and nothing is applied. Use it to try an AI agent out.')} checked={draft.shadow} set={(shadow) => { set({ ...draft, shadow }); }} />
      <Rest base={base} fault={fault} fields={['name', 'autonomy', 'sees', 'runsPerDay', 'tools', ...(managed ? ['engine', 'modelConnectionId', 'model', 'instructions'] : ['endpointUrl']), intake ? 'filter' : 'consultMinutes']} />
      <footer>
        {(hasDraft(draftOf(a)) || JSON.stringify(draft) !== JSON.stringify(row)) && <button type="button" className="plain" onClick={() => { forget(); onward(); }}>{t('Discard')}</button>}
        <button type="submit" disabled={busy}>{t('Save')}</button>
      </footer>
    </form>
  );
}

function Versions({ agent: a }: { agent: AgentFullFragment }) {
  useRest(MoreAgentVersions, { id: a.id }, a.versions?.pageInfo);
  const list = rows(a.versions);
  return (
    <Section title={t('Versions')}>
      {list.length === 0 ? <Empty title={t('Never published')}><p>{t('Save the draft, then publish it.')}</p></Empty> : (
        <ul className="rows">
          {list.map((v) => (
            <li key={v.version} className="row">
              <div>
                <strong>{t('Version {version}', { version: String(v.version) })}</strong> <span className="soft">· <Time at={v.publishedAt} full /></span>
                <details><summary>{t('Settings')}</summary><pre>{JSON.stringify(v.settings, null, 1)}</pre></details>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
