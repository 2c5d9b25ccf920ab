import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import { differing, parse } from '../../app/digits';
import type { Fault } from '../../app/fault';
import { can, useCan, useViewer } from '../../app/session';
import { InboundCalls, InboundOne, ReplayCall, RotateInbound, UpdateInbound } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { CallFragment, InboundFullFragment, SignatureStyle } from '../../gen/types';
import { Choices, useOfferingChoices, useWorkflowChoices } from '../../parts/choices';
import { Badge, count, Time, words } from '../../ui/bits';
import { Confirm, Copyable, Once } from '../../ui/dialog';
import { hasDraft, useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { focusSoon } from '../../ui/focus';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty, NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';

// InboundView is one address that others call: how it is called, what came, and what it starts.
export default function InboundView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(InboundOne, { id });
  const w = read.data?.node && 'signatureStyle' in read.data.node ? read.data.node as InboundFullFragment : null;
  return (
    <Page title={w?.name ?? 'Inbound webhook'} verb="inboundwebhook.read" above={<Link to="/app/webhooks">← Webhooks</Link>}>
      <Loaded read={read}>{() => (w ? <Body webhook={w} /> : <NotFound what="webhook" />)}</Loaded>
    </Page>
  );
}

const curl = (w: InboundFullFragment) => (w.signatureStyle === 'hex'
  ? `body='{"hello":"world"}'; curl -X POST ${w.url} -H 'content-type: application/json' -H "x-webhook-signature: sha256=$(printf %s "$body" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/.* //')" -d "$body"`
  : `curl -X POST ${w.url} -H 'content-type: application/json' -d '{"hello":"world"}'`);

const draftOf = (w: { id: string }) => `inbound ${w.id}`;

function Body({ webhook: w }: { webhook: InboundFullFragment }) {
  const viewer = useViewer();
  const [asking, setAsking] = useAsked('rotate', false);
  const [secret, setSecret] = useState('');
  const [update] = useWrite(UpdateInbound);
  const [rotate] = useWrite(RotateInbound);
  // What was written and not saved would be of a row that is no more: it is saved or discarded first.
  const saved = (row: InboundFullFragment, act: (row: InboundFullFragment) => void) => () => {
    if (hasDraft(draftOf(row))) toast({ text: 'There are changes that were not saved. Save or discard them first.', bad: true });
    else act(row);
  };
  const toggle = async (row: InboundFullFragment, undo = true) => {
    const now = (await update({ input: { id: row.id, ifMatch: row.etag, enabled: !row.enabled } })).data?.updateInboundWebhook.inboundWebhook;
    if (now) toast({ text: now.enabled ? 'It takes calls again.' : 'It takes no calls any more.', ...(undo ? { undo: saved(now, (r) => { void toggle(r, false); }) } : {}) });
  };
  return (
    <>
      <div className="line verbs-line">
        <Badge value={w.enabled ? 'enabled' : 'disabled'} />{w.warning && <Badge value="WARNING">{w.warning}</Badge>}
        {w.previousUntil && <span className="soft">The secret before works until <Time at={w.previousUntil} full /></span>}<span className="grow" />
        {can(viewer, 'inboundwebhook.update') && <button type="button" className="plain" onClick={saved(w, (r) => { void toggle(r); })}>{w.enabled ? 'Disable' : 'Enable'}</button>}
        {can(viewer, 'inboundwebhook.rotate') && <button type="button" className="plain" onClick={saved(w, () => { setAsking(true); })}>Rotate</button>}
      </div>
      <Section title="How to call it">
        <div className="card pad stack">
          <Copyable label="Address" value={w.url} />
          <Copyable label="Example call" value={curl(w)} />
          {w.signatureStyle !== 'hex' && w.verifySignature && <p className="soft">Calls are signed in the way of {words(w.signatureStyle)}; the sender does that.</p>}
        </div>
      </Section>
      <Calls id={w.id} />
      {can(viewer, 'inboundwebhook.update') && <Edit key={w.etag} webhook={w} />}
      {asking && <Confirm title="Rotate the signing secret?" verb="Rotate" close={() => { setAsking(false); }} act={async () => { const o = await rotate({ input: { id: w.id, ifMatch: w.etag } }); setAsking(false); if (o.data) setSecret(o.data.rotateInboundWebhookSecret.signingSecret); }}><p>For a day, calls may be signed with the old secret, too.</p></Confirm>}
      {secret && <Once title="The new signing secret" label="Signing secret" value={secret} close={() => { setSecret(''); }} />}
    </>
  );
}

