// shown is what earlier steps of a workflow have left behind, for whoever works the next one or decides on it.
import { useRead } from '../app/data';
import { t } from '../app/text';
import { ShownByApproval, ShownByTask } from '../gen/documents';
import type { ShownResultFragment } from '../gen/types';
import { inWords, words } from '../ui/bits';
import { Loaded } from '../ui/page';
import { Value } from './answers';

type Field = ShownResultFragment['fields'][number];

const labelOf = (f: Field) => (f.type === 'outcome' ? t('Outcome') : f.label === inWords(f.key) ? words(f.key) : f.label);

// Earlier lists the results by the steps that they come from.
export function Earlier({ results }: { results: readonly ShownResultFragment[] }) {
  if (results.length === 0) return null;
  return (
    <details className="brought" open>
      <summary>{t('From earlier steps')}</summary>
      {results.map((r) => (
        <dl key={`${r.phaseId} ${r.branch ?? ''}`} className="given">
          {r.fields.map((f) => (
            <div key={f.key} className="contents">
              <dt dir="auto"><span>{[r.branch, r.name].filter(Boolean).join(' · ')}: </span>{labelOf(f)}</dt>
              <dd dir="auto">{f.type === 'outcome' ? words(String(f.value)) : <Value value={f.value} type={f.type} of={undefined} field={f.key} files={undefined} />}</dd>
            </div>
          ))}
        </dl>
      ))}
    </details>
  );
}

export function EarlierOfTask({ id }: { id: string }) {
  return <Loaded read={useRead(ShownByTask, { id })} skeleton={2}>{({ task }) => <Earlier results={task?.shown ?? []} />}</Loaded>;
}

export function EarlierOfApproval({ id }: { id: string }) {
  return <Loaded read={useRead(ShownByApproval, { id })} skeleton={2}>{({ approval }) => <Earlier results={approval?.shown ?? []} />}</Loaded>;
}
