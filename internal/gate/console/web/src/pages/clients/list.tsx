import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { CreateClient, DeleteClient, OAuthClients, UpdateClient } from '../../gen/documents';
import type { ClientRowFragment } from '../../gen/types';
import { Scopes } from '../../parts/scopes';
import { Subpages } from '../../parts/subpages';
import { Badge, Time } from '../../ui/bits';
import { Confirm, Copyable, Dialog, Once } from '../../ui/dialog';
import { Check, Field, Rest } from '../../ui/field';
import { useDraft } from '../../ui/draft';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

const identity: [string, string][] = [['openid', t('Know who signs in')], ['profile', t('Read their name')], ['email', t('Read their e-mail address')], ['offline_access', t('Stay signed in')]];

// ClientList is applications that obtain tokens for people.
export default function ClientList() {
  const read = usePages(OAuthClients, { first: 50 });
  const [creates, updates, removes] = [useCan('oauthclient.create'), useCan('oauthclient.update'), useCan('oauthclient.delete')];
  const [gone, setGone] = useAsked<ClientRowFragment | null>('gone', null);
  const [once, setOnce] = useState<{ secret: string; id: string } | null>(null);
  const [remove] = useWrite(DeleteClient);
  const list = rows(read.data?.oauthClients);
  const [edit, setEdit] = useOpened(list);
  return (
    <Page title={t('OAuth clients')} verb="oauthclient.read" intro={t('Applications that people sign in to with their Atrium account.')} tabs={<Subpages of="keys" />} actions={creates && <button type="button" onClick={() => { setEdit('new'); }}>{t('New OAuth client')}</button>}>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={t('There are no OAuth clients')}><p>{t('Register an application to let people sign in to it.')}</p></Empty> : (
          <><ul className="rows">
            {list.map((c) => (
              <li key={c.id} className="row">
                <div><Name row={c} may={updates} /><div className="meta"><code>{c.clientId}</code><Badge value={c.confidential ? 'active' : 'off'}>{c.confidential ? t('Confidential') : t('Public')}</Badge>{c.redirectUris.map((u) => <code key={u}>{u}</code>)}<Time at={c.createdAt} /></div></div>
                <div className="verbs">
                  {updates && <button type="button" className="plain small" aria-label={t('Edit {name}', { name: c.name })} onClick={() => { setEdit(c); }}>{t('Edit')}</button>}
                  {removes && <button type="button" className="danger-plain small" aria-label={t('Delete {name}', { name: c.name })} onClick={() => { setGone(c); }}>{t('Delete')}</button>}
                </div>
              </li>
            ))}
          </ul>
          <More shown={list.length} total={read.data?.oauthClients?.totalCount} page={read.data?.oauthClients?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
      {edit && <Editor client={edit === 'new' ? null : edit} close={() => { setEdit(null); }} saved={(secret, id) => { read.again(); if (secret) setOnce({ secret, id }); }} />}
      {once && <Once title={t('The client secret')} label={t('Client secret')} value={once.secret} close={() => { setOnce(null); }}><p className="soft">{t('The client ID:')}</p><Copyable label={t('Client ID')} value={once.id} /></Once>}
      {gone && <Confirm title={t('Delete “{name}”?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id, ifMatch: gone.etag } }); if (!o.fault) toast({ text: t('The client was deleted.') }); setGone(null); read.again(); }}><p>{t('Its tokens stop working.')}</p></Confirm>}
    </Page>
  );
}

function Editor({ client: c, close, saved }: { client: ClientRowFragment | null; close: () => void; saved: (secret: string | null | undefined, id: string) => void }) {
  const [draft, set, forget, base] = useDraft(`client ${c?.id ?? 'new'}`, { name: c?.name ?? '', redirectUris: c?.redirectUris.join('\n') ?? '', scopes: c?.scopes ?? ['openid', 'profile', 'email'], confidential: c?.confidential ?? false }, c?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, making] = useWrite(CreateClient, true);
  const [update, saving] = useWrite(UpdateClient, true);
  const send = async () => {
    const fields = { name: draft.name, redirectUris: draft.redirectUris.split(/\s+/).filter(Boolean), scopes: draft.scopes };
    const done = c ? await update({ input: { id: c.id, ...base.match, ...fields } }) : await create({ input: { ...fields, confidential: draft.confidential } });
    setFault(done.fault);
    if (!done.data) return;
    forget();
    close();
    if ('createOAuthClient' in done.data) saved(done.data.createOAuthClient.clientSecret, done.data.createOAuthClient.oauthClient.clientId);
    else saved(null, '');
    toast({ text: c ? t('The client was saved.') : t('The client was registered.') });
  };
  const at = (name: string) => fault?.details.filter((d) => d.field === name || d.field.startsWith(`${name}[`)).map((d) => d.message).join(' ') || undefined;
  return (
    <Dialog title={c ? t('OAuth client “{name}”', { name: c.name }) : t('New OAuth client')} close={close} wide>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={at('name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Redirect URIs')} hint={t('Where people return to after signing in, one per line. They must match exactly.')} fault={at('redirectUris')}><textarea className="mono" rows={3} value={draft.redirectUris} placeholder={'https://app.example.com/callback'} onChange={(e) => { set({ ...draft, redirectUris: e.target.value }); }} /></Field>
        {!c && <Check label={t('Confidential')} hint={t('For applications with a server that can keep a secret, not for web pages and mobile apps.')} checked={draft.confidential} set={(confidential) => { set({ ...draft, confidential }); }} />}
        <Scopes chosen={draft.scopes} set={(scopes) => { set({ ...draft, scopes }); }} fault={at('scopes')} more={identity} />
        <Rest base={base} fault={fault} fields={['name', ...(fault?.details.map((d) => d.field).filter((f) => /^(redirectUris|scopes)/.test(f)) ?? [])]} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{c ? t('Save') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