function Calls({ id }: { id: string }) {
  const { outcome = '' } = useSearch({ strict: false }) as { outcome?: string };
  const navigate = useNavigate();
  const read = usePages(InboundCalls, { webhookId: id, first: 50, ...(outcome ? { outcome: [outcome as 'ACCEPTED'] } : {}) });
  const list = rows(read.data?.inboundCalls);
  return (
    <Section title="Calls" intro="Those of the last 30 days." actions={<>
      {['', ...enums.InboundOutcome].map((o) => <button key={o} type="button" className="plain small" aria-pressed={outcome === o} onClick={() => { void navigate({ to: '/app/inbound-webhooks/$id', params: { id }, search: { outcome: o } as never, replace: true, resetScroll: false }); }}>{o ? words(o) : 'All'}</button>)}
      <button type="button" className="quiet small" onClick={read.again}>Refresh</button>
    </>}>
      <Loaded read={read} skeleton={3}>{() => (list.length === 0 ? <Empty title={outcome ? 'No call ended this way' : 'Nobody has called yet'} /> : <><ul className="rows" aria-label="Calls">{list.map((c) => <One key={c.id} call={c} again={read.again} />)}</ul><More shown={list.length} total={read.data?.inboundCalls?.totalCount} page={read.data?.inboundCalls?.pageInfo} next={read.next} /></>)}</Loaded>
    </Section>
  );
}

function One({ call: c, again }: { call: CallFragment; again: () => void }) {
  const may = useCan('inboundcall.replay');
  const [replay] = useWrite(ReplayCall);
  return (
    <li className="row">
      <div>
        <span className="line"><Badge value={{ ACCEPTED: 'active', DUPLICATE: 'off', REJECTED: 'denied' }[c.outcome]}>{words(c.outcome)}</Badge><Time at={c.at} full /></span>
        <div className="meta">{c.reason && <span>{c.reason}</span>}<span>{count(c.bodyBytes, 'byte')}</span>{c.replayOf && <span>sent again by somebody</span>}{c.executionId && <Link to="/app/executions/$id" params={{ id: c.executionId }}>What it started</Link>}</div>
        <details><summary>Headers and body</summary><pre>{Object.entries((c.headers ?? {}) as Record<string, string>).map(([k, v]) => `${k}: ${v}`).join('\n')}{'\n\n'}{c.body}</pre></details>
      </div>
      {may && <div className="verbs"><button type="button" className="plain small" onClick={() => { void replay({ input: { id: c.id } }).then((o) => { if (!o.fault) { toast({ text: 'It was taken as if it had come again.' }); again(); } }); }}>Resend<span className="hidden"> the call of {c.at}</span></button></div>}
    </li>
  );
}

