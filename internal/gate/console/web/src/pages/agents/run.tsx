import { Link, useParams } from '@tanstack/react-router';
import { rows, useRead, useWrite } from '../../app/data';
import { useTold } from '../../app/live';
import { useCan } from '../../app/session';
import { AgentRunOne, ReplayAgentRun, RunChanged, StopRun } from '../../gen/documents';
import type { AgentRunOneQuery, AgentRunTrigger } from '../../gen/types';
import { Proposal } from '../../parts/proposal';
import { runTone, working } from '../../parts/runs';
import { Badge, count, Time, words } from '../../ui/bits';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty, NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';

type Run = NonNullable<AgentRunOneQuery['agentRun']>;

// RunView is one run: what the agent read, decided and did, step by step.
export default function RunView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(AgentRunOne, { id });
  useTold(RunChanged, { id }, read.again, !useCan('agentrun.read'));
  const r = read.data?.agentRun;
  return (
    <Page title={r ? `Run ${r.number} on “${r.request?.title ?? r.requestId}”` : 'Agent run'} verb="agentrun.read" above={<Link to="/app/runs">← Agent runs</Link>} actions={r && <><Replay run={r} /><Stop run={r} /></>}>
      <Loaded read={read}>{({ agentRun }) => (agentRun ? <Body run={agentRun} /> : <NotFound what="run" />)}</Loaded>
    </Page>
  );
}

function Stop({ run: r }: { run: Run }) {
  const may = useCan('agentrun.stop');
  const [stop, busy] = useWrite(StopRun);
  if (!may || !working(r.status)) return null;
  return <button type="button" className="danger-plain" disabled={busy} onClick={() => { void stop({ input: { id: r.id } }).then((o) => { if (!o.fault) toast({ text: 'The run was stopped: it writes nothing any more.' }); }); }}>Stop run</button>;
}

// Replay drives an ended run again from what was recorded, and keeps nothing.
function Replay({ run: r }: { run: Run }) {
  const may = useCan('agentrun.replay');
  const [replay, busy] = useWrite(ReplayAgentRun);
  if (!may || !['COMPLETED', 'PROPOSED', 'HANDED_OVER'].includes(r.status) || r.steps.length === 0) return null;
  const drive = async () => {
    const o = await replay({ input: { id: r.id } });
    const again = o.data?.replayAgentRun.agentRun;
    if (again) toast({ text: again.same ? 'Driven again, it comes to the same.' : `Driven again, it comes to something else: ${again.actions.map((a) => a.operation).join(', ') || again.reason}` });
  };
  return <button type="button" className="plain" disabled={busy} onClick={() => { void drive(); }}>Replay</button>;
}

const began: Record<AgentRunTrigger, string> = { created: 'Filed', rerun: 'Asked for', assigned: 'Given a task', consulted: 'Asked for its opinion' };
const verbs: Record<string, string> = { read: 'Read', decide: 'Decided', act: 'Did' };

function Body({ run: r }: { run: Run }) {
  const agents = useCan('agent.read');
  return (
    <>
      <div className="line verbs-line">
        <Badge value={runTone[r.status] ?? 'off'}>{words(r.status)}</Badge>{r.reason && <span>{r.reason}</span>}<span className="grow" />
        <Link to="/app/requests/$id" params={{ id: r.requestId }}>Open the request</Link>
        {agents && <Link to="/app/agents/$id" params={{ id: r.agentId }}>Agent, version {r.agentVersion}</Link>}
        {r.modelCalls > 0 && <span className="soft">{count(r.modelCalls, 'call')} of its model, {count(r.inputTokens + r.outputTokens, 'token')}</span>}
        <span className="soft">{began[r.trigger]} <Time at={r.createdAt} full /></span>
        {r.plans > 1 && <span className="soft">planned {count(r.plans, 'time')}</span>}
        {r.endedAt && <span className="soft">ended <Time at={r.endedAt} full /></span>}
      </div>
      <Section title="What it proposes">
        {rows(r.actions).length === 0 ? <Empty title="Nothing"><p>{r.reason || 'It has not come to a proposal.'}</p></Empty> : <div className="stack">{rows(r.actions).map((a) => <Proposal key={a.id} action={a} />)}</div>}
      </Section>
      <Section title="Steps">
        {r.steps.length === 0 ? <p className="soft">It has not begun.</p> : (
          <ol className="timeline">
            {r.steps.map((s) => (
              <li key={s.n}>
                <span className="tick" aria-hidden />
                <div>
                  <p><strong>{verbs[s.kind] ?? s.kind}</strong> <code>{s.operation}</code> <span className="soft">· {s.rows.length > 0 ? `${count(s.rows.length, 'row')} · ` : ''}<Time at={s.at} full /></span></p>
                  {s.result && <p className="soft">{s.result}</p>}
                  {(s.rows.length > 0 || s.arguments) && <details><summary>Rows and arguments</summary><pre>{JSON.stringify({ rows: s.rows, arguments: s.arguments as unknown }, null, 1)}</pre></details>}
                </div>
              </li>
            ))}
          </ol>
        )}
      </Section>
    </>
  );
}
