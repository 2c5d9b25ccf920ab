import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { rows, usePages } from '../../app/data';
import { useTold } from '../../app/live';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { ExecutionMoved, Executions } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { ExecutionFilter, ExecutionStatus } from '../../gen/types';
import { Choices, useWorkflowChoices } from '../../parts/choices';
import { Subpages } from '../../parts/subpages';
import { Badge, standsAt, Time, words } from '../../ui/bits';
import { Field } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';

type Search = { status?: string; workflowId?: string; incident?: string };

// ExecutionList is what workflows are at.
export default function ExecutionList() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const filter: ExecutionFilter = { ...(search.status ? { status: search.status.split(',') as ExecutionStatus[] } : {}), ...(search.workflowId ? { workflowId: search.workflowId.split(',') } : {}), ...(search.incident ? { incidentStatus: ['OPEN'] as const } : {}) };
  const asked = JSON.stringify(filter);
  const read = usePages(Executions, { first: 50, filter: JSON.parse(asked) as ExecutionFilter });
  useTold(ExecutionMoved, {}, read.again, !useCan('execution.read'));
  const list = rows(read.data?.executions);
  const workflows = useWorkflowChoices();
  const only = (key: keyof Search, to: string) => { void navigate({ to: '/app/executions', search: { ...search, [key]: to } as never, replace: true }); };
  return (
    <Page title={t('Executions')} verb="execution.read" intro={t('What workflows are doing right now.')} tabs={<Subpages of="workflows" />}>
      <search className="filters">
        <Field label={t('Status')}><select value={search.status ?? ''} onChange={(e) => { only('status', e.target.value); }}><option value="">{t('Any')}</option>{enums.ExecutionStatus.map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></Field>
        <Field label={t('Workflow')}><select value={search.workflowId ?? ''} onChange={(e) => { only('workflowId', e.target.value); }}><option value="">{t('Any')}</option><Choices of={workflows} now={search.workflowId ? { id: search.workflowId, name: list[0]?.workflow?.name ?? search.workflowId } : null} /></select></Field>
        <Field label={t('Workflow error')}><select value={search.incident ?? ''} onChange={(e) => { only('incident', e.target.value); }}><option value="">{t('Any')}</option><option value="open">{t('Waits for somebody')}</option></select></Field>
      </search>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={asked === '{}' ? t('There are no executions') : t('No matching executions')}><p>{t('A request for an offering with a workflow starts one.')}</p></Empty> : (
          <>
            <ul className="rows" aria-label={t('Executions')}>
              {list.map((e) => (
                <li key={e.id} className="row">
                  <div>
                    <Link className="name" dir="auto" to="/app/executions/$id" params={{ id: e.id }}>{e.request?.title ?? e.workflow?.name ?? e.id}</Link>
                    <div className="meta"><Badge value={e.status} />{e.workflow && <span>{t('{workflow}, version {version}', { workflow: e.workflow.name, version: String(e.workflowVersion) })}</span>}{standsAt(e) && <span>{standsAt(e)}</span>}{e.error && <span>{e.error.message}</span>}<Time at={e.createdAt} /></div>
                  </div>
                </li>
              ))}
            </ul>
            <More shown={list.length} total={read.data?.executions?.totalCount} page={read.data?.executions?.pageInfo} next={read.next} />
          </>
        ))}
      </Loaded>
    </Page>
  );
}
