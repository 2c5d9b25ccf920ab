// used is what runs through a workflow: the offerings whose requests do, the workflows that call it, and the inbound webhooks and schedules
// that start it.
import { Link } from '@tanstack/react-router';
import { rows, useAll } from '../../app/data';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { MoreUsedOfferings, OfferingsByWorkflow, SchedulesByWorkflow, WebhooksByWorkflow, WorkflowsByCalled } from '../../gen/documents';
import type { SchedulesByWorkflowQuery } from '../../gen/types';
import { useWithOfferings } from '../../parts/choices';
import { whenSaid } from '../../parts/schedulewords';
import { Badge, Time } from '../../ui/bits';
import { Section } from '../../ui/page';
import { Empty, Failed, Wait } from '../../ui/states';

export function UsedBy({ id }: { id: string }) {
  const [offers, hooks, plans] = [useCan('service.read'), useCan('inboundwebhook.read'), useCan('schedule.read')];
  const [read, calls, planned] = [useAll(OfferingsByWorkflow, {}, !offers), useAll(WebhooksByWorkflow, {}, !hooks), useAll(SchedulesByWorkflow, { workflowId: [id] }, !plans)];
  const called = useAll(WorkflowsByCalled, { callsWorkflowId: [id] });
  const services = useWithOfferings(MoreUsedOfferings, rows(read.data?.services));
  const fault = read.fault ?? calls.fault ?? planned.fault ?? called.fault;
  if (fault) return <Failed fault={fault} again={() => { read.again(); calls.again(); planned.again(); called.again(); }} />;
  if ((offers && !read.data) || (hooks && !calls.data) || (plans && !planned.data) || !called.data) return <Wait />;
  const schedules = rows(planned.data?.schedules);
  const offerings = services.flatMap((s) => rows(s.offerings).filter((o) => [o.workflowId, o.reopenWorkflowId].includes(id)).map((o) => ({ ...o, service: s })));
  const webhooks = rows(calls.data?.inboundWebhooks).filter((h) => h.workflowId === id);
  const callers = rows(called.data.workflows);
  return (
    <>
      {offerings.length + callers.length + webhooks.length + schedules.length === 0 && <Empty title={t('Nothing uses this workflow yet')}><p>{t('Choose it in an offering of a service, in another workflow, in an inbound webhook or in a schedule.')}</p></Empty>}
      {offerings.length + callers.length + webhooks.length > 0 && <Users id={id} offerings={offerings} callers={callers} webhooks={webhooks} />}
      {plans && <ScheduledBy id={id} list={schedules} />}
    </>
  );
}

type Scheduled = NonNullable<SchedulesByWorkflowQuery['schedules']>['edges'][number]['node'];

interface UsersProps { id: string; offerings: { id: string; name: string; workflowId: string | null; service: { id: string; name: string } }[]; callers: { id: string; name: string; status: string }[]; webhooks: { id: string; name: string }[] }

function Users({ id, offerings, callers, webhooks }: UsersProps) {
  return (
    <Section title={t('Used by')}>
      <ul className="rows">
        {offerings.map((o) => <li key={o.id} className="row"><div><Link className="name" dir="auto" to="/app/services/$id" params={{ id: o.service.id }}>{o.name}</Link><div className="meta"><span dir="auto">{o.service.name}</span><span>{o.workflowId === id ? t('For its requests') : t('For requests that are opened again')}</span></div></div></li>)}
        {callers.map((w) => <li key={w.id} className="row"><div><Link className="name" dir="auto" to="/app/workflows/$id" params={{ id: w.id }}>{w.name}</Link><div className="meta"><span>{t('Calls it')}</span>{w.status !== 'active' && <Badge value={w.status} />}</div></div></li>)}
        {webhooks.map((h) => <li key={h.id} className="row"><div><Link className="name" dir="auto" to="/app/inbound-webhooks/$id" params={{ id: h.id }}>{h.name}</Link><div className="meta"><span>{t('Inbound webhook')}</span></div></div></li>)}
      </ul>
    </Section>
  );
}

// ScheduledBy are the schedules that start it, and the way to plan another one.
function ScheduledBy({ id, list }: { id: string; list: Scheduled[] }) {
  const creates = useCan('schedule.create');
  return (
    <Section title={t('Schedules')} actions={creates && <Link className="button plain small" to="/app/schedules/new" search={{ workflow: id } as never}>{t('New schedule')}</Link>}>
      {list.length === 0 ? <p className="soft">{t('No schedule starts it.')}</p> : (
        <ul className="rows">
          {list.map((s) => <li key={s.id} className="row"><div><Link className="name" dir="auto" to="/app/schedules/$id" params={{ id: s.id }}>{s.name}</Link><div className="meta">{!s.enabled && <Badge value="PAUSED" />}<span>{whenSaid(s)}</span><span>{s.timeZone}</span>{s.nextRunAt && <Time at={s.nextRunAt} />}</div></div></li>)}
        </ul>
      )}
    </Section>
  );
}
