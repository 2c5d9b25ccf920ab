// howto says how the sender of an inbound webhook is set up, and how to call it by hand.
import { useState } from 'react';
import { useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { InboundPresets, RotateInbound } from '../../gen/documents';
import type { InboundFullFragment, InboundPresetFullFragment } from '../../gen/types';
import { Copyable, Dialog } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { Section } from '../../ui/page';
import { toast } from '../../ui/toast';
import { exampleBody } from './example';
import { flat } from './mapping';
import { curl, noSettings, styleNames } from './signing';

// usePresets are the senders that webhooks can be made for.
export const usePresets = (pause = false): readonly InboundPresetFullFragment[] => useRead(InboundPresets, {}, pause).data?.inboundPresets ?? [];

export function HowTo({ webhook: w }: { webhook: InboundFullFragment }) {
  const preset = usePresets(!w.preset).find((p) => p.key === w.preset);
  const may = useCan('inboundwebhook.rotate');
  const [giving, setGiving] = useState(false);
  const example = { body: exampleBody(preset?.sampleBody, [w.when ?? '', ...Object.values(flat(w.fieldMapping))]), headers: (preset?.sampleHeaders ?? {}) as Record<string, string> };
  return (
    <Section title={t('How to call it')} actions={may && w.signatureStyle !== 'sns' && <button type="button" className="plain" onClick={() => { setGiving(true); }}>{t('Enter the sender’s secret')}</button>}>
      <div className="card pad stack">
        <Copyable label={t('Address')} value={w.url} />
        {preset && (
          <div>
            <h3>{t('At {sender}', { sender: preset.name })}</h3>
            <ol className="todo-there">{preset.steps.map((step) => <Step key={step} text={step} url={w.url} />)}</ol>
          </div>
        )}
        <details open={!preset}>
          <summary>{t('Example call')}</summary>
          <div className="stack">
            {w.verifySignature && w.signatureStyle !== 'sns' && <p className="soft">{t('Signature: {style}. SECRET is the webhook’s secret.', { style: styleNames[w.signatureStyle] })}</p>}
            <Copyable label={t('Example call')} value={curl(w.url, w.signatureStyle, { ...noSettings, ...w.signature }, w.verifySignature, example)} />
          </div>
        </details>
      </div>
      {giving && <Give webhook={w} close={() => { setGiving(false); }} />}
    </Section>
  );
}

// Step is one thing to do; what is to be pasted as a whole can be copied.
function Step({ text, url }: { text: string; url: string }) {
  const [says = '', ...snippet] = text.split('\n\n');
  const [before = '', after] = says.split('{url}');
  const pasted = snippet.join('\n\n').replaceAll('{url}', url).replaceAll('{secret}', '$SECRET'); // not said
  return <li>{before}{after !== undefined && <><code>{url}</code>{after}</>}{pasted && <Copyable label={before} value={pasted} />}</li>;
}

// Give takes the secret that the sender has drawn.
function Give({ webhook: w, close }: { webhook: InboundFullFragment; close: () => void }) {
  const [secret, setSecret] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(RotateInbound, true);
  const send = async () => {
    const o = await run({ input: { id: w.id, ifMatch: w.etag, signingSecret: secret, overlapSeconds: 0 } });
    setFault(o.fault);
    if (!o.data) return;
    close();
    toast({ text: t('The secret was saved. Calls must be signed with it from now on.') });
  };
  return (
    <Dialog title={t('The sender’s secret')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Secret')} hint={t('As the sender shows it, 16 to 256 characters. It replaces the present secret at once.')} fault={faultAt(fault, 'signingSecret')}><input type="password" autoComplete="off" className="mono" value={secret} onChange={(e) => { setSecret(e.target.value); }} /></Field>
        <Rest fault={fault} fields={['signingSecret']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy || secret === ''}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}
