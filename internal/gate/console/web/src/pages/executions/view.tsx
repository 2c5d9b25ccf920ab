import { Link, useParams } from '@tanstack/react-router';
import { useAsked } from '../../app/asked';
import { rows, useAll, useRead, useWrite } from '../../app/data';
import { useTold } from '../../app/live';
import { useCan } from '../../app/session';
import { placed, plural, t } from '../../app/text';
import { CancelExecution, ExecutionMoved, ExecutionOne, OlderVersions } from '../../gen/documents';
import type { ExecutionOneQuery } from '../../gen/types';
import { pathOf, Picture, type Definition } from '../../parts/picture';
import { Said } from '../../parts/who';
import { Badge, lasting, phaseName, standsAt, Time } from '../../ui/bits';
import { Confirm } from '../../ui/dialog';
import { Loaded, Page, Section } from '../../ui/page';
import { NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { CalledBy, CalledExecutions } from './called';
import { Incidents } from './incidents';
import { PathTaken } from './path';

export type Execution = NonNullable<ExecutionOneQuery['execution']>;

// ExecutionView is one execution on the picture of its workflow: the path that it took, and each step's input and output.
export default function ExecutionView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(ExecutionOne, { id });
  useTold(ExecutionMoved, { id }, read.again, !useCan('execution.read'));
  const e = read.data?.execution;
  return (
    <Page title={e?.request ? t('{workflow}: “{title}”', { workflow: e.workflow?.name ?? t('Execution'), title: e.request.title }) : e?.workflow?.name ?? t('Execution')} verb="execution.read" above={<Link to="/app/executions">{t('Executions')}</Link>} actions={e && <Cancel execution={e} />}>
      <Loaded read={read}>{({ execution }) => (execution ? <Body execution={execution} again={read.again} /> : <NotFound says={t('This execution was not found')} />)}</Loaded>
    </Page>
  );
}

function Cancel({ execution: e }: { execution: Execution }) {
  const may = useCan('execution.cancel');
  const [asking, setAsking] = useAsked('cancel', false);
  const [run] = useWrite(CancelExecution);
  if (!may || !['RUNNING', 'WAITING'].includes(e.status)) return null;
  return (
    <>
      <button type="button" className="danger-plain" onClick={() => { setAsking(true); }}>{t('Cancel execution')}</button>
      {asking && <Confirm title={t('Cancel this execution?')} verb={t('Cancel execution')} close={() => { setAsking(false); }} act={async () => { const o = await run({ input: { id: e.id } }); setAsking(false); if (!o.fault) toast({ text: t('The execution was cancelled.') }); }}><p>{t('Its open tasks and approvals are cancelled. The request stays as it is.')}</p></Confirm>}
    </>
  );
}

// definitionOf is the definition that the execution runs, whatever was published since.
export function definitionOf(e: Execution, version = e.workflowVersion): Definition {
  return (rows(e.workflow?.versions).find((v) => v.version === version)?.definition ?? e.workflow?.definition ?? {}) as Definition;
}

const took = (from: string, to: string) => {
  const seconds = Math.round((new Date(to).getTime() - new Date(from).getTime()) / 1000);
  return seconds < 120 ? plural(seconds, '{n} second', '{n} seconds') : lasting(Math.round(seconds / 60));
};

function Body({ execution: e, again }: { execution: Execution; again: () => void }) {
  useAll(OlderVersions, { id: e.workflowId }, rows(e.workflow?.versions).length >= (e.workflow?.versions?.totalCount ?? 0)); // the cache joins them to those that are there
  const definition = definitionOf(e);
  const name = (id: string) => phaseName(e, id);
  return (
    <>
      <div className="line verbs-line">
        <Badge value={e.status} /><span className="soft">{t('Version {version}', { version: String(e.workflowVersion) })}</span>{standsAt(e) && <span>{standsAt(e)}</span>}<span className="grow" />
        {e.request && <Link to="/app/requests/$id" params={{ id: e.request.id }}>{t('Open the request')}</Link>}
        {e.workflow && <Link to="/app/workflows/$id" params={{ id: e.workflow.id }}>{t('Open the workflow')}</Link>}
      </div>
      <p className="line soft">
        <CalledBy execution={e} />{e.startedAt && <span>· <Time at={e.startedAt} full /></span>}
        {e.finishedAt && <span>{placed(t('· finished {when}'), { when: <Time at={e.finishedAt} full /> })}</span>}{e.startedAt && e.finishedAt && <span>{t('· took {time}', { time: took(e.startedAt, e.finishedAt) })}</span>}
      </p>
      {e.error && <p className="alert">{name(e.error.phaseId)}: <Said text={e.error.message} /></p>}
      <Incidents execution={e} again={again} />
      {(definition.phases?.length ?? 0) > 0 && <Picture definition={definition} faulty={new Set(e.error ? [e.error.phaseId] : [])} taken={pathOf(e.phases)} current={e.phaseId} />}
      <Section title={t('Path taken')} intro={t('Secrets are masked.')}>
        <PathTaken execution={e} />
      </Section>
      <CalledExecutions by={e} />
      <Section title={t('Variables')}><details className="card pad"><summary>{t('What expressions read')}</summary><pre>{JSON.stringify(e.variables, null, 1)}</pre></details></Section>
    </>
  );
}
