// path is the way that an execution has taken, with what each of its steps was given and has made. Branches stand below their block.
import { plural, t } from '../../app/text';
import { BranchOf, waySaid } from '../../parts/branch';
import { Said } from '../../parts/who';
import { Badge, phaseName, phaseType, Time } from '../../ui/bits';
import { outlined, type Step } from './outline';
import type { Execution } from './view';

type Visit = Execution['phases'][number];

const open = (p: Visit) => p.status === 'RUNNING' || p.status === 'WAITING';

// many is how many branches of a block are shown at once. Of more, those are closed in which all is done.
const many = 10;

export const PathTaken = ({ execution }: { execution: Execution }) => <Steps execution={execution} list={outlined(execution.phases)} label={t('Path taken')} />;

function Steps({ execution: e, list, label }: { execution: Execution; list: Step<Visit>[]; label?: string }) {
  return (
    <ol className={`${label ? 'card ' : ''}phase-list`} {...(label ? { 'aria-label': label } : {})}>
      {list.map(({ visit: p, lanes }, i) => (
        <li key={`${p.phaseId} ${i}`} {...(e.phaseIds.includes(p.phaseId) && open(p) ? { 'aria-current': 'step' as const } : {})}>
          <span><strong>{phaseName(e, p.phaseId)}</strong> <span className="soft small-text">{phaseType(p.type)}{waySaid(p) && ` → ${waySaid(p)}`}{p.attempts > 1 ? ` · ${plural(p.attempts, '{n} attempt', '{n} attempts')}` : ''}</span></span>
          <span className="line"><span className="soft small-text"><Time at={p.finishedAt ?? p.startedAt} /></span><Badge value={p.status} /></span>
          {p.error && <span className={p.status === 'SKIPPED' ? 'soft' : 'fault'}><Said text={p.error.message} /></span>}
          {(p.input || p.output) && <details><summary>{t('Input and output')}</summary><div className="pair"><div><h3>{t('Input')}</h3><pre>{JSON.stringify(p.input, null, 1)}</pre></div><div><h3>{t('Output')}</h3><pre>{JSON.stringify(p.output, null, 1)}</pre></div></div></details>}
          {lanes.length > 0 && (
            <ul className="lanes-taken">
              {lanes.map((lane) => (
                <li key={lane.name}>
                  <details open={lanes.length <= many || unfinished(lane.steps)}>
                    <summary><BranchOf path={lane.name} /></summary>
                    <Steps execution={e} list={lane.steps} />
                  </details>
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  );
}

// unfinished reports whether something in a branch is not as it should be, or not yet.
const unfinished = (list: Step<Visit>[]): boolean => list.some((s) => s.visit.status !== 'COMPLETED' || s.lanes.some((l) => unfinished(l.steps)));
