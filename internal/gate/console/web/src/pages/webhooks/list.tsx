import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { CreateInbound, DeleteInbound, Inbounds, Webhooks } from '../../gen/documents';
import type { InboundsQuery } from '../../gen/types';
import { useWorkflowChoices } from '../../parts/choices';
import { Badge } from '../../ui/bits';
import { Confirm, Copyable, Dialog, Once } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';
import { Editor } from './editor';

type Inbound = NonNullable<InboundsQuery['inboundWebhooks']>['edges'][number]['node'];

// WebhookList is who is told of events, and by which addresses others start workflows.
export default function WebhookList() {
  const viewer = useViewer();
  const [making, setMaking] = useAsked<'out' | 'in' | ''>('new', '');
  const [secret, setSecret] = useState<{ value: string; url?: string } | null>(null);
  return (
    <Page title={t('Webhooks')} verb="webhooksubscription.read" intro={t('Notify other systems of events here, and let them start workflows.')} actions={can(viewer, 'webhooksubscription.create') && <button type="button" onClick={() => { setMaking('out'); }}>{t('New webhook')}</button>}>
      <Out />
      {can(viewer, 'inboundwebhook.read') && <In make={() => { setMaking('in'); }} />}
      {making === 'out' && <Editor subscriber={null} close={() => { setMaking(''); }} made={(value) => { setMaking(''); setSecret({ value }); }} />}
      {making === 'in' && <MakeIn close={() => { setMaking(''); }} made={(value, url) => { setMaking(''); setSecret({ value, url }); }} />}
      {secret && <Once title={t('The signing secret')} label={t('Signing secret')} value={secret.value} close={() => { setSecret(null); }}>{secret.url && <><p className="soft">{t('The address to call:')}</p><Copyable label={t('Address')} value={secret.url} /></>}</Once>}
    </Page>
  );
}

function Out() {
  const read = usePages(Webhooks, { first: 50 });
  const list = rows(read.data?.webhookSubscriptions);
  return (
    <Section title={t('Outgoing')}>
      <Loaded read={read} skeleton={3}>
        {({ webhookSubscriptions }) => (list.length === 0 ? <Empty title={t('There are no webhooks yet')}><p>{t('A webhook sends each event to an address of yours, signed and with retries.')}</p></Empty> : (
          <><ul className="rows">
            {list.map((s) => (
              <li key={s.id} className="row">
                <div>
                  <Link className="name" to="/app/webhooks/$id" params={{ id: s.id }}>{s.url}</Link>
                  <div className="meta"><Badge value={s.enabled ? (s.failingSince ? 'WARNING' : 'enabled') : 'disabled'}>{s.enabled ? (s.failingSince ? t('Failing') : t('Enabled')) : t('Disabled')}</Badge><span>{plural(s.events.length, '{n} event', '{n} events')}</span>{s.description && <span dir="auto">{s.description}</span>}{s.disabledReason && <span>{s.disabledReason}</span>}</div>
                </div>
              </li>
            ))}
          </ul>
          <More shown={list.length} total={webhookSubscriptions?.totalCount} page={webhookSubscriptions?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
    </Section>
  );
}

function In({ make }: { make: () => void }) {
  const viewer = useViewer();
  const read = usePages(Inbounds, { first: 50 });
  const [gone, setGone] = useAsked<Inbound | null>('gone', null);
  const [remove] = useWrite(DeleteInbound);
  const list = rows(read.data?.inboundWebhooks);
  return (
    <Section title={t('Incoming')} actions={can(viewer, 'inboundwebhook.create') && <button type="button" className="plain" onClick={make}>{t('New inbound webhook')}</button>}>
      <Loaded read={read} skeleton={3}>
        {({ inboundWebhooks }) => (list.length === 0 ? <Empty title={t('There are no inbound webhooks yet')}><p>{t('Each is an address that starts a workflow when it is called.')}</p></Empty> : (
          <><ul className="rows">
            {list.map((w) => (
              <li key={w.id} className="row">
                <div><Link className="name" dir="auto" to="/app/inbound-webhooks/$id" params={{ id: w.id }}>{w.name}</Link><div className="meta"><Badge value={w.enabled ? 'enabled' : 'disabled'} />{w.warning && <Badge value="WARNING">{w.warning}</Badge>}<code>{w.url}</code></div></div>
                {can(viewer, 'inboundwebhook.delete') && <div className="verbs"><button type="button" className="danger-plain small" aria-label={t('Delete {name}', { name: w.name })} onClick={() => { setGone(w); }}>{t('Delete')}</button></div>}
              </li>
            ))}
          </ul>
          <More shown={list.length} total={inboundWebhooks?.totalCount} page={inboundWebhooks?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
      {gone && <Confirm title={t('Delete “{name}”?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id } }); if (!o.fault) toast({ text: t('The webhook was deleted.') }); setGone(null); }}><p>{t('Its address stops working at once.')}</p></Confirm>}
    </Section>
  );
}

function MakeIn({ close, made }: { close: () => void; made: (secret: string, url: string) => void }) {
  const workflows = useWorkflowChoices();
  const [draft, set, forget, base] = useDraft('inbound', { name: '', workflowId: '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CreateInbound, true);
  const send = async () => {
    const o = await run({ input: { name: draft.name, workflowId: draft.workflowId } });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    made(o.data.createInboundWebhook.signingSecret, o.data.createInboundWebhook.inboundWebhook.url);
  };
  return (
    <Dialog title={t('New inbound webhook')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Workflow')} hint={t('Each call starts it.')} fault={faultAt(fault, 'workflowId')}><select value={draft.workflowId} onChange={(e) => { set({ ...draft, workflowId: e.target.value }); }}><option value="">{t('Choose…')}</option>{workflows.map((w) => <option key={w.id} value={w.id}>{w.name}</option>)}</select></Field>
        <Rest base={base} fault={fault} fields={['name', 'workflowId']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
