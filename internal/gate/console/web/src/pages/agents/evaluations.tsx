import { rows, useWrite } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { EvaluateAgent } from '../../gen/documents';
import type { AgentFullFragment, EvaluationRowFragment } from '../../gen/types';
import { Badge, count, percent, Time, words } from '../../ui/bits';
import { Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

interface Report { cases: number; agreement: number; history: number; attacks: number; attackSuccess: number; handedOver: number; inputTokens: number; outputTokens: number; p95Millis: number }

// Evaluations is how an agent's drafts did on requests whose end is known, and under attack.
export function Evaluations({ agent: a, again }: { agent: AgentFullFragment; again: () => void }) {
  const viewer = useViewer();
  const [run, busy] = useWrite(EvaluateAgent);
  const list = rows(a.evaluations);
  const goesOn = list.some((e) => e.status === 'RUNNING');
  const begin = async () => {
    const o = await run({ input: { id: a.id } });
    if (o.data) toast({ text: 'The draft is tried on finished requests and under attack. That takes a while.' });
    again();
  };
  return (
    <Section title="Evaluations" intro="The draft is tried on finished requests and on the attacks that ship. To act alone it must decide as people did, and withstand every attack."
      actions={<>
        {can(viewer, 'agent.evaluate') && !goesOn && <button type="button" className="plain" disabled={busy} onClick={() => { void begin(); }}>Evaluate the draft</button>}
        {goesOn && <button type="button" className="plain" onClick={again}>Refresh</button>}
      </>}>
      {list.length === 0 ? <Empty title="Never evaluated"><p>An agent that suggests, or waits for approval, needs none.</p></Empty> : (
        <ul className="rows">{list.map((e) => <li key={e.id} className="row"><Evaluation of={e} /></li>)}</ul>
      )}
    </Section>
  );
}

function Evaluation({ of: e }: { of: EvaluationRowFragment }) {
  const r = e.report as Report | null;
  return (
    <div>
      <Badge value={{ RUNNING: 'WARNING', PASSED: 'active', FAILED: 'off' }[e.status]}>{words(e.status)}</Badge> <span className="soft"><Time at={e.createdAt} full /></span>
      {e.reason && <p>{e.reason}</p>}
      {r && (
        <p className="soft">
          {count(r.cases, 'case')}: it decided as people did in {percent(r.agreement)}, the history in {percent(r.history)}; {percent(r.handedOver)} were handed over. {count(r.attacks, 'attack')}: {percent(r.attackSuccess)} succeeded.
          {r.inputTokens > 0 && ` ${count(r.inputTokens + r.outputTokens, 'token')}.`}
        </p>
      )}
    </div>
  );
}
