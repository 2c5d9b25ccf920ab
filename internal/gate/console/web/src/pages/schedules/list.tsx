import { Link } from '@tanstack/react-router';
import { rows, usePages, useRead } from '../../app/data';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { LastRun, Schedules } from '../../gen/documents';
import type { ScheduleRowFragment } from '../../gen/types';
import { statusTone, statusWord, whenSaid } from '../../parts/schedulewords';
import { Badge, Time } from '../../ui/bits';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { here } from '../../ui/zone';
import { Doing } from './about';
import { Coming, useDue } from './times';
import './schedules.css';

// byNext are schedules by when they run; those that do not come last, by name.
const byNext = (list: ScheduleRowFragment[]) => list.toSorted((a, b) => (Date.parse(a.nextRunAt ?? '') || Infinity) - (Date.parse(b.nextRunAt ?? '') || Infinity) || 0);

// ScheduleList is what runs when, by itself.
export default function ScheduleList() {
  const read = usePages(Schedules, { first: 50 });
  const creates = useCan('schedule.create');
  const list = byNext(rows(read.data?.schedules));
  useDue(list.map((s) => s.nextRunAt), read.again);
  const plan = <Link className="button" to="/app/schedules/new">{t('New schedule')}</Link>;
  return (
    <Page title={t('Schedules')} verb="schedule.read" intro={t('Requests and workflows that start by themselves at set times.')} actions={creates && plan}>
      <Loaded read={read}>
        {({ schedules }) => (list.length === 0 ? (
          <Empty title={t('There are no schedules yet')}>
            <p>{t('A schedule submits a request or starts a workflow by itself: the backup check of every Monday, the access review of every quarter.')}</p>
            {creates && <p>{plan}</p>}
          </Empty>
        ) : (
          <>
            <div className="table-wrap cards-when-narrow schedule-list">
              <table>
                <thead><tr><th scope="col">{t('Name')}</th><th scope="col">{t('When')}</th><th scope="col">{t('Next run')}</th><th scope="col">{t('Last run')}</th></tr></thead>
                <tbody>{list.map((s) => <Row key={s.id} schedule={s} />)}</tbody>
              </table>
            </div>
            <More shown={list.length} total={schedules?.totalCount} page={schedules?.pageInfo} next={read.next} />
          </>
        ))}
      </Loaded>
    </Page>
  );
}

function Row({ schedule: s }: { schedule: ScheduleRowFragment }) {
  return (
    <tr>
      <td><Link className="name" dir="auto" to="/app/schedules/$id" params={{ id: s.id }}>{s.name}</Link><span className="sub"><Doing schedule={s} /></span></td>
      <td>{whenSaid(s)}{s.timeZone !== here && <span className="sub">{s.timeZone}</span>}</td>
      <td className="tight" data-label={t('Next run')}>{s.enabled ? <Coming at={s.nextRunAt} /> : <Badge value="PAUSED" />}</td>
      <td className="tight" data-label={t('Last run')}><Last schedule={s} /></td>
    </tr>
  );
}

// Last is what came of the last planned time. It is read again whenever there is another next one.
function Last({ schedule: s }: { schedule: ScheduleRowFragment }) {
  const read = useRead(LastRun, { scheduleId: s.id });
  useDue([s.nextRunAt], read.again);
  const [run] = rows(read.data?.scheduleRuns);
  if (!run) return <span className="soft">{read.data ? t('None yet') : '…'}</span>;
  return <><Badge value={statusTone[run.status]}>{statusWord[run.status]}</Badge> <span className="soft small-text"><Time at={run.startedAt ?? run.plannedAt} /></span></>;
}
