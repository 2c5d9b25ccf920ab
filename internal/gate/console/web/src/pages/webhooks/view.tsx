import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useTold } from '../../app/live';
import { can, useCan, useViewer } from '../../app/session';
import { DeleteSubscriber, Deliveries, DeliveryChanged, ReplayDelivery, ReplayEvents, RotateSubscriber, SendTest, UpdateSubscriber, WebhookOne } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { DeliveryFragment, SubscriberFragment } from '../../gen/types';
import { localTime } from '../../ui/answer';
import { Badge, count, Time } from '../../ui/bits';
import { Confirm, Dialog, Once } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty, NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { Editor } from './editor';
import { events } from './events';

// WebhookView is one subscription with what was sent to it, live.
export default function WebhookView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(WebhookOne, { id });
  const s = read.data?.node && 'url' in read.data.node ? read.data.node : null;
  return (
    <Page title={s?.url ?? 'Webhook'} verb="webhooksubscription.read" intro={s?.description} above={<Link to="/app/webhooks">← Webhooks</Link>}>
      <Loaded read={read}>{({ node }) => (node && 'url' in node ? <Body subscriber={node as SubscriberFragment} /> : <NotFound what="webhook" />)}</Loaded>
    </Page>
  );
}

function Body({ subscriber: s }: { subscriber: SubscriberFragment }) {
  const viewer = useViewer();
  const [asking, setAsking] = useAsked<'edit' | 'test' | 'replay' | 'Rotate' | 'Delete' | ''>('verb', '');
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
    toast({ text: s.enabled ? 'Nothing is sent any more.' : 'Events are sent again.', undo: () => { void update({ input: { id: s.id, enabled: s.enabled, ifMatch: etag } }); } });
  };
  const button = (verb: string, label: string, run: () => void, className?: string) => can(viewer, `webhooksubscription.${verb}`) && <button type="button" className={className} onClick={run}>{label}</button>;
  return (
    <>
      <div className="line verbs-line">
        <Badge value={s.enabled ? 'enabled' : 'disabled'} />{s.disabledReason && <span className="soft">{s.disabledReason}</span>}
        {s.failingSince && <span className="soft">No delivery has succeeded since <Time at={s.failingSince} full /></span>}
        <span className="grow" />
        {button('test', 'Send test event', () => { setAsking('test'); })}
        {button('update', 'Edit', () => { setAsking('edit'); }, 'plain')}
        {button('update', s.enabled ? 'Disable' : 'Enable', () => { void toggle(); }, 'plain')}
        {button('replay', 'Replay events', () => { setAsking('replay'); }, 'plain')}
        {button('rotate', 'Rotate', () => { setAsking('Rotate'); }, 'plain')}
        {button('delete', 'Delete', () => { setAsking('Delete'); }, 'danger-plain')}
      </div>
      <p className="chips">{s.events.map((e) => <span key={e} className="chip">{e}</span>)}</p>
      <History id={s.id} />
      {asking === 'edit' && <Editor subscriber={s} close={close} />}
      {asking === 'replay' && <Again subscriber={s} close={close} />}
      {asking === 'test' && (
        <Dialog title="Send test event" close={close}>
          <form className="stack" onSubmit={(e) => { e.preventDefault(); close(); void test({ input: { subscriptionId: s.id, event } }).then((o) => { if (!o.fault) toast({ text: 'The test event is on its way.' }); }); }}>
            <Field label="Event" hint="Its data is made up; it is signed and retried like any other."><select value={event} onChange={(e) => { setEvent(e.target.value); }}>{events.map((e) => <option key={e}>{e}</option>)}</select></Field>
            <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit">Send test event</button></footer>
          </form>
        </Dialog>
      )}
      {asking === 'Rotate' && <Confirm title="Rotate the signing secret?" verb="Rotate" close={close} act={async () => { const o = await rotate({ input: { id: s.id } }); close(); if (o.data) setSecret(o.data.rotateWebhookSecret.signingSecret); }}><p>For a day, deliveries carry a second signature by the old one.</p></Confirm>}
      {asking === 'Delete' && <Confirm title="Delete this webhook?" verb="Delete" close={close} act={async () => { const o = await remove({ input: { id: s.id } }); close(); if (!o.fault) void navigate({ to: '/app/webhooks' }); }}><p>The history of its deliveries goes with it.</p></Confirm>}
      {secret && <Once title="The new signing secret" label="Signing secret" value={secret} close={() => { setSecret(''); }} />}
    </>
  );
}

// Again sends what happened since a moment, such as while nobody answered at the address.
function Again({ subscriber: s, close }: { subscriber: SubscriberFragment; close: () => void }) {
  const [since, setSince] = useState(() => localTime(s.failingSince ? new Date(s.failingSince) : new Date(Date.now() - 86_400_000)));
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(ReplayEvents, true);
  const send = async () => {
    const o = await run({ input: { subscriptionId: s.id, since: new Date(since).toISOString() } });
    setFault(o.fault);
    if (!o.data) return;
    close();
    toast({ text: `${count(o.data.replayWebhookEvents.events, 'event is', 'events are')} sent again.` });
  };
  return (
    <Dialog title="Replay events" close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label="Since" hint="At most 30 days back." fault={faultAt(fault, 'since')}><input type="datetime-local" value={since} onChange={(e) => { setSince(e.target.value); }} /></Field>
        <Rest fault={fault} fields={['since']} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy || !since}>Replay events</button></footer>
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
    <Section title="Deliveries" actions={['', ...enums.WebhookOutcome].map((o) => <button key={o} type="button" className="plain small" aria-pressed={outcome === o} onClick={() => { void navigate({ to: '/app/webhooks/$id', params: { id }, search: { outcome: o } as never, replace: true, resetScroll: false }); }}>{o === '' ? 'All' : o.charAt(0) + o.slice(1).toLowerCase()}</button>)}>
      <Loaded read={read} skeleton={3}>
        {() => (list.length === 0 ? <Empty title={outcome ? 'No delivery is like that' : 'Nothing was sent yet'}>{!outcome && <p>Send a test event to see one.</p>}</Empty> : <><ul className="rows">{list.map((d) => <One key={d.id} delivery={d} />)}</ul><More shown={list.length} total={read.data?.webhookDeliveries?.totalCount} page={read.data?.webhookDeliveries?.pageInfo} next={read.next} /></>)}
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
        <div className="meta"><Badge value={d.outcome} /><span>{count(d.attempts.length, 'attempt')}</span>{last && <span>{last.statusCode ? `Answered ${last.statusCode}` : last.error ?? 'No answer'}, after {last.latencyMs} ms</span>}{d.nextAttemptAt && <span>Attempted again <Time at={d.nextAttemptAt} /></span>}<Time at={d.createdAt} /></div>
        {d.attempts.length > 0 && (
          <details><summary>Attempts</summary>
            <ol className="stack-tight">{d.attempts.map((a) => <li key={a.at}><Time at={a.at} full /> · {a.statusCode ?? 'no answer'} · {a.latencyMs} ms{a.error && <> · {a.error}</>}{a.responseBody && <pre>{a.responseBody}</pre>}</li>)}</ol>
          </details>
        )}
      </div>
      {may && <div className="verbs"><button type="button" className="plain small" onClick={() => { void replay({ input: { id: d.id } }).then((o) => { if (!o.fault) toast({ text: 'It is attempted again.' }); }); }}>Replay<span className="hidden"> {d.event}</span></button></div>}
    </li>
  );
}
