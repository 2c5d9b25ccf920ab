// used is what runs through a workflow: the offerings whose requests do, and the inbound webhooks that start it.
import { Link } from '@tanstack/react-router';
import { rows, useAll } from '../../app/data';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { OfferingsByWorkflow, WebhooksByWorkflow } from '../../gen/documents';
import { Section } from '../../ui/page';
import { Empty, Failed, Wait } from '../../ui/states';

export function UsedBy({ id }: { id: string }) {
  const [offers, hooks] = [useCan('service.read'), useCan('inboundwebhook.read')];
  const [read, calls] = [useAll(OfferingsByWorkflow, {}, !offers), useAll(WebhooksByWorkflow, {}, !hooks)];
  const fault = read.fault ?? calls.fault;
  if (fault) return <Failed fault={fault} again={() => { read.again(); calls.again(); }} />;
  if ((offers && !read.data) || (hooks && !calls.data)) return <Wait />;
  const offerings = rows(read.data?.services).flatMap((s) => rows(s.offerings).filter((o) => [o.workflowId, o.reopenWorkflowId].includes(id)).map((o) => ({ ...o, service: s })));
  const webhooks = rows(calls.data?.inboundWebhooks).filter((h) => h.workflowId === id);
  if (offerings.length + webhooks.length === 0) return <Empty title={t('Nothing uses this workflow yet')}><p>{t('Choose it in an offering of a service, or in an inbound webhook.')}</p></Empty>;
  return (
    <Section title={t('Used by')}>
      <ul className="rows">
        {offerings.map((o) => <li key={o.id} className="row"><div><Link className="name" dir="auto" to="/app/services/$id" params={{ id: o.service.id }}>{o.name}</Link><div className="meta"><span dir="auto">{o.service.name}</span><span>{o.workflowId === id ? t('For its requests') : t('For requests that are opened again')}</span></div></div></li>)}
        {webhooks.map((h) => <li key={h.id} className="row"><div><Link className="name" dir="auto" to="/app/inbound-webhooks/$id" params={{ id: h.id }}>{h.name}</Link><div className="meta"><span>{t('Inbound webhook')}</span></div></div></li>)}
      </ul>
    </Section>
  );
}
