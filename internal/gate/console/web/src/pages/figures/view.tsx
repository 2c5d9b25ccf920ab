import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useRead } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { Figures, FiguresBefore } from '../../gen/documents';
import type { FigureFragment } from '../../gen/types';
import { useServiceChoices, useTeamChoices } from '../../parts/choices';
import { Field } from '../../ui/field';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { AgentFigured } from './agents';
import { DeliveryFigured } from './deliveries';
import { Grouped, Timed } from './figured';
import { filled, span, within, type Keyed } from './table';
import { TotalTiles, totals } from './tiles';

const none: Omit<FigureFragment, 'key' | '__typename'> = { filed: 0, finished: 0, cancelled: 0, open: 0, answerP50: null, answerP90: null, completionP50: null, completionP90: null, slaMet: 0, slaMissed: 0 };
type Stat = Keyed<FigureFragment>;

// Time is what all figures of the page are of: days of a short time, weeks of a long one.
export interface Time { from: string; to: string; over: 'day' | 'week' }

// FigureView is what people would rather look at than read: how much comes and goes, how long it takes, what is promised and kept.
export default function FigureView() {
  const { days = '30' } = useSearch({ strict: false }) as { days?: string };
  const navigate = useNavigate();
  const viewer = useViewer();
  const [time, before] = useMemo<[Time, Time]>(() => {
    const [now, over] = [new Date(), Number(days) > 60 ? 'week' as const : 'day' as const];
    return [{ ...span(Number(days), now), over }, { ...span(Number(days), now, true), over }];
  }, [days]);
  return (
    <Page title={t('Reports')} verb="request.update" intro={t('Only what you may see is counted. Days and weeks are in UTC. The median of the whole period is the weighted median of its days or weeks.')}>
      <search className="filters">
        <Field label={t('Time')}><select value={days} onChange={(e) => { void navigate({ to: '/app/figures', search: { days: e.target.value } as never, replace: true }); }}><option value="7">{t('The last 7 days')}</option><option value="30">{t('The last 30 days')}</option><option value="90">{t('The last 90 days')}</option><option value="365">{t('The last year')}</option></select></Field>
      </search>
      <RequestFigured time={time} before={before} />
      {can(viewer, 'agentrun.read') && <AgentFigured time={time} />}
      {can(viewer, 'webhookdelivery.read') && <DeliveryFigured time={time} />}
    </Page>
  );
}

function RequestFigured({ time, before }: { time: Time; before: Time }) {
  const read = useRead(Figures, { ...time });
  const earlier = useRead(FiguresBefore, { ...before }).data?.over;
  const [services, teams] = [useServiceChoices(), useTeamChoices()];
  const name = (list: { id: string; name: string }[], id: string | null | undefined, nobody: string) => (id ? list.find((x) => x.id === id)?.name ?? id : nobody);
  return (
    <Loaded read={read} skeleton={12}>
      {(d) => {
        const list = filled(d.over, time.from, time.to, time.over, none);
        const when = time.over === 'week' ? t('Week') : t('Day');
        const span = { createdAfter: time.from, createdBefore: time.to };
        const [ofService, ofTeam] = [(f: FigureFragment) => ({ ...span, serviceId: f.key }), (f: FigureFragment) => ({ ...span, teamId: f.key ?? 'none' })];
        const tiles = <TotalTiles now={totals(d.over)} before={earlier && totals(earlier)} open={d.requests?.totalCount} time={time} />;
        return list.every((f) => f.filed + f.finished + f.cancelled === 0) ? <>{tiles}<Section title={t('Requests')}><Empty title={t('No request was submitted or closed in this time')}><p><Link to="/app/catalogue" className="button">{t('New request')}</Link></p></Empty></Section></> : (
          <>
            {tiles}
            <div className="charts">
              <Timed<Stat> title={t('Submitted and completed')} file="filed" when={when} list={list} columns={[[t('Submitted'), 'accent', (f) => f.filed, (f) => within(f.key, time.over)], [t('Completed'), 'good', (f) => f.finished], [t('Cancelled'), null, (f) => f.cancelled]]} />
              <Grouped title={t('Load, by team')} file="load" head={t('Team')} list={d.byTeam} name={(f) => name(teams, f.key, t('No team'))} columns={[[t('Submitted'), 'accent', (f) => f.filed, ofTeam], [t('Still open'), 'wait', (f) => f.open, (f) => ({ ...ofTeam(f), status: 'PENDING,IN_PROGRESS' })]]} />
              <Timed<Stat> bars title={t('First response (minutes)')} file="answer" when={when} list={list} columns={[[t('Median'), 'accent', (f) => f.answerP50 ?? ''], [t('90th percentile'), 'wait', (f) => f.answerP90 ?? '']]} />
              <Timed<Stat> bars title={t('Resolution (minutes)')} file="done" when={when} list={list} columns={[[t('Median'), 'accent', (f) => f.completionP50 ?? ''], [t('90th percentile'), 'wait', (f) => f.completionP90 ?? '']]} />
              <Grouped title={t('Service levels, by service')} file="service-levels" head={t('Service')} list={d.byService} name={(f) => name(services, f.key, t('None'))} columns={[[t('Met'), 'good', (f) => f.slaMet, (f) => ({ ...ofService(f), slaState: 'MET' })], [t('Missed'), 'bad', (f) => f.slaMissed, (f) => ({ ...ofService(f), slaState: 'BREACHED' })]]} />
            </div>
          </>
        );
      }}
    </Loaded>
  );
}
