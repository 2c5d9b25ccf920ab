// about says what a schedule does, and all else that was chosen for it.
import { Link } from '@tanstack/react-router';
import { useRead } from '../../app/data';
import { useCan } from '../../app/session';
import { placed, t } from '../../app/text';
import { NameOf, OfferingForm } from '../../gen/documents';
import type { ScheduleRowFragment } from '../../gen/types';
import { Answers } from '../../parts/answers';
import { useCalendarChoices } from '../../parts/choices';
import { closedWord, missedWord, whenSaid } from '../../parts/schedulewords';
import { Who } from '../../parts/who';
import { words } from '../../ui/bits';
import { Wait } from '../../ui/states';
import { templateOf } from './plan';

interface AboutProps { schedule: ScheduleRowFragment }

// Doing says in a line what it does.
export function Doing({ schedule: s }: AboutProps) {
  if (s.workflowId) return <>{placed(t('Starts the workflow {name}'), { name: <bdi>{s.workflow ? t('“{name}”', { name: s.workflow.name }) : s.workflowId}</bdi> })}</>;
  return <>{placed(t('Submits {title} for {offering}'), { title: <bdi>{t('“{name}”', { name: templateOf(s).title ?? '' })}</bdi>, offering: <bdi>{s.offering?.name ?? s.offeringId}</bdi> })}</>;
}

// Person is somebody of whom the id alone is known.
function Person({ id }: { id: string }) {
  const node = useRead(NameOf, { id }, !useCan('user.read')).data?.node;
  return <Who id={id} person={node && 'name' in node ? node : null} />;
}

// About is all that was chosen, for whoever wants to know exactly.
export function About({ schedule: s }: AboutProps) {
  const calendar = useCalendarChoices(!s.calendarId).find((c) => c.id === s.calendarId)?.name;
  return (
    <dl className="card answers">
      <dt>{t('When')}</dt><dd>{whenSaid(s)}<br /><span className="soft">{s.timeZone}</span>{s.cron && <> <code>{s.cron}</code></>}</dd>
      {s.calendarId && <><dt>{t('On a non-working day')}</dt><dd>{closedWord[s.onClosed]} <span className="soft" dir="auto">({calendar ?? s.calendarId})</span></dd></>}
      <dt>{t('If a run is missed')}</dt><dd>{missedWord[s.missed]}</dd>
      {s.workflowId ? <><dt>{t('Starts')}</dt><dd>{s.workflow ? <Link dir="auto" to="/app/workflows/$id" params={{ id: s.workflow.id }}>{s.workflow.name}</Link> : s.workflowId}</dd></> : <Filed schedule={s} />}
      <dt>{t('Runs with the rights of')}</dt><dd><Person id={s.runsAs} /></dd>
    </dl>
  );
}

// Filed are the facts of the requests that it submits.
function Filed({ schedule: s }: AboutProps) {
  const r = templateOf(s);
  const tags = Object.entries(r.tags ?? {});
  return (
    <>
      <dt>{t('Submits')}</dt><dd><bdi>{t('“{name}”', { name: r.title ?? '' })}</bdi></dd>
      <dt>{t('Offering')}</dt><dd>{s.offering ? <><bdi>{s.offering.service?.name}</bdi> › <bdi>{s.offering.name}</bdi></> : s.offeringId}</dd>
      <dt>{t('person|Requester')}</dt><dd><Person id={r.requesterId ?? s.runsAs} /></dd>
      {r.description && <><dt>{t('Description')}</dt><dd dir="auto">{r.description}</dd></>}
      {r.priority && <><dt>{t('Priority')}</dt><dd>{words(r.priority)}</dd></>}
      {tags.length > 0 && <><dt>{t('Tags')}</dt><dd className="chips">{tags.map(([k, v]) => <span key={k} className="chip">{k}={v}</span>)}</dd></>}
    </>
  );
}

// Answered are the answers to the form of the offering that each request gets.
export function Answered({ schedule: s }: AboutProps) {
  const fields = templateOf(s).fields;
  const none = !s.offeringId || !fields || Object.keys(fields).length === 0;
  const read = useRead(OfferingForm, { id: s.offeringId ?? '' }, none);
  if (none) return null;
  return read.data || read.fault ? <Answers request={{ fields, offering: read.data?.offering ?? null }} /> : <Wait />;
}
