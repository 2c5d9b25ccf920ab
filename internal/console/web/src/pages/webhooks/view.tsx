import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useSubscription } from 'urql';
import { rows, useRead, useWrite } from '../../app/data';
import { DeleteSubscriber, Deliveries, DeliveryChanged, ReplayDelivery, RotateSubscriber, SendTest, UpdateSubscriber, WebhookOne } from '../../gen/documents';
import type { DeliveryFragment, SubscriberFragment } from '../../gen/types';
import { Badge, Time } from '../../ui/bits';
import { Confirm, Dialog, Once } from '../../ui/dialog';
import { Field } from '../../ui/field';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty, NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
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
  const [asking, setAsking] = useState<'test' | 'Rotate' | 'Delete' | ''>('');
  const [secret, setSecret] = useState('');
  const [event, setEvent] = useState('request.created');
  const [test] = useWrite(SendTest);
  const [update] = useWrite(UpdateSubscriber);
  const [rotate] = useWrite(RotateSubscriber);
  const [remove] = useWrite(DeleteSubscriber);
  const navigate = useNavigate();
  const close = () => { setAsking(''); };
  return (
    <>
      <div className="line verbs-line">
        <Badge value={s.enabled ? 'enabled' : 'disabled'} />{s.disabledReason && <span className="soft">{s.disabledReason}</span>}
        <span className="grow" />
        <button type="button" onClick={() => { setAsking('test'); }}>Send test event</button>
        <button type="button" className="plain" onClick={() => { void update({ input: { id: s.id, enabled: !s.enabled, ifMatch: s.etag } }).then((o) => { if (!o.fault) toast({ text: s.enabled ? 'Nothing is sent any more.' : 'Events are sent again.' }); }); }}>{s.enabled ? 'Disable' : 'Enable'}</button>
        <button type="button" className="plain" onClick={() => { setAsking('Rotate'); }}>Rotate</button>
        <button type="button" className="danger-plain" onClick={() => { setAsking('Delete'); }}>Delete</button>
      </div>
      <p className="chips">{s.events.map((e) => <span key={e} className="chip">{e}</span>)}</p>
      <History id={s.id} />
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

function History({ id }: { id: string }) {
  const [outcome, setOutcome] = useState('');
  const read = useRead(Deliveries, { subscriptionId: id, ...(outcome ? { outcome: [outcome as 'FAILED'] } : {}) });
  const { again } = read;
  useSubscription({ query: DeliveryChanged as never, variables: { subscriptionId: id } as never }, (_was: unknown, now: { webhookDeliveryChanged?: { change: string } }) => {
    if (now.webhookDeliveryChanged?.change === 'CREATED') again();
    return now;
  });
  const list = rows(read.data?.webhookDeliveries);
  return (
    <Section title="Deliveries" actions={['', 'PENDING', 'SUCCESS', 'FAILED'].map((o) => <button key={o} type="button" className="plain small" aria-pressed={outcome === o} onClick={() => { setOutcome(o); }}>{o === '' ? 'All' : o.charAt(0) + o.slice(1).toLowerCase()}</button>)}>
      <Loaded read={read} skeleton={3}>
        {() => (list.length === 0 ? <Empty title="Nothing was sent yet"><p>Send a test event to see one.</p></Empty> : <ul className="rows">{list.map((d) => <One key={d.id} delivery={d} />)}</ul>)}
      </Loaded>
    </Section>
  );
}

function One({ delivery: d }: { delivery: DeliveryFragment }) {
  const [replay] = useWrite(ReplayDelivery);
  const last = d.attempts.at(-1);
  return (
    <li className="row">
      <div>
        <strong>{d.event}</strong>
        <div className="meta"><Badge value={d.outcome} /><span>{d.attempts.length} attempts</span>{last && <span>{last.statusCode ?? last.error ?? 'no answer'} in {last.latencyMs} ms</span>}{d.nextAttemptAt && <span>again <Time at={d.nextAttemptAt} /></span>}<Time at={d.createdAt} /></div>
        {d.attempts.length > 0 && (
          <details><summary>Attempts</summary>
            <ol className="stack-tight">{d.attempts.map((a) => <li key={a.at}><Time at={a.at} full /> · {a.statusCode ?? 'no answer'} · {a.latencyMs} ms{a.error && <> · {a.error}</>}{a.responseBody && <pre>{a.responseBody}</pre>}</li>)}</ol>
          </details>
        )}
      </div>
      <div className="verbs"><button type="button" className="plain small" onClick={() => { void replay({ input: { id: d.id } }).then((o) => { if (!o.fault) toast({ text: 'It is attempted again.' }); }); }}>Replay<span className="hidden"> {d.event}</span></button></div>
    </li>
  );
}
