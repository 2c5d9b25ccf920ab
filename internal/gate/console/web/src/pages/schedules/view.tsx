import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite, type Outcome } from '../../app/data';
import { sentence } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import { DeleteSchedule, RunSchedule, ScheduleOne, ScheduleRuns, UpdateSchedule } from '../../gen/documents';
import type { RunScheduleMutation, ScheduleRowFragment, ScheduleRunRowFragment, ScheduleRunsQuery, ScheduleRunsQueryVariables } from '../../gen/types';
import { Remove } from '../../parts/remove';
import { reasonSaid, statusTone, statusWord } from '../../parts/schedulewords';
import { Badge, Time } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { About, Answered, Doing } from './about';
import { askedOf } from './plan';
import { Coming, NextTimes, plannedSaid, useDue, useTimes } from './times';
import './schedules.css';

// ScheduleView is one schedule: what it does, when it runs next, and what came of it.
export default function ScheduleView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(ScheduleOne, { id });
  const runs = usePages(ScheduleRuns, { scheduleId: id, first: 20 });
  const s = read.data?.schedule;
  useDue([s?.nextRunAt], () => { read.again(); runs.again(); });
  return (
    <Page title={s?.name ?? t('Schedule')} verb="schedule.read" intro={s && <Doing schedule={s} />} above={<Link to="/app/schedules">{t('Schedules')}</Link>}>
      <Loaded read={read}>{({ schedule }) => (schedule ? <Body schedule={schedule} runs={<Runs of={runs} />} /> : <NotFound says={t('This schedule was not found')} />)}</Loaded>
    </Page>
  );
}

function Body({ schedule: s, runs }: { schedule: ScheduleRowFragment; runs: ReactNode }) {
  const next = useTimes(askedOf(s));
  return (
    <>
      <Verbs schedule={s} />
      <div className="schedule-facts">
        <Section title={t('schedule|Plan')}><div className="stack"><About schedule={s} /><Answered schedule={s} /></div></Section>
        <Section title={t('Next times')}>
          <div className="card pad">{s.enabled ? <NextTimes next={next} zone={s.timeZone} /> : <p className="soft">{t('It is paused: nothing runs until somebody resumes it.')}</p>}</div>
        </Section>
      </div>
      {runs}
    </>
  );
}

