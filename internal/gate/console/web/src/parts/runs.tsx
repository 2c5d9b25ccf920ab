// runs are what agents did about one request, on its page: what they propose, what they are at, and the way to stop them.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { rows, useRead, useWrite } from '../app/data';
import { useTold } from '../app/live';
import { can, useViewer } from '../app/session';
import { plural, t } from '../app/text';
import { RequestRunChanged, RequestRuns, RerunAgent, StopRun } from '../gen/documents';
import { Badge, Time, words } from '../ui/bits';
import { Section } from '../ui/page';
import { Failed, Wait } from '../ui/states';
import { toast } from '../ui/toast';
import { Proposal } from './proposal';

export const working = (status: string) => ['QUEUED', 'RUNNING', 'WAITING'].includes(status);
export const runTone: Record<string, string> = { QUEUED: 'wait', RUNNING: 'RUNNING', WAITING: 'WARNING', COMPLETED: 'COMPLETED', PROPOSED: 'COMPLETED', HANDED_OVER: 'off', FAILED: 'FAILED', STOPPED: 'off' };

export function Runs({ requestId, open }: { requestId: string; open: boolean }) {
  const viewer = useViewer();
  const sees = can(viewer, 'agentrun.read');
  const read = useRead(RequestRuns, { id: requestId }, !sees);
  const [older, setOlder] = useState(false);
  const [stop] = useWrite(StopRun);
  const [rerun] = useWrite(RerunAgent);
  useTold(RequestRunChanged, { filter: { requestId: [requestId] } }, read.again, !sees);
  const runs = rows(read.data?.request?.agentRuns);
  if (read.fault && !read.data?.request?.agentRuns) return <Section title={t('AI agent')}><Failed fault={read.fault} again={read.again} /></Section>;
  if (runs.length === 0) return read.data || !sees ? null : <Wait />;
  const [last, ...before] = runs;
  const shown = older ? runs : last ? [last] : [];
  return (
    <Section title={t('AI agent')} actions={<>
      {last && working(last.status) && can(viewer, 'agentrun.stop') && <button type="button" className="danger-plain small" onClick={() => { void stop({ input: { id: last.id } }).then((o) => { if (!o.fault) { toast({ text: t('The run was stopped.') }); read.again(); } }); }}>{t('Stop the AI agent')}</button>}
      {open && last && !working(last.status) && can(viewer, 'agentrun.rerun') && <button type="button" className="plain small" onClick={() => { void rerun({ input: { requestId } }).then((o) => { if (!o.fault) { toast({ text: t('The AI agent looks at it again.') }); read.again(); } }); }}>{t('Ask the AI agent again')}</button>}
    </>}>
      <div className="stack">
        {shown.map((r) => (
          <div key={r.id} className="stack">
            <p className="line"><Link to="/app/runs/$id" params={{ id: r.id }}>{t('Run {number}', { number: String(r.number) })}</Link><Badge value={runTone[r.status] ?? 'off'}>{words(r.status)}</Badge>{r.reason && <span className="soft" dir="auto">{r.reason}</span>}<span className="soft small-text"><Time at={r.endedAt ?? r.createdAt} /></span></p>
            {rows(r.actions).map((a) => <Proposal key={a.id} action={a} />)}
          </div>
        ))}
        {before.length > 0 && !older && <p><button type="button" className="quiet small" onClick={() => { setOlder(true); }}>{plural(before.length, 'Show {n} earlier run', 'Show {n} earlier runs')}</button></p>}
      </div>
    </Section>
  );
}
