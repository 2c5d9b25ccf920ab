import { useState } from 'react';
import { useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { t } from '../../app/text';
import { CreateSubscriber, UpdateSubscriber } from '../../gen/documents';
import type { SubscriberFragment } from '../../gen/types';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { toast } from '../../ui/toast';
import { events } from './events';

interface EditorProps { subscriber: SubscriberFragment | null; close: () => void; made?: (secret: string) => void }

// Editor says where events go, and which.
export function Editor({ subscriber: s, close, made }: EditorProps) {
  const [draft, set, forget, base] = useDraft(`webhook ${s?.id ?? 'new'}`, { url: s?.url ?? '', description: s?.description ?? '', events: s?.events ?? [] }, s?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, making] = useWrite(CreateSubscriber, true);
  const [update, saving] = useWrite(UpdateSubscriber, true);
  const send = async () => {
    const input = { ...draft, description: draft.description || null };
    const o = s ? await update({ input: { id: s.id, ...base.match, ...input } }) : await create({ input });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    close();
    if ('createWebhookSubscription' in o.data) made?.(o.data.createWebhookSubscription.signingSecret);
    else toast({ text: t('The webhook was saved.') });
  };
  return (
    <Dialog title={s ? t('Edit webhook') : t('New webhook')} close={close} wide>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('URL')} hint={t('An https address on the public internet.')} fault={faultAt(fault, 'url')}><input type="url" placeholder={'https://'} value={draft.url} onChange={(e) => { set({ ...draft, url: e.target.value }); }} /></Field>
        <fieldset aria-describedby={faultAt(fault, 'events') ? 'events-fault' : undefined}>
          <legend>{t('Events')}</legend>
          <div className="checks">{[...events, ...draft.events.filter((e) => !events.includes(e))].map((e) => <Check key={e} label={e} checked={draft.events.includes(e)} set={(on) => { set({ ...draft, events: on ? [...draft.events, e] : draft.events.filter((x) => x !== e) }); }} />)}</div>
          {faultAt(fault, 'events') && <p className="fault" id="events-fault">{faultAt(fault, 'events')}</p>}
        </fieldset>
        <Field label={t('Description')} optional fault={faultAt(fault, 'description')}><input dir="auto" value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} /></Field>
        <Rest base={base} fault={fault} fields={['url', 'events', 'description']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{s ? t('Save') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
