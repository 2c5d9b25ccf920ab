import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, useRead, useWrite } from '../../app/data';
import { differing } from '../../app/digits';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import { InboundOne, RotateInbound, UpdateInbound } from '../../gen/documents';
import type { InboundFullFragment } from '../../gen/types';
import { Choices, useOfferingChoices, useWorkflowChoices } from '../../parts/choices';
import { Condition } from '../../parts/condition';
import { Badge, Time } from '../../ui/bits';
import { Confirm, Once } from '../../ui/dialog';
import { hasDraft, useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { focusSoon } from '../../ui/focus';
import { Loaded, Page, Section } from '../../ui/page';
import { NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { Calls } from './calls';
import { HowTo } from './howto';
import { flat, nested } from './mapping';
import { MappingRows } from './mappingrows';
import { Signing } from './signature';
import { noSettings, sent } from './signing';

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
      <HowTo webhook={w} />
      <Calls id={w.id} />
      {can(viewer, 'inboundwebhook.update') && <Edit key={w.etag} webhook={w} />}
      {asking && <Confirm title={t('Rotate the signing secret?')} verb={t('Rotate')} close={() => { setAsking(false); }} act={async () => { const o = await rotate({ input: { id: w.id, ifMatch: w.etag } }); setAsking(false); if (o.data) setSecret(o.data.rotateInboundWebhookSecret.signingSecret); }}><p>{t('For one day, calls may also be signed with the old secret.')}</p></Confirm>}
      {secret && <Once title={t('The new signing secret')} label={t('Signing secret')} value={secret} close={() => { setSecret(''); }} />}
    </>
  );
}

function Edit({ webhook: w }: { webhook: InboundFullFragment }) {
  const workflows = useWorkflowChoices();
  const offerings = useOfferingChoices().flatMap((s) => rows(s.offerings).map((o) => ({ id: o.id, name: `${s.name} › ${o.name}` })));
  const saved = { name: w.name, workflowId: w.workflowId, offeringId: w.offeringId ?? '', when: w.when ?? '', mapping: flat(w.fieldMapping), headers: w.headers?.join(' ') ?? null, style: w.signatureStyle, settings: { ...noSettings, ...w.signature }, verify: w.verifySignature };
  const [draft, set, forget, base] = useDraft(draftOf(w), saved, w.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(UpdateInbound, true);
  const send = async () => {
    const signature = sent(draft.style, draft.settings);
    const signed = JSON.stringify([draft.style, signature]) !== JSON.stringify([w.signatureStyle, sent(w.signatureStyle, saved.settings)]);
    const mapped = draft.offeringId === '' ? {} : draft.mapping;
    const now = {
      name: draft.name, workflowId: draft.workflowId, offeringId: draft.offeringId || null, when: draft.when.trim() || null, headers: draft.headers === null ? null : draft.headers.split(/[\s,]+/).filter(Boolean),
      signatureStyle: draft.style, verifySignature: draft.verify, ...(JSON.stringify(nested(mapped)) === JSON.stringify(nested(saved.mapping)) ? {} : { fieldMapping: nested(mapped) as never }),
    };
    const changed = { ...differing(now, w), ...(signed ? { signatureStyle: draft.style, signature } : {}) };
    const o = Object.keys(changed).length > 0 ? await run({ input: { id: w.id, ...base.match, ...changed } }) : null;
    setFault(o?.fault ?? null);
    if (o?.fault) return;
    forget();
    toast({ text: t('The webhook was saved.') });
    focusSoon(() => globalThis.document.querySelector<HTMLElement>('main [type=submit]')); // the form is another one now
  };
  const headers = fault?.details.filter((d) => d.field.startsWith('headers')).map((d) => `${d.field} ${d.message}`).join(' ') || undefined;
  return (
    <Section title={t('What it does')}>
      <form className="card stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <div className="pair">
          <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
          <Field label={t('Workflow')} fault={faultAt(fault, 'workflowId')}><select value={draft.workflowId} onChange={(e) => { set({ ...draft, workflowId: e.target.value }); }}><Choices of={workflows} now={draft.workflowId} /></select></Field>
        </div>
        <Condition scope="INBOUND_WHEN" id={w.id} label={t('Which calls count')} optional hint={t('All others are ignored. Without a condition every call counts.')} value={draft.when} problem={faultAt(fault, 'when')} onChange={(when) => { set({ ...draft, when }); }} />
        <Field label={t('Submits a request for')} optional hint={t('Each call submits one.')} fault={faultAt(fault, 'offeringId')}><select value={draft.offeringId} onChange={(e) => { set({ ...draft, offeringId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={offerings} now={draft.offeringId} /></select></Field>
        {draft.offeringId !== '' && <MappingRows id={w.id} offeringId={draft.offeringId} value={draft.mapping} set={(mapping) => { set({ ...draft, mapping }); }} fault={fault} />}
        <Signing style={draft.style} settings={draft.settings} set={(style, settings) => { set({ ...draft, style, settings }); }} fault={fault} />
        <Check label={t('Keep only the usual event headers')} checked={draft.headers === null} set={(usual) => { set({ ...draft, headers: usual ? null : '' }); }} />
        {draft.headers !== null && <Field label={t('Headers to keep')} optional hint={t('Header names, separated by spaces. * keeps all except known credentials.')} fault={headers}><input className="mono" spellCheck={false} value={draft.headers} onChange={(e) => { set({ ...draft, headers: e.target.value }); }} /></Field>}
        <Check label={t('Calls must be signed')} checked={draft.verify} set={(verify) => { set({ ...draft, verify }); }} />
        <Rest base={base} fault={fault} fields={['name', 'workflowId', 'offeringId', 'when', 'signatureStyle', ...(fault?.details.map((d) => d.field).filter((f) => /^(fieldMapping|headers|signature\.)/.test(f)) ?? [])]} />
        <footer>
          {(hasDraft(draftOf(w)) || JSON.stringify(draft) !== JSON.stringify(saved)) && <button type="button" className="plain" onClick={() => { set(saved); forget(); }}>{t('Discard')}</button>}
          <button type="submit" disabled={busy}>{t('Save')}</button>
        </footer>
      </form>
    </Section>
  );
}
