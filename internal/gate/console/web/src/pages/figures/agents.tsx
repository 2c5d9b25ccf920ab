import { useRead } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { AgentFigures } from '../../gen/documents';
import type { AgentFigureFragment } from '../../gen/types';
import { useAgentChoices } from '../../parts/choices';
import { Loaded, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { Grouped, Timed } from './figured';
import { filled, share, type Keyed } from './table';
import type { Time } from './view';

const none = { runs: 0, open: 0, completed: 0, proposed: 0, handedOver: 0, failed: 0, stopped: 0, waiting: 0, applied: 0, rejected: 0, stale: 0, expired: 0, modelCalls: 0, inputTokens: 0, outputTokens: 0 };
type Stat = Keyed<AgentFigureFragment>;
const accepted = (f: Stat | AgentFigureFragment) => share(f.applied, f.applied + f.rejected);

// AgentFigured is what agents did, what people made of it, and what their models cost. Who may not see agents sees no names of them,
// and so not the figures of each.
export function AgentFigured({ time }: { time: Time }) {
  const viewer = useViewer();
  const read = useRead(AgentFigures, { ...time, agents: can(viewer, 'agent.read') });
  const names = new Map(useAgentChoices().map((a) => [a.id, a.name]));
  return (
    <Loaded read={read} skeleton={3}>
      {(d) => {
        const list = filled(d.over ?? [], time.from, time.to, time.over, none);
        const when = time.over === 'week' ? t('Week') : t('Day');
        if (list.every((f) => f.runs === 0)) return <Section title={t('Agents')}><Empty title={t('No AI agent ran in this time')} /></Section>;
        return (
          <div className="charts">
            <Timed<Stat> bars title={t('Runs of agents')} file="agent-runs" when={when} list={list} columns={[
              [t('Completed'), 'good', (f) => f.completed], [t('Proposed'), 'accent', (f) => f.proposed], [t('Handed over'), 'wait', (f) => f.handedOver], [t('Failed'), 'bad', (f) => f.failed], [t('Stopped'), null, (f) => f.stopped], [t('Open'), null, (f) => f.open],
            ]} />
            <Timed<Stat> bars title={t('Decisions on proposals')} file="agent-acceptance" when={when} list={list} intro={t('Counted by when the run began, not by when somebody decided.')} columns={[
              [t('Applied'), 'good', (f) => f.applied], [t('Rejected'), 'bad', (f) => f.rejected], [t('Stale or expired'), 'wait', (f) => f.stale + f.expired], [t('Waiting'), null, (f) => f.waiting], [t('Applied (% of decided)'), null, accepted],
            ]} />
            {list.some((f) => f.modelCalls > 0) && (
              <Timed<Stat> bars title={t('Model usage of agents')} file="agent-cost" when={when} list={list} columns={[
                [t('Tokens sent'), 'accent', (f) => f.inputTokens], [t('Tokens received'), 'wait', (f) => f.outputTokens], [t('Calls'), null, (f) => f.modelCalls],
              ]} />
            )}
            <Grouped title={t('Acceptance and cost, by agent')} file="agents" head={t('Agent')} list={d.byAgent ?? []} name={(f) => names.get(f.key) ?? f.key} columns={[
              [t('Applied'), 'good', (f) => f.applied], [t('Rejected'), 'bad', (f) => f.rejected], [t('Applied (% of decided)'), null, accepted], [t('Runs'), null, (f) => f.runs], [t('Calls'), null, (f) => f.modelCalls], [t('Tokens'), null, (f) => f.inputTokens + f.outputTokens],
            ]} />
          </div>
        );
      }}
    </Loaded>
  );
}
