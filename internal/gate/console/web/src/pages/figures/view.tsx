import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { Page } from '../../ui/page';
import { AgentFigured } from './agents';
import { DeliveryFigured } from './deliveries';
import { Mailed } from './mailed';
import { timeOf, tooLong } from './period';
import type { ReportSearch } from './report';
import { RequestFigured } from './requests';

// FigureView is what people would rather look at than read: how much comes and goes, how long it takes, what is promised and kept. Its
// time, its filters and what it is broken down by stand in the address.
export default function FigureView() {
  const search = useSearch({ strict: false }) as ReportSearch;
  const navigate = useNavigate();
  const viewer = useViewer();
  const { period, from, to } = search;
  const time = useMemo(() => timeOf({ ...(period ? { period } : {}), ...(from ? { from } : {}), ...(to ? { to } : {}) }, new Date()), [period, from, to]);
  const set = (s: ReportSearch) => { void navigate({ to: '/app/figures', search: s as never, replace: true, resetScroll: false }); };
  const [agents, deliveries, long] = [can(viewer, 'agentrun.read'), can(viewer, 'webhookdelivery.read'), tooLong(time.days)];
  const note = t('Days here are in UTC.');
  return (
    <Page title={t('Reports')} verb="request.update" intro={t('Only what you may see is counted.')}>
      <RequestFigured search={search} set={set} time={time} />
      <Mailed />
      {!long && agents && <AgentFigured time={time.utc} note={note} />}
      {!long && deliveries && <DeliveryFigured time={time.utc} note={note} />}
      {long && (agents || deliveries) && <p className="section soft">{t('AI agents and webhook deliveries are counted for at most 366 days.')}</p>}
    </Page>
  );
}
