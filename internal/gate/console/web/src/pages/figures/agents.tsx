import { useRead } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { AgentFigures } from '../../gen/documents';
import type { AgentFigureFragment } from '../../gen/types';
import { useAgentChoices } from '../../parts/choices';
import { Loaded, Section } from '../../ui/page';
import { Grouped, Timed } from './figured';
import { filled, share, type Keyed } from './table';
import type { Time } from './period';

const none = { runs: 0, open: 0, completed: 0, proposed: 0, handedOver: 0, failed: 0, stopped: 0, waiting: 0, applied: 0, rejected: 0, stale: 0, expired: 0, modelCalls: 0, inputTokens: 0, outputTokens: 0 };
type Stat = Keyed<AgentFigureFragment>;
const accepted = (f: Stat | AgentFigureFragment) => share(f.applied, f.applied + f.rejected);

// AgentFigured is what agents did, what people made of it, and what their models cost. Who may not see agents sees no names of them,
// and so not the figures of each.
export function AgentFigured({ time, note }: { time: Time['utc']; note: string }) {
  const viewer = useViewer();
  const read = useRead(AgentFigures, { ...time, agents: can(viewer, 'agent.read') });
  const names = new Map(useAgentChoices().map((a) => [a.id, a.name]));
  return (
    <Loaded read={read} skeleton={3}>
      {(d) => {
        const list = filled(d.over ?? [], time.from, time.to, time.over, none);
        if (list.every((f) => f.runs === 0)) return <Section title={t('AI agents')}><p className="nothing">{t('No AI agent ran in this time')}</p></Section>;
        return (
          <div className="charts">
            <Timed<Stat> bars intro={note} title={t('Runs of AI agents')} file="agent-runs" over={time.over} list={list} columns={[
              { name: t('Completed'), tone: 'good', value: (f) => f.completed }, { name: t('Proposed'), tone: 'accent', value: (f) => f.proposed }, { name: t('Handed over'), tone: 'wait', value: (f) => f.handedOver }, { name: t('Failed'), tone: 'bad', value: (f) => f.failed }, { name: t('Stopped'), value: (f) => f.stopped }, { name: t('Open'), value: (f) => f.open },
            ]} />
            <Timed<Stat> bars title={t('Decisions on proposals')} file="agent-acceptance" over={time.over} list={list} intro={`${t('Counted by when the run began, not by when somebody decided.')} ${note}`} columns={[
              { name: t('Applied'), tone: 'good', value: (f) => f.applied }, { name: t('Rejected'), tone: 'bad', value: (f) => f.rejected }, { name: t('Stale or expired'), tone: 'wait', value: (f) => f.stale + f.expired }, { name: t('Waiting'), value: (f) => f.waiting }, { name: t('Applied (% of decided)'), value: accepted },
            ]} />
            {list.some((f) => f.modelCalls > 0) && (
              <Timed<Stat> bars intro={note} title={t('Model usage of AI agents')} file="agent-cost" over={time.over} list={list} columns={[
                { name: t('Tokens sent'), tone: 'accent', value: (f) => f.inputTokens }, { name: t('Tokens received'), tone: 'wait', value: (f) => f.outputTokens }, { name: t('Calls'), value: (f) => f.modelCalls },
              ]} />
            )}
            <Grouped title={t('Acceptance and cost, by AI agent')} file="agents" head={t('AI agent')} list={d.byAgent ?? []} name={(f) => names.get(f.key ?? '') ?? f.key ?? ''} columns={[
              { name: t('Applied'), tone: 'good', value: (f) => f.applied }, { name: t('Rejected'), tone: 'bad', value: (f) => f.rejected }, { name: t('Applied (% of decided)'), value: accepted }, { name: t('Runs'), value: (f) => f.runs }, { name: t('Calls'), value: (f) => f.modelCalls }, { name: t('Tokens'), value: (f) => f.inputTokens + f.outputTokens },
            ]} />
          </div>
        );
      }}
    </Loaded>
  );
}
