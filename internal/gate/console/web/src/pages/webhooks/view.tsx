import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useTold } from '../../app/live';
import { can, useCan, useViewer } from '../../app/session';
import { placed, plural, t } from '../../app/text';
import { DeleteSubscriber, Deliveries, DeliveryChanged, ReplayDelivery, ReplayEvents, RotateSubscriber, SendTest, UpdateSubscriber, WebhookOne } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { DeliveryFragment, SubscriberFragment } from '../../gen/types';
import { Badge, Time, words } from '../../ui/bits';
import { Confirm, Dialog, Once } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty, NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { fieldOf, instantOf } from '../../ui/zone';
import { Editor } from './editor';
import { events } from './events';

// WebhookView is one subscription with what was sent to it, live.
export default function WebhookView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(WebhookOne, { id });
  const s = read.data?.node && 'url' in read.data.node ? read.data.node : null;
  return (
    <Page title={s?.url ?? t('Webhook')} verb="webhooksubscription.read" intro={s?.description} above={<Link to="/app/webhooks">{t('Webhooks')}</Link>}>
      <Loaded read={read}>{({ node }) => (node && 'url' in node ? <Body subscriber={node as SubscriberFragment} /> : <NotFound says={t('This webhook was not found')} />)}</Loaded>
    </Page>
  );
}

function Body({ subscriber: s }: { subscriber: SubscriberFragment }) {
  const viewer = useViewer();
  const [asking, setAsking] = useAsked<'edit' | 'test' | 'replay' | 'rotate' | 'delete' | ''>('verb', '');
  const [secret, setSecret] = useState('');
  const [event, setEvent] = useState('request.created');
  const [test] = useWrite(SendTest);
  const [update] = useWrite(UpdateSubscriber);
  const [rotate] = useWrite(RotateSubscriber);
  const [remove] = useWrite(DeleteSubscriber);
  const navigate = useNavigate();
  const close = () => { setAsking(''); };
  const toggle = async () => {
    const o = await update({ input: { id: s.id, enabled: !s.enabled, ifMatch: s.etag } });
    if (!o.data) return;
    const { etag } = o.data.updateWebhookSubscription.webhookSubscription;
    toast({ text: s.enabled ? t('Events are no longer sent.') : t('Events are sent again.'), undo: () => { void update({ input: { id: s.id, enabled: s.enabled, ifMatch: etag } }); } });
  };
  const button = (verb: string, label: string, run: () => void, className?: string) => can(viewer, `webhooksubscription.${verb}`) && <button type="button" className={className} onClick={run}>{label}</button>;
  return (
    <>
      <div className="line verbs-line">
        <Badge value={s.enabled ? 'enabled' : 'disabled'} />{s.disabledReason && <span className="soft">{s.disabledReason}</span>}
        {s.failingSince && <span className="soft">{placed(t('No delivery has succeeded since {when}'), { when: <Time at={s.failingSince} full /> })}</span>}
        <span className="grow" />
        {button('test', t('Send test event'), () => { setAsking('test'); })}
        {button('update', t('Edit'), () => { setAsking('edit'); }, 'plain')}
        {button('update', s.enabled ? t('Disable') : t('Enable'), () => { void toggle(); }, 'plain')}
        {button('replay', t('Replay events'), () => { setAsking('replay'); }, 'plain')}
        {button('rotate', t('Rotate'), () => { setAsking('rotate'); }, 'plain')}
        {button('delete', t('Delete'), () => { setAsking('delete'); }, 'danger-plain')}
      </div>
      <p className="chips">{s.events.map((e) => <span key={e} className="chip">{e}</span>)}</p>
      <History id={s.id} />
      {asking === 'edit' && <Editor subscriber={s} close={close} />}
      {asking === 'replay' && <Again subscriber={s} close={close} />}
      {asking === 'test' && (
        <Dialog title={t('Send test event')} close={close}>
          <form className="stack" onSubmit={(e) => { e.preventDefault(); close(); void test({ input: { subscriptionId: s.id, event } }).then((o) => { if (!o.fault) toast({ text: t('The test event was sent.') }); }); }}>
            <Field label={t('Event')} hint={t('It contains sample data, and is signed and retried like any other event.')}><select value={event} onChange={(e) => { setEvent(e.target.value); }}>{events.map((e) => <option key={e}>{e}</option>)}</select></Field>
            <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit">{t('Send test event')}</button></footer>
          </form>
        </Dialog>
      )}
      {asking === 'rotate' && <Confirm title={t('Rotate the signing secret?')} verb={t('Rotate')} close={close} act={async () => { const o = await rotate({ input: { id: s.id } }); close(); if (o.data) setSecret(o.data.rotateWebhookSecret.signingSecret); }}><p>{t('For one day, deliveries are also signed with the old secret.')}</p></Confirm>}
      {asking === 'delete' && <Confirm title={t('Delete this webhook?')} verb={t('Delete')} close={close} act={async () => { const o = await remove({ input: { id: s.id } }); close(); if (!o.fault) void navigate({ to: '/app/webhooks' }); }}><p>{t('Its delivery history is deleted, too.')}</p></Confirm>}
      {secret && <Once title={t('The new signing secret')} label={t('Signing secret')} value={secret} close={() => { setSecret(''); }} />}
    </>
  );
}

