import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { DeleteInbound, Inbounds, Webhooks } from '../../gen/documents';
import type { InboundsQuery } from '../../gen/types';
import { Badge } from '../../ui/bits';
import { Confirm, Copyable, Once } from '../../ui/dialog';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';
import { NewInbound } from '../inbound/new';
import { Editor } from './editor';

type Inbound = NonNullable<InboundsQuery['inboundWebhooks']>['edges'][number]['node'];

// WebhookList is who is told of events, and by which addresses others start workflows.
export default function WebhookList() {
  const viewer = useViewer();
  const [making, setMaking] = useAsked<'out' | 'in' | ''>('new', '');
  const [secret, setSecret] = useState<{ value: string; url?: string; id?: string } | null>(null);
  const navigate = useNavigate();
  const open = (id: string | undefined) => { if (id) void navigate({ to: '/app/inbound-webhooks/$id', params: { id } }); };
  return (
    <Page title={t('Webhooks')} verb="webhooksubscription.read" intro={t('Notify other systems of events here, and let them start workflows.')} actions={can(viewer, 'webhooksubscription.create') && <button type="button" onClick={() => { setMaking('out'); }}>{t('New webhook')}</button>}>
      <Out />
      {can(viewer, 'inboundwebhook.read') && <In make={() => { setMaking('in'); }} />}
      {making === 'out' && <Editor subscriber={null} close={() => { setMaking(''); }} made={(value) => { setMaking(''); setSecret({ value }); }} />}
      {making === 'in' && <NewInbound close={() => { setMaking(''); }} made={(w) => { setMaking(''); if (w.shown) setSecret({ value: w.secret, url: w.url, id: w.id }); else open(w.id); }} />}
      {secret && <Once title={t('The signing secret')} label={t('Signing secret')} value={secret.value} close={() => { setSecret(null); open(secret.id); }}>{secret.url && <><p className="soft">{t('The address to call:')}</p><Copyable label={t('Address')} value={secret.url} /></>}</Once>}
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
