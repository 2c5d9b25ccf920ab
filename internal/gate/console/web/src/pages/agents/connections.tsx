import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, useAll, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { CreateModelConnection, DeleteModelConnection, ModelConnections, UpdateModelConnection } from '../../gen/documents';
import type { ConnectionRowFragment } from '../../gen/types';
import { Confirm, Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { Loaded, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

// Connections is where the company's language models are asked.
export function Connections() {
  const viewer = useViewer();
  const read = useAll(ModelConnections, {}, !can(viewer, 'modelconnection.read'));
  const [edited, edit] = useAsked<ConnectionRowFragment | 'new' | null>('connection', null);
  const [gone, remove] = useAsked<ConnectionRowFragment | null>('connection-gone', null);
  const [del] = useWrite(DeleteModelConnection);
  const list = rows(read.data?.modelConnections);
  if (!can(viewer, 'modelconnection.read')) return null;
  const close = () => { edit(null); remove(null); read.again(); };
  return (
    <Section title={t('Model connections')} intro={t('Where AI agents reach a language model: addresses that support OpenAI’s chat completions.')}
      actions={can(viewer, 'modelconnection.create') && <button type="button" className="plain" onClick={() => { edit('new'); }}>{t('New connection')}</button>}>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={t('There are no model connections')}><p>{t('AI agents decide based on completed requests, or with the server’s own model if it has one.')}</p></Empty> : (
          <ul className="rows">
            {list.map((c) => (
              <li key={c.id} className="row">
                <div><strong dir="auto">{c.name}</strong> <span className="soft">· {c.models.join(', ')}</span><br /><code>{c.baseUrl}</code></div>
                <div className="line">
                  {can(viewer, 'modelconnection.update') && <button type="button" className="plain" aria-label={t('Edit {name}', { name: c.name })} onClick={() => { edit(c); }}>{t('Edit')}</button>}
                  {can(viewer, 'modelconnection.delete') && <button type="button" className="danger-plain" aria-label={t('Delete {name}', { name: c.name })} onClick={() => { remove(c); }}>{t('Delete')}</button>}
                </div>
              </li>
            ))}
          </ul>
        ))}
      </Loaded>
      {edited && <Edit of={edited === 'new' ? null : edited} close={close} />}
      {gone && <Confirm title={t('Delete “{name}”?', { name: gone.name })} verb={t('Delete')} close={close} act={async () => { await del({ input: { id: gone.id } }); close(); }}><p>{t('It cannot be deleted while an AI agent uses it.')}</p></Confirm>}
    </Section>
  );
}

function Edit({ of: c, close }: { of: ConnectionRowFragment | null; close: () => void }) {
  const [draft, set, forget, base] = useDraft(`connection ${c?.id ?? 'new'}`, { name: c?.name ?? '', baseUrl: c?.baseUrl ?? 'https://', secretName: c?.secretName ?? '', models: c?.models.join(', ') ?? '' }, c?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, creating] = useWrite(CreateModelConnection, true);
  const [update, updating] = useWrite(UpdateModelConnection, true);
  const send = async () => {
    const input = { name: draft.name, baseUrl: draft.baseUrl, secretName: draft.secretName || null, models: draft.models.split(',').map((m) => m.trim()).filter(Boolean) };
    const o = c ? await update({ input: { id: c.id, ...base.match, ...input } }) : await create({ input: { kind: 'openai', ...input } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    toast({ text: t('The connection was saved.') });
    close();
  };
  return (
    <Dialog title={c ? t('Edit “{name}”', { name: c.name }) : t('New model connection')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Address')} hint={t('An https address, without chat/completions at the end.')} fault={faultAt(fault, 'baseUrl')}><input className="mono" value={draft.baseUrl} onChange={(e) => { set({ ...draft, baseUrl: e.target.value }); }} /></Field>
        <Field label={t('Secret')} optional hint={t('The name of the secret that contains its key.')} fault={faultAt(fault, 'secretName')}><input className="mono" value={draft.secretName} onChange={(e) => { set({ ...draft, secretName: e.target.value }); }} /></Field>
        <Field label={t('Models')} hint={t('Their names there, separated by commas. AI agents use the first one.')} fault={faultAt(fault, 'models')}><input className="mono" value={draft.models} onChange={(e) => { set({ ...draft, models: e.target.value }); }} /></Field>
        <Rest base={base} fault={fault} fields={['name', 'baseUrl', 'secretName', 'models']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={creating || updating}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}