// Again sends what happened since a moment, such as while nobody answered at the address.
function Again({ subscriber: s, close }: { subscriber: SubscriberFragment; close: () => void }) {
  const [since, setSince] = useState(() => fieldOf(s.failingSince ? new Date(s.failingSince) : new Date(Date.now() - 86_400_000)));
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(ReplayEvents, true);
  const send = async () => {
    const o = await run({ input: { subscriptionId: s.id, since: instantOf(since).toISOString() } });
    setFault(o.fault);
    if (!o.data) return;
    close();
    toast({ text: plural(o.data.replayWebhookEvents.events, '{n} event is sent again.', '{n} events are sent again.') });
  };
  return (
    <Dialog title={t('Replay events')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Since')} hint={t('At most 30 days back.')} fault={faultAt(fault, 'since')}><input type="datetime-local" value={since} onChange={(e) => { setSince(e.target.value); }} /></Field>
        <Rest fault={fault} fields={['since']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy || !since}>{t('Replay events')}</button></footer>
      </form>
    </Dialog>
  );
}

function History({ id }: { id: string }) {
  const { outcome = '' } = useSearch({ strict: false }) as { outcome?: string };
  const navigate = useNavigate();
  const read = usePages(Deliveries, { subscriptionId: id, first: 50, ...(outcome ? { outcome: [outcome as 'FAILED'] } : {}) });
  useTold(DeliveryChanged, { subscriptionId: id }, read.again);
  const list = rows(read.data?.webhookDeliveries);
  return (
    <Section title={t('Deliveries')} actions={['', ...enums.WebhookOutcome].map((o) => <button key={o} type="button" className="plain small" aria-pressed={outcome === o} onClick={() => { void navigate({ to: '/app/webhooks/$id', params: { id }, search: { outcome: o } as never, replace: true, resetScroll: false }); }}>{o === '' ? t('All') : words(o)}</button>)}>
      <Loaded read={read} skeleton={3}>
        {() => (list.length === 0 ? <Empty title={outcome ? t('No matching deliveries') : t('There are no deliveries yet')}>{!outcome && <p>{t('Send a test event to see one.')}</p>}</Empty> : <><ul className="rows">{list.map((d) => <One key={d.id} delivery={d} />)}</ul><More shown={list.length} total={read.data?.webhookDeliveries?.totalCount} page={read.data?.webhookDeliveries?.pageInfo} next={read.next} /></>)}
      </Loaded>
    </Section>
  );
}

function One({ delivery: d }: { delivery: DeliveryFragment }) {
  const may = useCan('webhookdelivery.replay');
  const [replay] = useWrite(ReplayDelivery);
  const last = d.attempts.at(-1);
  return (
    <li className="row">
      <div>
        <strong>{d.event}</strong>
        <div className="meta"><Badge value={d.outcome} /><span>{plural(d.attempts.length, '{n} attempt', '{n} attempts')}</span>{last && <span>{last.statusCode ? t('Answered {code} after {ms} ms', { code: String(last.statusCode), ms: last.latencyMs }) : last.error ? t('{error}, after {ms} ms', { error: last.error, ms: last.latencyMs }) : t('No answer after {ms} ms', { ms: last.latencyMs })}</span>}{d.nextAttemptAt && <span>{placed(t('next attempt {when}'), { when: <Time at={d.nextAttemptAt} /> })}</span>}<Time at={d.createdAt} /></div>
        {d.attempts.length > 0 && (
          <details><summary>{t('Attempts')}</summary>
            <ol className="stack-tight">{d.attempts.map((a) => <li key={a.at}><Time at={a.at} full /> · {a.statusCode ?? t('no answer')} · {t('{n} ms', { n: a.latencyMs })}{a.error && <> · {a.error}</>}{a.responseBody && <pre>{a.responseBody}</pre>}</li>)}</ol>
          </details>
        )}
      </div>
      {may && <div className="verbs"><button type="button" className="plain small" aria-label={t('Replay {event}', { event: d.event })} onClick={() => { void replay({ input: { id: d.id } }).then((o) => { if (!o.fault) toast({ text: t('The delivery is sent again.') }); }); }}>{t('Replay')}</button></div>}
    </li>
  );
}
