import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, givesRole, roleWord, useCan, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import { CreateAccount, CreateAccountKey, DeleteAccount, ServiceAccounts, UpdateAccount } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { AccountFragment, Role } from '../../gen/types';
import { Scopes } from '../../parts/scopes';
import { Subpages } from '../../parts/subpages';
import { Badge, Time } from '../../ui/bits';
import { Confirm, Dialog, Once } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

// AccountList is callers that are no people: API keys stand on them, and stay when people leave.
export default function AccountList() {
  const read = usePages(ServiceAccounts, { first: 50 });
  const [creates, updates, removes, keys] = [useCan('serviceaccount.create'), useCan('serviceaccount.update'), useCan('serviceaccount.delete'), useCan('apikey.create')];
  const viewer = useViewer();
  const [gone, setGone] = useAsked<AccountFragment | null>('gone', null);
  const [keyOf, setKeyOf] = useAsked<AccountFragment | null>('key', null);
  const [once, setOnce] = useState('');
  const [update] = useWrite(UpdateAccount);
  const [remove] = useWrite(DeleteAccount);
  const toggle = async (a: AccountFragment) => {
    const o = await update({ input: { id: a.id, ifMatch: a.etag, enabled: !a.enabled } });
    if (!o.data) return;
    const { etag } = o.data.updateServiceAccount.serviceAccount;
    toast({ text: a.enabled ? t('Its API keys no longer work.') : t('Its API keys work again.'), undo: () => { void update({ input: { id: a.id, ifMatch: etag, enabled: a.enabled } }); } });
  };
  const list = rows(read.data?.serviceAccounts);
  const [edit, setEdit] = useOpened(list);
  return (
    <Page live={t('Service accounts')} title={t('Service accounts')} verb="serviceaccount.read" intro={t('Accounts for programs. Their API keys stay valid when people leave.')} tabs={<Subpages of="keys" />} actions={creates && <button type="button" onClick={() => { setEdit('new'); }}>{t('New service account')}</button>}>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={t('There are no service accounts')}><p>{t('Create one for each program that works by itself.')}</p></Empty> : (
          <><ul className="rows">
            {list.map((a) => (
              <li key={a.id} className="row">
                <div><Name row={a} may={updates} /><div className="meta"><Badge value={a.enabled ? 'enabled' : 'disabled'} /><span>{roleWord[a.role]}</span><span>{placed(t('created {when}'), { when: <Time at={a.createdAt} /> })}</span></div></div>
                <div className="verbs">
                  {keys && a.enabled && (a.role !== 'owner' || can(viewer, 'apikey.act_as_owner')) && <button type="button" className="plain small" aria-label={t('New API key of {name}', { name: a.name })} onClick={() => { setKeyOf(a); }}>{t('New API key')}</button>}
                  {updates && givesRole(viewer, a.role) && <button type="button" className="plain small" aria-label={a.enabled ? t('Disable {name}', { name: a.name }) : t('Enable {name}', { name: a.name })} onClick={() => { void toggle(a); }}>{a.enabled ? t('Disable') : t('Enable')}</button>}
                  {updates && <button type="button" className="plain small" aria-label={t('Edit {name}', { name: a.name })} onClick={() => { setEdit(a); }}>{t('Edit')}</button>}
                  {removes && givesRole(viewer, a.role) && <button type="button" className="danger-plain small" aria-label={t('Delete {name}', { name: a.name })} onClick={() => { setGone(a); }}>{t('Delete')}</button>}
                </div>
              </li>
            ))}
          </ul>
          <More shown={list.length} total={read.data?.serviceAccounts?.totalCount} page={read.data?.serviceAccounts?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
      {edit && <Editor account={edit === 'new' ? null : edit} close={() => { setEdit(null); }} saved={read.again} />}
      {keyOf && <MakeKey account={keyOf} close={() => { setKeyOf(null); }} made={(v) => { setKeyOf(null); setOnce(v); }} />}
      {once && <Once title={t('The new API key')} label={t('API key')} value={once} close={() => { setOnce(''); }} />}
      {gone && <Confirm title={t('Delete “{name}”?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id, ifMatch: gone.etag } }); if (!o.fault) toast({ text: t('The service account was deleted.') }); setGone(null); read.again(); }}><p>{t('Its API keys are revoked with it.')}</p></Confirm>}
    </Page>
  );
}

function Editor({ account: a, close, saved }: { account: AccountFragment | null; close: () => void; saved: () => void }) {
  const [draft, set, forget, base] = useDraft(`account ${a?.id ?? 'new'}`, { name: a?.name ?? '', role: a?.role ?? 'agent' as Role }, a?.etag);
  const viewer = useViewer();
  const roles = enums.Role.toReversed().filter((r) => r === a?.role || (givesRole(viewer, r) && (!a || givesRole(viewer, a.role))));
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, making] = useWrite(CreateAccount, true);
  const [update, saving] = useWrite(UpdateAccount, true);
  const send = async () => {
    const o = a ? await update({ input: { id: a.id, ...base.match, name: draft.name, role: draft.role } }) : await create({ input: { name: draft.name, role: draft.role } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    saved();
    toast({ text: a ? t('The service account was saved.') : t('The service account was created.') });
  };
  return (
    <Dialog title={a ? t('Service account “{name}”', { name: a.name }) : t('New service account')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Role')} hint={t('Its keys can do no more than this role, whatever their scopes.')} fault={faultAt(fault, 'role')}><select value={draft.role} onChange={(e) => { set({ ...draft, role: e.target.value as Role }); }}>{roles.map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select></Field>
        <Rest base={base} fault={fault} fields={['name', 'role']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{a ? t('Save') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}

function MakeKey({ account: a, close, made }: { account: AccountFragment; close: () => void; made: (value: string) => void }) {
  const [draft, set, forget, base] = useDraft(`key ${a.id}`, { name: '', scopes: [] as string[] });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CreateAccountKey, true);
  const send = async () => {
    const o = await run({ input: { ...draft, serviceAccountId: a.id } });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    made(o.data.createApiKey.value);
  };
  return (
    <Dialog title={t('New API key of {name}', { name: a.name })} close={close} wide>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Scopes chosen={draft.scopes} set={(scopes) => { set({ ...draft, scopes }); }} fault={faultAt(fault, 'scopes')} />
        <Rest base={base} fault={fault} fields={['name', 'scopes']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