function Edit({ webhook: w }: { webhook: InboundFullFragment }) {
  const workflows = useWorkflowChoices();
  const offerings = useOfferingChoices().flatMap((s) => rows(s.offerings).map((o) => ({ id: o.id, name: `${s.name} › ${o.name}` })));
  const saved = { name: w.name, workflowId: w.workflowId, offeringId: w.offeringId ?? '', mapping: w.fieldMapping ? JSON.stringify(w.fieldMapping, null, 1) : '', headers: w.headers?.join(' ') ?? null, style: w.signatureStyle, verify: w.verifySignature };
  const [draft, set, forget, base] = useDraft(draftOf(w), saved, w.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(UpdateInbound, true);
  let mapping: unknown = null;
  let broken = '';
  try {
    mapping = draft.mapping.trim() ? parse(draft.mapping) : null;
  } catch {
    broken = 'This is no JSON.';
  }
  const send = async () => {
    const now = { name: draft.name, workflowId: draft.workflowId, offeringId: draft.offeringId || null, headers: draft.headers === null ? null : draft.headers.split(/[\s,]+/).filter(Boolean), signatureStyle: draft.style, verifySignature: draft.verify, ...(draft.mapping === saved.mapping ? {} : { fieldMapping: mapping as never }) };
    const changed = differing(now, w);
    const o = Object.keys(changed).length > 0 ? await run({ input: { id: w.id, ...base.match, ...changed } }) : null;
    setFault(o?.fault ?? null);
    if (o?.fault) return;
    forget();
    toast({ text: 'The webhook was saved.' });
    focusSoon(() => globalThis.document.querySelector<HTMLElement>('main form [type=submit]')); // the form is another one now
  };
  const at = fault?.details.filter((d) => d.field.startsWith('fieldMapping')).map((d) => `${d.field.slice(13)} ${d.message}`).join(' ') || undefined;
  const headers = fault?.details.filter((d) => d.field.startsWith('headers')).map((d) => `${d.field} ${d.message}`).join(' ') || undefined;
  return (
    <Section title="What it does">
      <form className="card stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <div className="pair">
          <Field label="Name" fault={faultAt(fault, 'name')}><input value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
          <Field label="Workflow" fault={faultAt(fault, 'workflowId')}><select value={draft.workflowId} onChange={(e) => { set({ ...draft, workflowId: e.target.value }); }}><Choices of={workflows} now={draft.workflowId} /></select></Field>
        </div>
        <div className="pair">
          <Field label="Files a request of" hint="Each call files one." fault={faultAt(fault, 'offeringId')}><select value={draft.offeringId} onChange={(e) => { set({ ...draft, offeringId: e.target.value }); }}><option value="">None</option><Choices of={offerings} now={draft.offeringId} /></select></Field>
          <Field label="Signed in the way of" fault={faultAt(fault, 'signatureStyle')}><select value={draft.style} onChange={(e) => { set({ ...draft, style: e.target.value as SignatureStyle }); }}>{enums.SignatureStyle.map((s) => <option key={s} value={s}>{s === 'hex' ? 'Atrium (hex)' : words(s)}</option>)}</select></Field>
        </div>
        <Field label="Mapping" optional hint={<>What the request is made of: title, priority and fields, each a condition language (CEL) expression over <code>webhook</code>, as JSON.</>} fault={broken || at}><textarea className="mono" rows={4} spellCheck={false} value={draft.mapping} placeholder={'{"title": "webhook.body.summary"}'} onChange={(e) => { set({ ...draft, mapping: e.target.value }); }} /></Field>
        <Check label="Keep only the usual headers of events" checked={draft.headers === null} set={(usual) => { set({ ...draft, headers: usual ? null : '' }); }} />
        {draft.headers !== null && <Field label="Headers that are kept" optional hint="Their names, with blanks between. * keeps all but known credentials." fault={headers}><input className="mono" spellCheck={false} value={draft.headers} onChange={(e) => { set({ ...draft, headers: e.target.value }); }} /></Field>}
        <Check label="Calls must be signed" checked={draft.verify} set={(verify) => { set({ ...draft, verify }); }} />
        <Rest base={base} fault={fault} fields={['name', 'workflowId', 'offeringId', 'signatureStyle', ...(fault?.details.map((d) => d.field).filter((f) => /^(fieldMapping|headers)/.test(f)) ?? [])]} />
        <footer>
          {(hasDraft(draftOf(w)) || JSON.stringify(draft) !== JSON.stringify(saved)) && <button type="button" className="plain" onClick={() => { set(saved); forget(); }}>Discard</button>}
          <button type="submit" disabled={busy || broken !== ''}>Save</button>
        </footer>
      </form>
    </Section>
  );
}
