import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import { differing, parse } from '../../app/digits';
import type { Fault } from '../../app/fault';
import { can, useCan, useViewer } from '../../app/session';
import { placed, plural, t } from '../../app/text';
import { InboundCalls, InboundOne, ReplayCall, RotateInbound, UpdateInbound } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { CallFragment, InboundFullFragment, SignatureStyle } from '../../gen/types';
import { Choices, useOfferingChoices, useWorkflowChoices } from '../../parts/choices';
import { Badge, moment, Time, words } from '../../ui/bits';
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
    <Page title={w?.name ?? t('Inbound webhook')} verb="inboundwebhook.read" above={<Link to="/app/webhooks">{t('Webhooks')}</Link>}>
      <Loaded read={read}>{() => (w ? <Body webhook={w} /> : <NotFound says={t('This webhook was not found')} />)}</Loaded>
    </Page>
  );
}

const styles: Record<SignatureStyle, string> = { hex: 'Atrium (hex)', standard: 'Standard Webhooks', github: 'GitHub', stripe: 'Stripe', slack: 'Slack', pagerduty: 'PagerDuty' }; // not said

const curl = (w: InboundFullFragment) => (w.signatureStyle === 'hex'
  ? `body='{"hello":"world"}'; curl -X POST ${w.url} -H 'content-type: application/json' -H "x-webhook-signature: sha256=$(printf %s "$body" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/.* //')" -d "$body"` // not said
  : `curl -X POST ${w.url} -H 'content-type: application/json' -d '{"hello":"world"}'`); // not said

const draftOf = (w: { id: string }) => `inbound ${w.id}`;

function Body({ webhook: w }: { webhook: InboundFullFragment }) {
  const viewer = useViewer();
  const [asking, setAsking] = useAsked('rotate', false);
  const [secret, setSecret] = useState('');
  const [update] = useWrite(UpdateInbound);
  const [rotate] = useWrite(RotateInbound);
  // What was written and not saved would be of a row that is no more: it is saved or discarded first.
  const saved = (row: InboundFullFragment, act: (row: InboundFullFragment) => void) => () => {
    if (hasDraft(draftOf(row))) toast({ text: t('There are changes that were not saved. Save or discard them first.'), bad: true });
    else act(row);
  };
  const toggle = async (row: InboundFullFragment, undo = true) => {
    const now = (await update({ input: { id: row.id, ifMatch: row.etag, enabled: !row.enabled } })).data?.updateInboundWebhook.inboundWebhook;
    if (now) toast({ text: now.enabled ? t('It accepts calls again.') : t('It no longer accepts calls.'), ...(undo ? { undo: saved(now, (r) => { void toggle(r, false); }) } : {}) });
  };
  return (
    <>
      <div className="line verbs-line">
        <Badge value={w.enabled ? 'enabled' : 'disabled'} />{w.warning && <Badge value="WARNING">{w.warning}</Badge>}
        {w.previousUntil && <span className="soft">{placed(t('The previous secret works until {when}'), { when: <Time at={w.previousUntil} full /> })}</span>}<span className="grow" />
        {can(viewer, 'inboundwebhook.update') && <button type="button" className="plain" onClick={saved(w, (r) => { void toggle(r); })}>{w.enabled ? t('Disable') : t('Enable')}</button>}
        {can(viewer, 'inboundwebhook.rotate') && <button type="button" className="plain" onClick={saved(w, () => { setAsking(true); })}>{t('Rotate')}</button>}
      </div>
      <Section title={t('How to call it')}>
        <div className="card pad stack">
          <Copyable label={t('Address')} value={w.url} />
          <Copyable label={t('Example call')} value={curl(w)} />
          {w.signatureStyle !== 'hex' && w.verifySignature && <p className="soft">{t('Signature: {style}. The sender signs each call.', { style: styles[w.signatureStyle] })}</p>}
        </div>
      </Section>
      <Calls id={w.id} />
      {can(viewer, 'inboundwebhook.update') && <Edit key={w.etag} webhook={w} />}
      {asking && <Confirm title={t('Rotate the signing secret?')} verb={t('Rotate')} close={() => { setAsking(false); }} act={async () => { const o = await rotate({ input: { id: w.id, ifMatch: w.etag } }); setAsking(false); if (o.data) setSecret(o.data.rotateInboundWebhookSecret.signingSecret); }}><p>{t('For one day, calls may also be signed with the old secret.')}</p></Confirm>}
      {secret && <Once title={t('The new signing secret')} label={t('Signing secret')} value={secret} close={() => { setSecret(''); }} />}
    </>
  );
}

