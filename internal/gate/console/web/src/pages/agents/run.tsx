import { Link, useParams } from '@tanstack/react-router';
import { rows, useRead, useWrite } from '../../app/data';
import { useTold } from '../../app/live';
import { useCan } from '../../app/session';
import { placed, plural, t } from '../../app/text';
import { AgentRunOne, ReplayAgentRun, RunChanged, StopRun } from '../../gen/documents';
import type { AgentRunOneQuery, AgentRunTrigger } from '../../gen/types';
import { Proposal } from '../../parts/proposal';
import { runTone, working } from '../../parts/runs';
import { Badge, Time, words } from '../../ui/bits';
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
    <Page title={r ? t('Run {number} on “{title}”', { number: String(r.number), title: r.request?.title ?? r.requestId }) : t('AI agent run')} verb="agentrun.read" above={<Link to="/app/runs">{t('AI agent runs')}</Link>} actions={r && <><Replay run={r} /><Stop run={r} /></>}>
      <Loaded read={read}>{({ agentRun }) => (agentRun ? <Body run={agentRun} /> : <NotFound says={t('This run was not found')} />)}</Loaded>
    </Page>
  );
}

function Stop({ run: r }: { run: Run }) {
  const may = useCan('agentrun.stop');
  const [stop, busy] = useWrite(StopRun);
  if (!may || !working(r.status)) return null;
  return <button type="button" className="danger-plain" disabled={busy} onClick={() => { void stop({ input: { id: r.id } }).then((o) => { if (!o.fault) toast({ text: t('The run was stopped.') }); }); }}>{t('Stop run')}</button>;
}

// Replay drives an ended run again from what was recorded, and keeps nothing.
function Replay({ run: r }: { run: Run }) {
  const may = useCan('agentrun.replay');
  const [replay, busy] = useWrite(ReplayAgentRun);
  if (!may || !['COMPLETED', 'PROPOSED', 'HANDED_OVER'].includes(r.status) || r.steps.length === 0) return null;
  const drive = async () => {
    const o = await replay({ input: { id: r.id } });
    const again = o.data?.replayAgentRun.agentRun;
    if (again) toast({ text: again.same ? t('The replay had the same result.') : t('The replay had a different result: {result}', { result: again.actions.map((a) => a.operation).join(', ') || again.reason || t('nothing') }) });
  };
  return <button type="button" className="plain" disabled={busy} onClick={() => { void drive(); }}>{t('Replay')}</button>;
}

const began: Record<AgentRunTrigger, string> = { created: t('Request submitted {when}'), rerun: t('Started again {when}'), assigned: t('Task assigned {when}'), consulted: t('Consulted {when}') };
const verbs: Record<string, string> = { read: t('done|Read'), decide: t('done|Decided'), act: t('done|Acted') };

function Body({ run: r }: { run: Run }) {
  const agents = useCan('agent.read');
  return (
    <>
      <div className="line verbs-line">
        <Badge value={runTone[r.status] ?? 'off'}>{words(r.status)}</Badge>{r.reason && <span dir="auto">{r.reason}</span>}<span className="grow" />
        <Link to="/app/requests/$id" params={{ id: r.requestId }}>{t('Open the request')}</Link>
        {agents && <Link to="/app/agents/$id" params={{ id: r.agentId }}>{t('AI agent, version {version}', { version: String(r.agentVersion) })}</Link>}
        {r.modelCalls > 0 && <span className="soft">{plural(r.modelCalls, '{n} model call', '{n} model calls')}, {plural(r.inputTokens + r.outputTokens, '{n} token', '{n} tokens')}</span>}
        <span className="soft">{placed(began[r.trigger], { when: <Time at={r.createdAt} full /> })}</span>
        {r.plans > 1 && <span className="soft">{plural(r.plans, 'planned {n} time', 'planned {n} times')}</span>}
        {r.endedAt && <span className="soft">{placed(t('ended {when}'), { when: <Time at={r.endedAt} full /> })}</span>}
      </div>
      <Section title={t('Proposals')}>
        {rows(r.actions).length === 0 ? <Empty title={t('No proposals')}><p>{r.reason || t('The run has made no proposal.')}</p></Empty> : <div className="stack">{rows(r.actions).map((a) => <Proposal key={a.id} action={a} />)}</div>}
      </Section>
      <Section title={t('Steps')}>
        {r.steps.length === 0 ? <p className="soft">{t('The run has not started.')}</p> : (
          <ol className="timeline">
            {r.steps.map((s) => (
              <li key={s.n}>
                <span className="tick" aria-hidden />
                <div>
                  <p><strong>{verbs[s.kind] ?? s.kind}</strong> <code>{s.operation}</code> <span className="soft">· {s.rows.length > 0 ? `${plural(s.rows.length, '{n} record', '{n} records')} · ` : ''}<Time at={s.at} full /></span></p>
                  {s.result && <p className="soft">{s.result}</p>}
                  {(s.rows.length > 0 || s.arguments) && <details><summary>{t('Records and arguments')}</summary><pre>{JSON.stringify({ rows: s.rows, arguments: s.arguments as unknown }, null, 1)}</pre></details>}
                </div>
              </li>
            ))}
          </ol>
        )}
      </Section>
    </>
  );
}
