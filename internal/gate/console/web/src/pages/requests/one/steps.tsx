// steps are where a request stands: the phases that its workflow has entered, or its own life for who does not see those.
import { Link } from '@tanstack/react-router';
import { useCan } from '../../../app/session';
import { t } from '../../../app/text';
import { BranchOf, waySaid } from '../../../parts/branch';
import { Said } from '../../../parts/who';
import { Badge, phaseName, phaseType, Time, words } from '../../../ui/bits';
import { Section } from '../../../ui/page';
import type { FullRequest } from '../detail';

type Execution = NonNullable<FullRequest['execution']>;
interface Step { says: string; at?: string | null | undefined; tone: 'done' | 'now' | 'bad' | 'next'; note?: string; title?: string; branch?: string | null | undefined }

const most = 30; // of a workflow that goes round and round, the execution's page has them all

export function Steps({ request: r }: { request: FullRequest }) {
  const sees = useCan('execution.read');
  const e = r.execution;
  if (!e) return <Section title={t('Progress')}><List steps={lifeOf(r)} /></Section>;
  return (
    <Section title={e.workflow?.name ?? t('Workflow')} actions={sees && <Link className="small-text" to="/app/executions/$id" params={{ id: e.id }}>{t('Show execution')}</Link>}>
      {e.status !== 'RUNNING' && e.status !== 'WAITING' && e.status !== 'COMPLETED' && <p><Badge value={e.status} /></p>}
      {e.error && <p className="alert" dir="auto">{phaseName(e, e.error.phaseId)}: <Said text={e.error.message} /></p>}
      <List steps={phasesOf(e)} />
    </Section>
  );
}

function List({ steps }: { steps: Step[] }) {
  return (
    <ol className="steps" aria-label={t('Phases of the workflow')}>
      {steps.map((s, i) => (
        <li key={`${s.says} ${i}`} className={s.tone} title={s.title} {...(s.tone === 'now' ? { 'aria-current': 'step' as const } : {})}>
          <span dir="auto">{s.branch && <BranchOf path={s.branch} />}{s.says}{s.note && <span className="soft"> {s.note}</span>}</span>
          {s.at && <span className="soft small-text"><Time at={s.at} /></span>}
        </li>
      ))}
    </ol>
  );
}

const tones: Record<string, Step['tone']> = { RUNNING: 'now', WAITING: 'now', FAILED: 'bad' };

// phasesOf are the last visits, and those before that are still open.
const phasesOf = (e: Execution): Step[] => e.phases.filter((p, i) => i >= e.phases.length - most || tones[p.status] === 'now').map((p) => ({
  says: phaseName(e, p.phaseId), branch: p.branch, at: p.finishedAt ?? p.startedAt, tone: tones[p.status] ?? 'done', title: `${phaseType(p.type)}: ${words(p.status)}`,
  ...(p.status === 'SKIPPED' ? { note: words(p.status) } : waySaid(p) ? { note: `→ ${waySaid(p)}` } : {}),
}));

// lifeOf is how far a request has come, and what comes next.
function lifeOf(r: FullRequest): Step[] {
  const out: Step[] = [{ says: t('Submitted'), at: r.createdAt, tone: 'done' }];
  if (r.acceptedAt) out.push({ says: t('Accepted'), at: r.acceptedAt, tone: 'done' });
  if (r.status === 'PENDING') out.push({ says: t('Waits to be accepted'), tone: 'now' });
  if (r.status === 'IN_PROGRESS') out.push({ says: r.waiting ? t('Waiting for the requester') : t('In progress'), tone: 'now' });
  if (r.status === 'CANCELLED') out.push({ says: r.declineReason ? t('Declined') : t('Cancelled'), at: r.cancelledAt, tone: 'bad' });
  else out.push({ says: t('Completed'), at: r.completedAt, tone: r.status === 'COMPLETED' ? 'done' : 'next' });
  return out;
}
