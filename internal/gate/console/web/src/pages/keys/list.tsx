import { useState, type ReactNode } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { CreateKey, Keys, RevokeKey, RotateKey } from '../../gen/documents';
import type { KeyFragment } from '../../gen/types';
import { config } from '../../app/config';
import { can, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import { useOwners } from '../../parts/choices';
import { Scopes } from '../../parts/scopes';
import { Subpages } from '../../parts/subpages';
import { Badge, Time } from '../../ui/bits';
import { Confirm, Copyable, Dialog, Once } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';
import { example, signsItself } from './example';

// KeyList is the credentials of programs.
export default function KeyList() {
  const read = usePages(Keys, { first: 50 });
  const viewer = useViewer();
  const [making, setMaking] = useAsked('new-key', false);
  const [asking, setAsking] = useAsked<{ key: KeyFragment; verb: 'revoke' | 'rotate' } | null>('verb', null);
  const [once, setOnce] = useState<{ value: string; scopes: readonly string[] } | null>(null);
  const [revoke] = useWrite(RevokeKey);
  const [rotate] = useWrite(RotateKey);
  const act = async () => {
    if (!asking) return;
    if (asking.verb === 'revoke') {
      const o = await revoke({ input: { id: asking.key.id } });
      if (!o.fault) toast({ text: t('“{name}” is revoked.', { name: asking.key.name }) });
    } else {
      const o = await rotate({ input: { id: asking.key.id } });
      if (o.data) setOnce({ value: o.data.rotateApiKey.value, scopes: asking.key.scopes });
    }
    setAsking(null);
  };
  const list = rows(read.data?.apiKeys);
  const [shown, show] = useOpened(list);
  const behind = useOwners();
  const owner = (k: KeyFragment) => k.serviceAccountId ?? k.agentId ?? k.userId ?? '';
  const may = (k: KeyFragment, verb: string, ofOwner: string) => can(viewer, verb) && (behind?.get(owner(k))?.role !== 'owner' || can(viewer, ofOwner));
  const call = once && example(config.baseUrl, once.value, once.scopes);
  const verbs = (k: KeyFragment) => (
    <>
      {may(k, 'apikey.rotate', 'apikey.act_as_owner') && <button type="button" className="plain small" aria-label={t('Rotate {name}', { name: k.name })} onClick={() => { setAsking({ key: k, verb: 'rotate' }); }}>{t('Rotate')}</button>}
      {may(k, 'apikey.revoke', 'apikey.revoke_owner') && <button type="button" className="danger-plain small" aria-label={t('Revoke {name}', { name: k.name })} onClick={() => { setAsking({ key: k, verb: 'revoke' }); }}>{t('Revoke')}</button>}
    </>
  );
  return (
    <Page live={t('API keys')} title={t('API keys')} verb="apikey.read" intro={t('Credentials for programs. A key can do what both its scopes and its owner allow.')} tabs={<Subpages of="keys" />} actions={can(viewer, 'apikey.create') && <button type="button" onClick={() => { setMaking(true); }}>{t('New API key')}</button>}>
      <Loaded read={behind ? read : { ...read, data: undefined }}>
        {() => (list.length === 0 ? <Empty title={t('There are no API keys yet')}><p>{t('Create one for each program, with no more scopes than it needs.')}</p></Empty> : (
          <>
            <div className="table-wrap cards-when-narrow">
              <table>
                <thead><tr><th scope="col">{t('Name')}</th><th scope="col">{t('Key')}</th><th scope="col">{t('Scopes')}</th><th scope="col">{t('Status')}</th><th scope="col">{t('Last used')}</th><th scope="col">{t('Expires')}</th><th scope="col"><span className="hidden">{t('Actions')}</span></th></tr></thead>
                <tbody>
                  {list.map((k) => (
                    <tr key={k.id}>
                      <td><Name row={k} />{k.test && <> <Badge value="draft">{t('Test')}</Badge></>}<span className="sub">{placed(t('Owned by {who}, created {when}'), { who: behind?.get(owner(k))?.name ?? <code>{owner(k)}</code>, when: <Time at={k.createdAt} /> })}</span></td>
                      <td className="tight"><code>{k.prefix}…{k.last4}</code>{k.allowedIps.length > 0 && <span className="sub">{t('from {addresses}', { addresses: k.allowedIps.join(', ') })}</span>}</td>
                      <td><span className="chips">{k.scopes.slice(0, 4).map((s) => <span key={s} className="chip">{s}</span>)}{k.scopes.length > 4 && <span className="chip" title={k.scopes.slice(4).join(', ')}>+{k.scopes.length - 4}</span>}</span></td>
                      <td className="tight"><Badge value={k.status} /></td>
                      <td className="tight" data-label={t('Last used')}><Time at={k.lastUsedAt} none={t('Never')} /></td>
                      <td className="tight" data-label={t('Expires')}><Time at={k.expiresAt} none={t('Never')} /></td>
                      <td className="tight">
                        {k.status === 'active' && <span className="line">{verbs(k)}</span>}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <More shown={list.length} total={read.data?.apiKeys?.totalCount} page={read.data?.apiKeys?.pageInfo} next={read.next} />
          </>
        ))}
      </Loaded>
      {shown && shown !== 'new' && <Details of={shown} owner={behind?.get(owner(shown))?.name ?? owner(shown)} verbs={shown.status === 'active' ? verbs(shown) : null} close={() => { show(null); }} />}
      {making && <Make close={() => { setMaking(false); }} made={(value, scopes) => { setMaking(false); setOnce({ value, scopes }); }} />}
      {asking && (
        <Confirm title={asking.verb === 'revoke' ? t('Revoke “{name}”?', { name: asking.key.name }) : t('Rotate “{name}”?', { name: asking.key.name })} verb={asking.verb === 'revoke' ? t('Revoke') : t('Rotate')} close={() => { setAsking(null); }} act={act}>
          <p>{asking.verb === 'revoke' ? t('It stops working at once and permanently.') : t('The current value stops working at once. You get a new one with the same name and scopes.')}</p>
        </Confirm>
      )}
      {once && (
        <Once title={t('Your new API key')} label={t('API key')} value={once.value} close={() => { setOnce(null); }}>
          {call && <p className="soft">{t('Try it:')}</p>}
          {call && <Copyable label={t('Example call')} value={call} />}
          {call && signsItself(config.baseUrl) && <p className="soft small-text">{placed(t('This server signs its certificate itself. curl trusts it with {option} and the file {file} of the server’s data folder.'), { option: <code>{'--cacert'}</code>, file: <code>{'ca.pem'}</code> })}</p>}
        </Once>
      )}
    </Page>
  );
}

// Details are all that is kept of a key: its scopes and addresses are too many for its row.
function Details({ of: k, owner, verbs, close }: { of: KeyFragment; owner: string; verbs: ReactNode; close: () => void }) {
  return (
    <Dialog title={k.name} close={close}>
      <div className="stack">
        <dl className="card answers">
          {([[t('Key'), <code key="k">{k.prefix}…{k.last4}</code>], [t('Status'), <Badge key="s" value={k.status} />], [t('Owner'), owner], [t('Works in'), k.test ? t('The sandbox') : t('The live company')],
            [t('Scopes'), <span key="c" className="chips">{k.scopes.map((s) => <span key={s} className="chip">{s}</span>)}</span>], [t('Allowed addresses'), k.allowedIps.join(', ') || t('Anywhere')],
            [t('Created'), <Time key="m" at={k.createdAt} full />], [t('Last used'), <Time key="u" at={k.lastUsedAt} none={t('Never')} full />], [t('Expires'), <Time key="e" at={k.expiresAt} none={t('Never')} full />]] as const)
            .map(([name, value]) => <div key={name} className="contents"><dt>{name}</dt><dd>{value}</dd></div>)}
        </dl>
        <footer>{verbs}<button type="button" onClick={close}>{t('Done')}</button></footer>
      </div>
    </Dialog>
  );
}

function Make({ close, made }: { close: () => void; made: (value: string, scopes: readonly string[]) => void }) {
  const [draft, set, forget, base] = useDraft('key', { name: '', scopes: [] as string[], test: false, expiresAt: '', allowedIps: '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CreateKey, true);
  const send = async () => {
    const ips = draft.allowedIps.split(/[\s,]+/).filter(Boolean);
    const o = await run({ input: {
      name: draft.name, scopes: draft.scopes, test: draft.test, ...(ips.length > 0 ? { allowedIps: ips } : {}),
      ...(draft.expiresAt ? { expiresAt: new Date(`${draft.expiresAt}T23:59:59`).toISOString() } : {}),
    } });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    made(o.data.createApiKey.value, draft.scopes);
  };
  return (
    <Dialog title={t('New API key')} close={close} wide>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} hint={t('The name of the program.')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Scopes chosen={draft.scopes} set={(scopes) => { set({ ...draft, scopes }); }} fault={faultAt(fault, 'scopes')} />
        <Check label={t('Test key')} hint={t('It reaches only the sandbox.')} checked={draft.test} set={(test) => { set({ ...draft, test }); }} />
        <div className="pair">
          <Field label={t('Expires on')} optional fault={faultAt(fault, 'expiresAt')}><input type="date" value={draft.expiresAt} onChange={(e) => { set({ ...draft, expiresAt: e.target.value }); }} /></Field>
          <Field label={t('Allowed addresses')} optional hint={t('IP addresses or networks. Empty allows any.')} fault={faultAt(fault, 'allowedIps')}><input value={draft.allowedIps} placeholder="192.0.2.0/24" onChange={(e) => { set({ ...draft, allowedIps: e.target.value }); }} /></Field>
        </div>
        <Rest base={base} fault={fault} fields={['name', 'scopes', 'expiresAt', 'allowedIps']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
