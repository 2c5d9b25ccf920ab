import { Link, useParams } from '@tanstack/react-router';
import { useAsked } from '../../app/asked';
import { rows, useAll, useRead, useWrite } from '../../app/data';
import { useTold } from '../../app/live';
import { useCan } from '../../app/session';
import { CancelExecution, ExecutionMoved, ExecutionOne, OlderVersions } from '../../gen/documents';
import type { ExecutionOneQuery } from '../../gen/types';
import { Picture, type Definition, type Taken } from '../../parts/picture';
import { Badge, count, lasting, phaseName, Time, words } from '../../ui/bits';
import { Confirm } from '../../ui/dialog';
import { Loaded, Page, Section } from '../../ui/page';
import { NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { Incidents } from './incidents';

export type Execution = NonNullable<ExecutionOneQuery['execution']>;

// ExecutionView is one execution on the picture of its workflow: the path that it took, and each step's input and output.
export default function ExecutionView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(ExecutionOne, { id });
  useTold(ExecutionMoved, { id }, read.again, !useCan('execution.read'));
  const e = read.data?.execution;
  return (
    <Page title={e ? `${e.workflow?.name ?? 'Execution'}${e.request ? `: “${e.request.title}”` : ''}` : 'Execution'} verb="execution.read" above={<Link to="/app/executions">← Executions</Link>} actions={e && <Cancel execution={e} />}>
      <Loaded read={read}>{({ execution }) => (execution ? <Body execution={execution} again={read.again} /> : <NotFound what="execution" />)}</Loaded>
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
      <button type="button" className="danger-plain" onClick={() => { setAsking(true); }}>Cancel execution</button>
      {asking && <Confirm title="Cancel this execution?" verb="Cancel execution" close={() => { setAsking(false); }} act={async () => { const o = await run({ input: { id: e.id } }); setAsking(false); if (!o.fault) toast({ text: 'The execution was cancelled.' }); }}><p>Its open tasks and approvals end with it. The request stays as it is.</p></Confirm>}
    </>
  );
}

// definitionOf is the definition that the execution runs, whatever was published since.
export function definitionOf(e: Execution, version = e.workflowVersion): Definition {
  return (rows(e.workflow?.versions).find((v) => v.version === version)?.definition ?? e.workflow?.definition ?? {}) as Definition;
}

const took = (from: string, to: string) => {
  const seconds = Math.round((new Date(to).getTime() - new Date(from).getTime()) / 1000);
  return seconds < 120 ? count(seconds, 'second') : lasting(Math.round(seconds / 60));
};

function pathOf(e: Execution): Taken {
  return { phases: new Map(e.phases.map((p) => [p.phaseId, p.status])), ways: new Set(e.phases.map((p) => `${p.phaseId} ${p.transition ?? ''}`)) };
}

function Body({ execution: e, again }: { execution: Execution; again: () => void }) {
  useAll(OlderVersions, { id: e.workflowId }, rows(e.workflow?.versions).length >= (e.workflow?.versions?.totalCount ?? 0)); // the cache joins them to those that are there
  const definition = definitionOf(e);
  const name = (id: string) => phaseName(e, id);
  return (
    <>
      <div className="line verbs-line">
        <Badge value={e.status} /><span className="soft">Version {e.workflowVersion}</span>{e.phaseId && <span>at {name(e.phaseId)}</span>}<span className="grow" />
        {e.request && <Link to="/app/requests/$id" params={{ id: e.request.id }}>Open the request</Link>}
        {e.workflow && <Link to="/app/workflows/$id" params={{ id: e.workflow.id }}>Open the workflow</Link>}
      </div>
      <p className="line soft">
        <span>Started by a {e.trigger}</span>{e.startedAt && <span>· <Time at={e.startedAt} full /></span>}
        {e.finishedAt && <span>· finished <Time at={e.finishedAt} full /></span>}{e.startedAt && e.finishedAt && <span>· took {took(e.startedAt, e.finishedAt)}</span>}
      </p>
      {e.error && <p className="alert">{name(e.error.phaseId)}: {e.error.message}</p>}
      <Incidents execution={e} again={again} />
      {(definition.phases?.length ?? 0) > 0 && <Picture definition={definition} faulty={new Set(e.error ? [e.error.phaseId] : [])} taken={pathOf(e)} current={e.phaseId} />}
      <Section title="Path taken" intro="Secrets are masked.">
        <ol className="card phase-list" aria-label="Path taken">
          {e.phases.map((p, i) => (
            <li key={`${p.phaseId} ${i}`}>
              <span><strong>{name(p.phaseId)}</strong> <span className="soft small-text">{words(p.type)}{p.transition && p.transition !== 'next' ? ` → ${words(p.transition)}` : ''}{p.attempts > 1 ? ` · ${count(p.attempts, 'attempt')}` : ''}</span></span>
              <span className="line"><span className="soft small-text"><Time at={p.finishedAt ?? p.startedAt} /></span><Badge value={p.status} /></span>
              {p.error && <span className="fault">{p.error.message}</span>}
              {(p.input || p.output) && <details><summary>In and out</summary><div className="pair"><div><h3>In</h3><pre>{JSON.stringify(p.input, null, 1)}</pre></div><div><h3>Out</h3><pre>{JSON.stringify(p.output, null, 1)}</pre></div></div></details>}
            </li>
          ))}
        </ol>
      </Section>
      <Section title="Variables"><details className="card pad"><summary>What its expressions read</summary><pre>{JSON.stringify(e.variables, null, 1)}</pre></details></Section>
    </>
  );
}
