// new makes an inbound webhook: for which sender, then what a call does. What the sender needs is set by its preset, and can be changed
// later.
import { useMemo, useState } from 'react';
import { useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { t } from '../../app/text';
import { CreateInbound, InboundOffering } from '../../gen/documents';
import type { InboundPresetFullFragment } from '../../gen/types';
import { OfferingOptions, useOfferingChoices, useWorkflowChoices } from '../../parts/choices';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { focusSoon } from '../../ui/focus';
import { sampleFields } from './example';
import { usePresets } from './howto';
import { flat, isOpen, nested, type Mapping, type Question } from './mapping';
import { MappingRow, targetOf } from './mappingrows';
import { Signing } from './signature';
import { noSettings, sent, type Settings } from './signing';

export interface Made { id: string; secret: string; url: string; shown: boolean }
interface Props { close: () => void; made: (webhook: Made) => void }

export function NewInbound({ close, made }: Props) {
  const presets = usePresets();
  const [key, setKey] = useState('');
  const preset = presets.find((p) => p.key === key);
  const choose = (to: string) => {
    setKey(to);
    focusSoon(() => document.querySelector<HTMLElement>(to ? 'dialog form input' : 'dialog .senders button')); // not said
  };
  return (
    <Dialog title={preset ? t('New inbound webhook: {sender}', { sender: preset.name }) : t('New inbound webhook')} close={close} wide>
      {preset ? <Form key={key} preset={preset} back={() => { choose(''); }} made={made} /> : (
        <div className="stack">
          <p>{t('Who calls?')}</p>
          <ul className="senders">{presets.map((p) => <li key={p.key}><button type="button" className="plain sender" onClick={() => { choose(p.key); }}><strong>{p.name}</strong><span className="soft small-text">{p.description}</span></button></li>)}</ul>
        </div>
      )}
    </Dialog>
  );
}

interface Draft { name: string; does: 'request' | 'workflow'; workflowId: string; offeringId: string; secret: string; settings: Settings; answers: Mapping }

function Form({ preset: p, back, made }: { preset: InboundPresetFullFragment; back: () => void; made: (webhook: Made) => void }) {
  const workflows = useWorkflowChoices();
  const services = useOfferingChoices();
  const [draft, set, forget, base] = useDraft<Draft>(`inbound:${p.key}`, { name: p.name, does: 'request', workflowId: '', offeringId: '', secret: '', settings: { ...noSettings, ...p.signature }, answers: {} });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CreateInbound, true);
  const files = draft.does === 'request';
  const offering = useRead(InboundOffering, { id: draft.offeringId }, !files || !draft.offeringId).data?.offering;
  const own = files && offering?.id === draft.offeringId ? offering.workflowId : null; // the offering's own workflow goes on with the request
  const asked = files && offering?.id === draft.offeringId ? ((offering.form as { fields?: Question[] } | null)?.fields ?? []).filter((q) => isOpen(q) && q.type !== 'file').map(targetOf) : [];
  const mapping = nested({ ...flat(p.fieldMapping), ...Object.fromEntries(asked.map((x) => [x.name, draft.answers[x.name] ?? ''])) });
  const send = async () => {
    const o = await run({ input: {
      name: draft.name, workflowId: own ?? draft.workflowId, preset: p.key, signatureStyle: p.signatureStyle, signature: sent(p.signatureStyle, draft.settings),
      headers: p.headers as string[] | null, when: p.when, ...(files ? { offeringId: draft.offeringId || null, ...(draft.offeringId ? { fieldMapping: mapping as never } : {}) } : {}),
      ...(draft.secret ? { signingSecret: draft.secret } : {}),
    } });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    const { inboundWebhook: w, signingSecret } = o.data.createInboundWebhook;
    made({ id: w.id, secret: signingSecret, url: w.url, shown: draft.secret === '' && !p.secretBySender });
  };
  const does = { request: t('It submits a request'), workflow: t('It starts a workflow') };
  return (
    <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
      <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
      <fieldset className="stack"><legend>{t('What a call does')}</legend>{(Object.keys(does) as (keyof typeof does)[]).map((k) => <label key={k} className="check"><input type="radio" name="does" checked={draft.does === k} onChange={() => { set({ ...draft, does: k, workflowId: '' }); }} /><span>{does[k]}</span></label>)}</fieldset>
      {files && <Field label={t('Submits a request for')} hint={t('Each call submits one.')} fault={faultAt(fault, 'offeringId')}><select value={draft.offeringId} onChange={(e) => { set({ ...draft, offeringId: e.target.value, workflowId: '' }); }}><option value="">{t('Choose…')}</option><OfferingOptions of={services} /></select></Field>}
      {asked.length > 0 && <Asked of={asked} preset={p} value={draft.answers} set={(answers) => { set({ ...draft, answers }); }} fault={fault} />}
      {!(files && own) && <Field label={t('Workflow')} hint={t('Each call starts it.')} fault={faultAt(fault, 'workflowId')}><select value={draft.workflowId} onChange={(e) => { set({ ...draft, workflowId: e.target.value }); }}><option value="">{t('Choose…')}</option>{workflows.map((w) => <option key={w.id} value={w.id}>{w.name}</option>)}</select></Field>}
      {p.signatureStyle === 'sns' || p.signatureStyle === 'basic' ? <Signing fixed style={p.signatureStyle} settings={draft.settings} fault={fault} set={(_, settings) => { set({ ...draft, settings }); }} /> : null}
      {p.secretBySender && <Field label={t('Secret')} optional hint={t('{sender} shows it once the address is entered there. You can enter it later.', { sender: p.name })} fault={faultAt(fault, 'signingSecret')}><input type="password" autoComplete="off" className="mono" value={draft.secret} onChange={(e) => { set({ ...draft, secret: e.target.value }); }} /></Field>}
      <Rest base={base} fault={fault} fields={['name', 'offeringId', 'signingSecret', ...asked.map((x) => `fieldMapping.${x.name}`), ...(files && own ? [] : ['workflowId'])]} />
      <footer><button type="button" className="plain" onClick={back}>{t('Back')}</button><button type="submit" disabled={busy || (files && offering?.id !== draft.offeringId)}>{t('Create')}</button></footer>
    </form>
  );
}

interface AskedProps { of: ReturnType<typeof targetOf>[]; preset: InboundPresetFullFragment; value: Mapping; set: (to: Mapping) => void; fault: Fault | null }

// Asked are the questions that each request must answer, with the values of the sender's sample to choose from.
function Asked({ of, preset: p, value, set, fault }: AskedProps) {
  const fields = useMemo(() => sampleFields(p.sampleBody, t('In a call of {sender}', { sender: p.name })), [p]);
  return (
    <fieldset className="stack mapping">
      <legend>{t('What answers the required questions')}</legend>
      {of.map((x) => <MappingRow key={x.name} target={x} fields={fields} trying={false} value={value[x.name] ?? ''} fault={faultAt(fault, `fieldMapping.${x.name}`)} set={(to) => { set({ ...value, [x.name]: to }); }} />)}
    </fieldset>
  );
}
