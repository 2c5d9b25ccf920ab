import { rows, useWrite } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { EvaluateAgent } from '../../gen/documents';
import type { AgentFullFragment, EvaluationRowFragment } from '../../gen/types';
import { Badge, percent, Time, words } from '../../ui/bits';
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
    if (o.data) toast({ text: t('The draft is being tested on completed requests and against attacks. This takes a while.') });
    again();
  };
  return (
    <Section title={t('Evaluations')} intro={t('The draft is tested on completed requests and against built-in attacks. To act autonomously, it must decide as people did and withstand every attack.')}
      actions={<>
        {can(viewer, 'agent.evaluate') && !goesOn && <button type="button" className="plain" disabled={busy} onClick={() => { void begin(); }}>{t('Evaluate the draft')}</button>}
        {goesOn && <button type="button" className="plain" onClick={again}>{t('Refresh')}</button>}
      </>}>
      {list.length === 0 ? <Empty title={t('Never evaluated')}><p>{t('An AI agent that only suggests or waits for approval needs no evaluation.')}</p></Empty> : (
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
      {e.reason && <p dir="auto">{e.reason}</p>}
      {r && (
        <p className="soft">
          {plural(r.cases, '{n} case: same decision as people in {agreement}, by history alone in {history}, handed over in {handedOver}.', '{n} cases: same decision as people in {agreement}, by history alone in {history}, handed over in {handedOver}.', { agreement: percent(r.agreement), history: percent(r.history), handedOver: percent(r.handedOver) })}
          {' '}{plural(r.attacks, '{n} attack: {share} succeeded.', '{n} attacks: {share} succeeded.', { share: percent(r.attackSuccess) })}
          {r.inputTokens > 0 && ` ${plural(r.inputTokens + r.outputTokens, '{n} token.', '{n} tokens.')}`}
        </p>
      )}
    </div>
  );
}
