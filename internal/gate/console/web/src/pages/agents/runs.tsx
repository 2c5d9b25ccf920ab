import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { rows, usePages } from '../../app/data';
import { useTold } from '../../app/live';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { AgentRuns, RunChanged } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { AgentRunFilter, AgentRunStatus } from '../../gen/types';
import { runTone } from '../../parts/runs';
import { Subpages } from '../../parts/subpages';
import { Badge, Time, words } from '../../ui/bits';
import { Field } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';

// RunsPage is every run of every agent.
export default function RunsPage() {
  const { status = '' } = useSearch({ strict: false }) as { status?: string };
  const navigate = useNavigate();
  return (
    <Page title={t('AI agent runs')} verb="agentrun.read" intro={t('What AI agents do, live, for each request.')} tabs={<Subpages of="agents" />}>
      <search className="filters">
        <Field label={t('Status')}><select value={status} onChange={(e) => { void navigate({ to: '/app/runs', search: { status: e.target.value } as never, replace: true }); }}><option value="">{t('Any')}</option>{enums.AgentRunStatus.map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></Field>
      </search>
      <RunList filter={status ? { status: status.split(',') as AgentRunStatus[] } : {}} />
    </Page>
  );
}

// RunList is a list of runs that stays as they are.
export function RunList({ filter }: { filter: AgentRunFilter }) {
  const asked = JSON.stringify(filter);
  const read = usePages(AgentRuns, { first: 50, filter: JSON.parse(asked) as AgentRunFilter });
  useTold(RunChanged, { filter: filter.agentId ? { agentId: filter.agentId } : {} }, read.again, !useCan('agentrun.read')); // a run of another status may have come into the list, or left it
  const list = rows(read.data?.agentRuns);
  return (
    <Loaded read={read} skeleton={4}>
      {() => (list.length === 0 ? <Empty title={filter.status ? t('No matching runs') : t('There are no runs yet')}><p>{t('A run appears here when an AI agent takes a request.')}</p></Empty> : (
        <>
          <ul className="rows" aria-label={t('Runs')}>
            {list.map((r) => (
              <li key={r.id} className="row">
                <div>
                  <Link className="name" dir="auto" to="/app/runs/$id" params={{ id: r.id }}>{r.request?.title ?? r.requestId}</Link>
                  <div className="meta"><Badge value={runTone[r.status] ?? 'off'}>{words(r.status)}</Badge>{r.shadow && <Badge value="off">{t('Shadow mode')}</Badge>}<span>{t('Run {number}', { number: String(r.number) })}</span><span>{t('Version {version}', { version: String(r.agentVersion) })}</span>{r.reason && <span dir="auto">{r.reason}</span>}<Time at={r.createdAt} /></div>
                </div>
              </li>
            ))}
          </ul>
          <More shown={list.length} total={read.data?.agentRuns?.totalCount} page={read.data?.agentRuns?.pageInfo} next={read.next} />
        </>
      ))}
    </Loaded>
  );
}