function Verbs({ schedule: s }: { schedule: ScheduleRowFragment }) {
  const viewer = useViewer();
  const navigate = useNavigate();
  const [asking, setAsking] = useAsked<'delete' | 'run' | ''>('verb', '');
  const [ran, setRan] = useState<Outcome<RunScheduleMutation> | null>(null);
  const [run, running] = useWrite(RunSchedule, true);
  const [update, saving] = useWrite(UpdateSchedule);
  const [remove] = useWrite(DeleteSchedule, true);
  const [updates, creates] = [can(viewer, 'schedule.update'), can(viewer, 'schedule.create')];
  const toggle = async (row: ScheduleRowFragment, undo = true) => {
    const now = (await update({ input: { id: row.id, ifMatch: row.etag, enabled: !row.enabled } })).data?.updateSchedule.schedule;
    if (now) toast({ text: now.enabled ? t('It runs again as planned.') : t('It is paused.'), ...(undo ? { undo: () => { void toggle(now, false); } } : {}) });
  };
  const start = async () => {
    setRan(null);
    setRan(await run({ input: { id: s.id } }));
  };
  return (
    <>
      <div className="line verbs-line">
        {s.enabled ? <Badge value="active" /> : <Badge value="PAUSED" />}
        {s.enabled && <span>{placed(t('Next run: {when}'), { when: <Coming at={s.nextRunAt} /> })}</span>}
        <span className="grow" />
        {can(viewer, 'schedule.run') && <button type="button" disabled={running} onClick={() => { setAsking('run'); }}>{t('Run now')}</button>}
        {updates && <button type="button" className="plain" disabled={saving} onClick={() => { void toggle(s); }}>{s.enabled ? t('Pause') : t('Resume')}</button>}
        {updates && <Link className="button plain" to="/app/schedules/$id/edit" params={{ id: s.id }}>{t('Edit')}</Link>}
        {creates && <Link className="button plain" to="/app/schedules/new" search={{ from: s.id } as never}>{t('verb|Duplicate')}</Link>}
        {can(viewer, 'schedule.delete') && <button type="button" className="danger-plain" onClick={() => { setAsking('delete'); }}>{t('Delete')}</button>}
      </div>
      <p role="status" className="schedule-ran">{ran && <Ran outcome={ran} />}</p>
      {asking === 'run' && (
        <Dialog title={t('Run “{name}” now?', { name: s.name })} close={() => { setAsking(''); }}>
          <form className="stack" onSubmit={(e) => { e.preventDefault(); setAsking(''); void start(); }}>
            <p><Doing schedule={s} />.</p>
            <p className="soft">{s.workflowId ? t('The workflow really runs, with all that it sends. The planned times stay as they are.') : t('The request is a real one: its team sees it and people are notified. The planned times stay as they are.')}</p>
            <footer><button type="button" className="plain" onClick={() => { setAsking(''); }}>{t('Cancel')}</button><button type="submit">{s.workflowId ? t('Start the workflow') : t('Submit the request')}</button></footer>
          </form>
        </Dialog>
      )}
      {asking === 'delete' && (
        <Remove
          title={t('Delete “{name}”?', { name: s.name })} close={() => { setAsking(''); }}
          act={async () => { const o = await remove({ input: { id: s.id } }); if (o.fault) return o.fault; setAsking(''); toast({ text: t('The schedule was deleted.') }); void navigate({ to: '/app/schedules' }); return null; }}
        ><p>{t('It no longer runs. Requests and workflows that it started stay.')}</p></Remove>
      )}
    </>
  );
}

// Ran says what came of a run by hand, and leads there.
function Ran({ outcome: { data, fault } }: { outcome: Outcome<RunScheduleMutation> }) {
  const r = data?.runSchedule.scheduleRun;
  if (fault || !r) return <span className="fault">{fault ? reasonSaid(sentence(fault)) : t('Nothing was done.')}</span>;
  return <>{r.requestId ? t('The request was submitted.') : t('The workflow was started.')} <Leads run={r} /></>;
}

function Leads({ run: r }: { run: ScheduleRunRowFragment }) {
  if (r.requestId) return <Link to="/app/requests/$id" params={{ id: r.requestId }}>{t('Open the request')}</Link>;
  return r.executionId ? <Link to="/app/executions/$id" params={{ id: r.executionId }}>{t('Open the execution')}</Link> : null;
}

function Runs({ of }: { of: ReturnType<typeof usePages<ScheduleRunsQuery, ScheduleRunsQueryVariables>> }) {
  const list = rows(of.data?.scheduleRuns);
  return (
    <Section title={t('Last runs')} intro={t('The last 50 are kept.')}>
      <Loaded read={of} skeleton={3}>
        {({ scheduleRuns }) => (list.length === 0 ? <p className="soft">{t('It has not run yet.')}</p> : (
          <>
            <ul className="rows">
              {list.map((r) => (
                <li key={r.id} className="row">
                  <div>
                    <strong>{plannedSaid(r.plannedAt)}</strong>
                    <div className="meta"><Badge value={statusTone[r.status]}>{statusWord[r.status]}</Badge>{r.reason && <span dir="auto">{reasonSaid(r.reason)}</span>}<Leads run={r} /><Time at={r.startedAt ?? r.plannedAt} /></div>
                  </div>
                </li>
              ))}
            </ul>
            <More shown={list.length} total={scheduleRuns?.totalCount} page={scheduleRuns?.pageInfo} next={of.next} />
          </>
        ))}
      </Loaded>
    </Section>
  );
}
