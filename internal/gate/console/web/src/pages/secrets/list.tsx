import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import { CreateSecret, DeleteSecret, RotateSecret, Secrets, UpdateSecret } from '../../gen/documents';
import type { SecretRowFragment } from '../../gen/types';
import { Badge, Time } from '../../ui/bits';
import { Confirm, Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultBelow, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

// SecretList is the named values that workflows use. Nothing here ever shows one.
export default function SecretList() {
  const read = usePages(Secrets, { first: 50 });
  const viewer = useViewer();
  const [gone, setGone] = useAsked<SecretRowFragment | null>('gone', null);
  const [sent, setSent] = useAsked<SecretRowFragment | null>('sent', null);
  const [remove] = useWrite(DeleteSecret);
  const list = rows(read.data?.secrets);
  const [edit, setEdit] = useOpened(list);
  return (
    <Page title={t('Secrets')} verb="secret.read" intro={placed(t('Values that workflows use as {name}. Nobody can read them back.'), { name: <code>{'${secrets.NAME}'}</code> })} actions={can(viewer, 'secret.create') && <button type="button" onClick={() => { setEdit('new'); }}>{t('New secret')}</button>}>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={t('There are no secrets yet')}><p>{t('Store the tokens with which your workflows call other systems here.')}</p></Empty> : (
          <>
            <div className="table-wrap cards-when-narrow">
              <table>
                <thead><tr><th scope="col">{t('Name')}</th><th scope="col">{t('May be sent to')}</th><th scope="col">{t('Version')}</th><th scope="col">{t('Last used')}</th><th scope="col">{t('Changed')}</th><th scope="col"><span className="hidden">{t('Actions')}</span></th></tr></thead>
                <tbody>
                  {list.map((s) => (
                    <tr key={s.id}>
                      <td><Name row={s} may={can(viewer, 'secret.update')}><code>{s.name}</code></Name>{s.description && <span className="sub" dir="auto">{s.description}</span>}</td>
                      <td data-label={t('May be sent to')}><Hosts of={s} /></td>
                      <td className="tight" data-label={t('Version')}>{s.version}</td>
                      <td className="tight" data-label={t('Last used')}><Time at={s.lastUsedAt} none={t('Never')} /></td>
                      <td className="tight" data-label={t('Changed')}><Time at={s.updatedAt} /></td>
                      <td className="tight"><span className="line">
                        {can(viewer, 'secret.update') && <button type="button" className="plain small" aria-label={t('Rotate {name}', { name: s.name })} onClick={() => { setEdit(s); }}>{t('Rotate')}</button>}
                        {can(viewer, 'secret.update') && <button type="button" className="plain small" aria-label={t('Hosts of {name}', { name: s.name })} onClick={() => { setSent(s); }}>{t('Hosts')}</button>}
                        {can(viewer, 'secret.delete') && <button type="button" className="danger-plain small" aria-label={t('Delete {name}', { name: s.name })} onClick={() => { setGone(s); }}>{t('Delete')}</button>}
                      </span></td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <More shown={list.length} total={read.data?.secrets?.totalCount} page={read.data?.secrets?.pageInfo} next={read.next} />
          </>
        ))}
      </Loaded>
      {edit && <Edit secret={edit === 'new' ? null : edit} close={() => { setEdit(null); }} />}
      {sent && <EditHosts secret={sent} close={() => { setSent(null); }} />}
      {gone && <Confirm title={t('Delete {name}?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id } }); if (!o.fault) toast({ text: t('{name} was deleted.', { name: gone.name }) }); setGone(null); }}><p>{t('Its value cannot be recovered. It cannot be deleted while published workflows use it.')}</p></Confirm>}
    </Page>
  );
}

// Hosts says where a secret may be sent. One from before there were hosts is marked: it goes everywhere until somebody names some.
function Hosts({ of: { allowedHosts: list } }: { of: SecretRowFragment }) {
  if (!list) return <Badge value="WARNING">{t('Anywhere: no hosts are set yet')}</Badge>;
  return list.includes('*') ? <>{t('Anywhere')}</> : <span className="mono">{list.join(', ')}</span>;
}

const hint = t('The only hosts to which workflows and models may send it, one per line, such as api.example.com. *.example.com stands for every name below example.com, * alone for all hosts.');
const listed = (text: string) => text.split(/[\s,]+/).filter(Boolean);

// EditHosts changes where a secret may be sent. What is added takes a proof of who does it, what is taken away does not.
function EditHosts({ secret, close }: { secret: SecretRowFragment; close: () => void }) {
  const [draft, set, forget, base] = useDraft(`secret-hosts ${secret.id}`, { hosts: secret.allowedHosts?.join('\n') ?? '' }, secret.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [update, saving] = useWrite(UpdateSecret, true);
  const send = async () => {
    const o = await update({ input: { id: secret.id, allowedHosts: listed(draft.hosts), ...base.match } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    toast({ text: t('The hosts of {name} were saved.', { name: secret.name }) });
  };
  return (
    <Dialog title={t('Where {name} may be sent', { name: secret.name })} close={close}>
      <form className="stack" noValidate autoComplete="off" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Hosts')} hint={hint} fault={faultBelow(fault, 'allowedHosts')}><textarea className="mono" rows={4} spellCheck={false} value={draft.hosts} placeholder={'api.example.com'} onChange={(e) => { set({ hosts: e.target.value }); }} /></Field>
        <p className="soft">{t('A call to any other host stops with a workflow error and sends nothing.')}</p>
        <Rest base={base} fault={fault} fields={hostFaults(fault)} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={saving}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}

const hostFaults = (fault: Fault | null) => fault?.details.map((d) => d.field).filter((f) => f.startsWith('allowedHosts')) ?? [];

function Edit({ secret, close }: { secret: SecretRowFragment | null; close: () => void }) {
  const [draft, set, forget, base] = useDraft('secret', { name: '', description: '', hosts: '' });
  const [value, setValue] = useState(''); // never in a draft
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, making] = useWrite(CreateSecret, true);
  const [rotate, rotating] = useWrite(RotateSecret, true);
  const send = async () => {
    const o = secret ? await rotate({ input: { id: secret.id, value, ifMatch: secret.etag } }) : await create({ input: { name: draft.name, value, allowedHosts: listed(draft.hosts), ...(draft.description ? { description: draft.description } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    if (!secret) forget();
    close();
    toast({ text: secret ? t('{name} has a new value.', { name: secret.name }) : t('{name} was created.', { name: draft.name }) });
  };
  return (
    <Dialog title={secret ? t('Rotate {name}', { name: secret.name }) : t('New secret')} close={close}>
      <form className="stack" noValidate autoComplete="off" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        {!secret && <Field label={t('Name')} hint={t('Uppercase letters, digits and underscores, such as GITHUB_TOKEN.')} fault={faultAt(fault, 'name')}><input className="mono" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value.toUpperCase() }); }} /></Field>}
        <Field label={t('Value')} hint={t('At most 64 KiB. Nobody can read it back.')} fault={faultAt(fault, 'value')}><textarea className="mono" autoComplete="off" spellCheck={false} value={value} onChange={(e) => { setValue(e.target.value); }} /></Field>
        {!secret && <Field label={t('Hosts')} hint={hint} fault={faultBelow(fault, 'allowedHosts')}><textarea className="mono" rows={3} spellCheck={false} value={draft.hosts} placeholder={'api.example.com'} onChange={(e) => { set({ ...draft, hosts: e.target.value }); }} /></Field>}
        {!secret && <Field label={t('Description')} optional fault={faultAt(fault, 'description')}><input dir="auto" value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} /></Field>}
        <Rest base={secret ? undefined : base} fault={fault} fields={['name', 'value', 'description', ...hostFaults(fault)]} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || rotating}>{secret ? t('Rotate') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