function Calls({ id }: { id: string }) {
  const { outcome = '' } = useSearch({ strict: false }) as { outcome?: string };
  const navigate = useNavigate();
  const read = usePages(InboundCalls, { webhookId: id, first: 50, ...(outcome ? { outcome: [outcome as 'ACCEPTED'] } : {}) });
  const list = rows(read.data?.inboundCalls);
  return (
    <Section title={t('Calls')} intro={t('The calls of the last 30 days.')} actions={<>
      {['', ...enums.InboundOutcome].map((o) => <button key={o} type="button" className="plain small" aria-pressed={outcome === o} onClick={() => { void navigate({ to: '/app/inbound-webhooks/$id', params: { id }, search: { outcome: o } as never, replace: true, resetScroll: false }); }}>{o ? words(o) : t('All')}</button>)}
      <button type="button" className="quiet small" onClick={read.again}>{t('Refresh')}</button>
    </>}>
      <Loaded read={read} skeleton={3}>{() => (list.length === 0 ? <Empty title={outcome ? t('No matching calls') : t('There are no calls yet')} /> : <><ul className="rows" aria-label={t('Calls')}>{list.map((c) => <One key={c.id} call={c} again={read.again} />)}</ul><More shown={list.length} total={read.data?.inboundCalls?.totalCount} page={read.data?.inboundCalls?.pageInfo} next={read.next} /></>)}</Loaded>
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
        <div className="meta">{c.reason && <span>{c.reason}</span>}<span>{plural(c.bodyBytes, '{n} byte', '{n} bytes')}</span>{c.replayOf && <span>{t('resent manually')}</span>}{c.executionId && <Link to="/app/executions/$id" params={{ id: c.executionId }}>{t('Execution')}</Link>}</div>
        <details><summary>{t('Headers and body')}</summary><pre>{Object.entries((c.headers ?? {}) as Record<string, string>).map(([k, v]) => `${k}: ${v}`).join('\n')}{'\n\n'}{c.body}</pre></details>
      </div>
      {may && <div className="verbs"><button type="button" className="plain small" aria-label={t('Resend the call of {when}', { when: moment(c.at) })} onClick={() => { void replay({ input: { id: c.id } }).then((o) => { if (!o.fault) { toast({ text: t('The call was processed again.') }); again(); } }); }}>{t('Resend')}</button></div>}
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
    broken = t('This is not valid JSON.');
  }
  const send = async () => {
    const now = { name: draft.name, workflowId: draft.workflowId, offeringId: draft.offeringId || null, headers: draft.headers === null ? null : draft.headers.split(/[\s,]+/).filter(Boolean), signatureStyle: draft.style, verifySignature: draft.verify, ...(draft.mapping === saved.mapping ? {} : { fieldMapping: mapping as never }) };
    const changed = differing(now, w);
    const o = Object.keys(changed).length > 0 ? await run({ input: { id: w.id, ...base.match, ...changed } }) : null;
    setFault(o?.fault ?? null);
    if (o?.fault) return;
    forget();
    toast({ text: t('The webhook was saved.') });
    focusSoon(() => globalThis.document.querySelector<HTMLElement>('main [type=submit]')); // the form is another one now
  };
  const at = fault?.details.filter((d) => d.field.startsWith('fieldMapping')).map((d) => `${d.field.slice(13)} ${d.message}`).join(' ') || undefined;
  const headers = fault?.details.filter((d) => d.field.startsWith('headers')).map((d) => `${d.field} ${d.message}`).join(' ') || undefined;
  return (
    <Section title={t('What it does')}>
      <form className="card stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <div className="pair">
          <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
          <Field label={t('Workflow')} fault={faultAt(fault, 'workflowId')}><select value={draft.workflowId} onChange={(e) => { set({ ...draft, workflowId: e.target.value }); }}><Choices of={workflows} now={draft.workflowId} /></select></Field>
        </div>
        <div className="pair">
          <Field label={t('Submits a request for')} hint={t('Each call submits one.')} fault={faultAt(fault, 'offeringId')}><select value={draft.offeringId} onChange={(e) => { set({ ...draft, offeringId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={offerings} now={draft.offeringId} /></select></Field>
          <Field label={t('Signature')} fault={faultAt(fault, 'signatureStyle')}><select value={draft.style} onChange={(e) => { set({ ...draft, style: e.target.value as SignatureStyle }); }}>{enums.SignatureStyle.map((s) => <option key={s} value={s}>{styles[s]}</option>)}</select></Field>
        </div>
        <Field label={t('Mapping')} optional hint={placed(t('What the request is made of: title, priority and fields as JSON, each an expression (CEL) over {name}.'), { name: <code>{'webhook'}</code> })} fault={broken || at}><textarea className="mono" rows={4} spellCheck={false} value={draft.mapping} placeholder={'{"title": "webhook.body.summary"}'} onChange={(e) => { set({ ...draft, mapping: e.target.value }); }} /></Field>
        <Check label={t('Keep only the usual event headers')} checked={draft.headers === null} set={(usual) => { set({ ...draft, headers: usual ? null : '' }); }} />
        {draft.headers !== null && <Field label={t('Headers to keep')} optional hint={t('Header names, separated by spaces. * keeps all except known credentials.')} fault={headers}><input className="mono" spellCheck={false} value={draft.headers} onChange={(e) => { set({ ...draft, headers: e.target.value }); }} /></Field>}
        <Check label={t('Calls must be signed')} checked={draft.verify} set={(verify) => { set({ ...draft, verify }); }} />
        <Rest base={base} fault={fault} fields={['name', 'workflowId', 'offeringId', 'signatureStyle', ...(fault?.details.map((d) => d.field).filter((f) => /^(fieldMapping|headers)/.test(f)) ?? [])]} />
        <footer>
          {(hasDraft(draftOf(w)) || JSON.stringify(draft) !== JSON.stringify(saved)) && <button type="button" className="plain" onClick={() => { set(saved); forget(); }}>{t('Discard')}</button>}
          <button type="submit" disabled={busy || broken !== ''}>{t('Save')}</button>
        </footer>
      </form>
    </Section>
  );
}
