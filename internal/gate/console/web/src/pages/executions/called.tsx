// called is which execution has called another one, and which ones an execution has called itself.
import { Link } from '@tanstack/react-router';
import { rows, usePages } from '../../app/data';
import { useTold } from '../../app/live';
import { placed, t } from '../../app/text';
import { CalledExecutions as Called, ExecutionMoved } from '../../gen/documents';
import type { ExecutionTrigger } from '../../gen/types';
import { BranchOf } from '../../parts/branch';
import { Said } from '../../parts/who';
import { Badge, phaseName, standsAt, Time } from '../../ui/bits';
import { More } from '../../ui/more';
import { Section } from '../../ui/page';
import { Failed, Wait } from '../../ui/states';
import type { Execution } from './view';

const startedBy: Partial<Record<ExecutionTrigger, string>> = { request: t('Started by a request'), webhook: t('Started by a webhook'), schedule: t('Started by a schedule') };

// CalledBy says what started an execution: another one, which may be hidden from the viewer, or what its trigger says.
export function CalledBy({ execution: e }: { execution: Execution }) {
  if (e.parent) return <span className="small-text">{placed(t('Called by {workflow}'), { workflow: <Link to="/app/executions/$id" params={{ id: e.parent.id }}><bdi>{e.parent.workflow?.name ?? t('another workflow')}</bdi></Link> })}</span>;
  return <span>{e.parentId ? t('Called by {workflow}', { workflow: t('another workflow') }) : startedBy[e.trigger]}</span>;
}

// CalledExecutions are the executions that one has started by its phases, if there are any.
export function CalledExecutions({ by }: { by: Execution }) {
  const of = by.id;
  const read = usePages(Called, { parentId: [of] });
  useTold(ExecutionMoved, { filter: { parentId: [of] } }, read.again);
  const list = rows(read.data?.executions);
  if (read.fault && !read.data?.executions) return <Section title={t('Called workflows')}><Failed fault={read.fault} again={read.again} /></Section>;
  if (list.length === 0) return read.data ? null : <Wait />;
  return (
    <Section title={t('Called workflows')}>
      <ul className="rows" aria-label={t('Called workflows')}>
        {list.map((e) => (
          <li key={e.id} className="row">
            <div>
              <Link className="name" dir="auto" to="/app/executions/$id" params={{ id: e.id }}>{e.workflow?.name ?? t('Execution')}</Link>
              <div className="meta">{e.parentPhaseId && <span>{e.parentBranch && <BranchOf path={e.parentBranch} />}<bdi>{phaseName(by, e.parentPhaseId)}</bdi></span>}<Badge value={e.status} />{standsAt(e) && <span>{standsAt(e)}</span>}{e.error && <span><Said text={e.error.message} /></span>}<Time at={e.finishedAt ?? e.createdAt} /></div>
            </div>
          </li>
        ))}
      </ul>
      <More shown={list.length} total={read.data?.executions?.totalCount} page={read.data?.executions?.pageInfo} next={read.next} />
    </Section>
  );
}
