// differences are what a version changed, or what the draft would, in the words of the forms.
import { useRead } from '../../app/data';
import { WorkflowDiffOf } from '../../gen/documents';
import { t } from '../../app/text';
import { useAgentChoices, useCalendarChoices, usePersonChoices, useTeamChoices, useWorkflowChoices } from '../../parts/choices';
import { useConditionWords } from '../../parts/conditionsaid';
import { Changes } from '../../ui/changes';
import { Loaded } from '../../ui/page';
import { Empty } from '../../ui/states';
import { changeSaid, withGone } from './builder/changewords';

// Compared is which versions are compared: without from the one before to, without to the draft.
export interface Compared { from?: number; to?: number }

// of are the definitions that are known: the draft, and versions by their numbers.
interface Props extends Compared { id: string; of: { draft: unknown; versions: ReadonlyMap<number, unknown> } }

export default function Differences({ id, from, to, of }: Props) {
  const read = useRead(WorkflowDiffOf, { id, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) });
  const names = new Map([...usePersonChoices(), ...useTeamChoices(), ...useAgentChoices(), ...useCalendarChoices(), ...useWorkflowChoices()].map((x) => [x.id, x.name]));
  const said = useConditionWords('DECISION', { id, phaseId: '', definition: of.draft });
  return (
    <Loaded read={read} skeleton={3}>
      {({ workflowDiff: d }) => {
        if (!d || d.changes.length === 0) return <Empty title={t('No differences')} />;
        const around = { before: of.versions.get(d.from) ?? withGone(of.draft, d.changes), after: of.versions.get(d.to) ?? of.draft, names, said };
        return <Changes list={d.changes.map((c) => { const s = changeSaid(c, around); return { name: <Place {...s} />, from: s.from, to: s.to }; })} />;
      }}
    </Loaded>
  );
}

const Place = ({ phase, label, path }: { phase: string; label: string; path: string }) => <>{phase && <strong dir="auto">{phase}</strong>}{phase && ' › '}{label ? <span dir="auto">{label}</span> : <code>{path}</code>}</>;
