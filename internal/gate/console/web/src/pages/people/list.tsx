import { useRef, useState } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, givesRole, roleWord, useCan, useViewer, type Viewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { DeactivateUser, ErasePerson, InviteUser, People, ReactivateUser, ResendInvitation, UpdatePerson } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { PersonFragment, Role, UserFilter } from '../../gen/types';
import { useTeamChoices } from '../../parts/choices';
import { Subpages } from '../../parts/subpages';
import { Badge, Person, Time, words } from '../../ui/bits';
import { Confirm, Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Filter, Rest, below, faultAt, faultBelow } from '../../ui/field';
import { focusSoon } from '../../ui/focus';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { tagsOf, textOf } from '../../ui/tags';
import { toast } from '../../ui/toast';
import { Access } from './access';
import { Teams } from './teams';

type Search = { status?: string; role?: string; q?: string };
const roles = enums.Role.toReversed();

// PeopleList is who belongs to the company.
export default function PeopleList() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = (s: Search) => { void navigate({ to: '/app/people', search: s as never, replace: true }); };
  const filter: UserFilter = { ...(search.q ? { q: search.q } : {}), ...(search.status ? { status: search.status.split(',') as never } : {}), ...(search.role ? { role: search.role.split(',') as never } : {}) };
  const read = usePages(People, { first: 50, filter });
  const admin = useCan('user.update');
  const invites = useCan('user.invite');
  const viewer = useViewer();
  const [inviting, setInviting] = useAsked('invite', false);
  const list = rows(read.data?.users);
  const [edit, setEdit] = useOpened(list);
  return (
    <Page live={t('Invitations and erasures')} title={t('People')} verb="user.read" tabs={<Subpages of="people" />} actions={invites && <button type="button" onClick={() => { setInviting(true); }}>{t('Invite person')}</button>}>
      <search className="filters">
        <Filter label={t('Find')} placeholder={t('A name or address')} value={search.q ?? ''} set={(q) => { set({ ...search, q }); }} />
        <Field label={t('Status')}><select value={search.status ?? ''} onChange={(e) => { set({ ...search, status: e.target.value }); }}><option value="">{t('Any')}</option>{enums.UserStatus.map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></Field>
        <Field label={t('Role')}><select value={search.role ?? ''} onChange={(e) => { set({ ...search, role: e.target.value }); }}><option value="">{t('Any')}</option>{roles.map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select></Field>
      </search>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={t('Nobody matches')} /> : (
          <>
            <div className="table-wrap cards-when-narrow">
              <table>
                <thead><tr><th scope="col">{t('Name')}</th><th scope="col">{t('Role')}</th><th scope="col">{t('Status')}</th><th scope="col">{t('Second factor')}</th><th scope="col">{t('Last seen')}</th>{admin && <th scope="col"><span className="hidden">{t('Actions')}</span></th>}</tr></thead>
                <tbody>{list.map((u) => <One key={u.id} user={u} admin={admin} edit={() => { setEdit(u); }} />)}</tbody>
              </table>
            </div>
            <More shown={list.length} total={read.data?.users?.totalCount} page={read.data?.users?.pageInfo} next={read.next} />
          </>
        ))}
      </Loaded>
      <Teams />
      {edit && edit !== 'new' && edits(viewer, edit) && <Edit user={edit} close={() => { setEdit(null); }} />}
      {inviting && <Invite close={() => { setInviting(false); }} />}
    </Page>
  );
}

// edits reports whether somebody may change what a person is called.
const edits = (v: Viewer, u: PersonFragment) => can(v, 'user.update') && u.status !== 'erased' && (u.role !== 'owner' || can(v, 'user.rename_owner'));

function One({ user: u, admin, edit }: { user: PersonFragment; admin: boolean; edit: () => void }) {
  const viewer = useViewer();
  const [ask, setAsk] = useAsked<'access' | 'deactivate' | 'erase' | null>(`access ${u.id}`, null);
  const [role, setRole] = useAsked(`role ${u.id}`, u.role);
  const [shown, setShown] = useState(u.role);
  if (shown !== u.role) { // somebody has given another one meanwhile
    setShown(u.role);
    setRole(u.role);
  }
  const select = useRef<HTMLSelectElement>(null);
  const [update, saving] = useWrite(UpdatePerson);
  const [reactivate] = useWrite(ReactivateUser);
  const [resend] = useWrite(ResendInvitation);
  const save = async () => {
    const o = await update({ input: { id: u.id, role, ifMatch: u.etag } });
    if (!o.data) return;
    toast({ text: t('The role of {name} is now {role}.', { name: u.name, role: roleWord[role] }) });
    focusSoon(() => select.current);
  };
  const may = admin && givesRole(viewer, u.role);
  const offered = roles.filter((r) => givesRole(viewer, r) || r === u.role);
  return (
    <tr>
      <td>
        <span className="line"><Name row={u} may={edits(viewer, u)}><Person name={u.name} /></Name><span className="grow" />{edits(viewer, u) && <button type="button" className="quiet small" aria-label={t('Edit {name}', { name: u.name })} onClick={edit}>{t('Edit')}</button>}</span>
        <span className="sub">{u.email}</span>
      </td>
      <td className="tight">
        {may && u.status !== 'deactivated' && u.status !== 'erased' && u.id !== viewer.id
          ? <span className="line">
            <select ref={select} aria-label={t('Role of {name}', { name: u.name })} value={role} onChange={(e) => { setRole(e.target.value as Role); }}>{offered.map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select>
            {role !== u.role && <button type="button" className="small" aria-label={t('Save the role of {name}', { name: u.name })} disabled={saving} onClick={() => { void save(); }}>{t('Save')}</button>}
          </span>
          : roleWord[u.role]}
      </td>
      <td className="tight"><Badge value={u.status} /></td>
      <td className="tight" data-label={t('Second factor')}>{u.mfaEnabled ? <Badge value="active">{t('On')}</Badge> : <span className="soft">{t('Off')}</span>}</td>
      <td className="tight" data-label={t('Last seen')}><Time at={u.lastSeenAt} none={t('Never')} /></td>
      {admin && (
        <td className="tight">
          {may && u.status !== 'erased' && u.id !== viewer.id && <span className="line">
            {u.status === 'invited' && <button type="button" className="plain small" aria-label={t('Send again to {name}', { name: u.name })} onClick={() => { void resend({ input: { id: u.id } }).then((o) => { if (!o.fault) toast({ text: t('The invitation was sent to {email} again.', { email: u.email }) }); }); }}>{t('Send again')}</button>}
            {u.status === 'deactivated'
              ? <button type="button" className="plain small" aria-label={t('Reactivate {name}', { name: u.name })} onClick={() => { void reactivate({ input: { id: u.id } }).then((o) => { if (!o.fault) toast({ text: t('{name} can sign in again.', { name: u.name }) }); }); }}>{t('Reactivate')}</button>
              : <button type="button" className="danger-plain small" aria-label={t('Deactivate {name}', { name: u.name })} onClick={() => { setAsk('deactivate'); }}>{t('Deactivate')}</button>}
            {u.status !== 'invited' && can(viewer, 'session.read') && <button type="button" className="plain small" aria-label={t('Sign-ins of {name}', { name: u.name })} onClick={() => { setAsk('access'); }}>{t('Sign-ins')}</button>}
            {can(viewer, 'user.erase') && <button type="button" className="danger-plain small" aria-label={t('Erase {name}', { name: u.name })} onClick={() => { setAsk('erase'); }}>{t('Erase')}</button>}
          </span>}
          {ask === 'access' && <Access user={u} close={() => { setAsk(null); }} />}
          {ask === 'deactivate' && <Deactivate user={u} close={() => { setAsk(null); }} />}
          {ask === 'erase' && <Erase user={u} close={() => { setAsk(null); }} />}
        </td>
      )}
    </tr>
  );
}

// Edit changes what somebody is called, and what access policies ask for of them.
function Edit({ user: u, close }: { user: PersonFragment; close: () => void }) {
  const [draft, set, forget, base] = useDraft(`person ${u.id}`, { name: u.name, attributes: textOf(u.attributes) }, u.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(UpdatePerson, true);
  const send = async () => {
    const o = await run({ input: { id: u.id, ...base.match, name: draft.name, attributes: tagsOf(draft.attributes, u.attributes) } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    toast({ text: t('{name} was saved.', { name: draft.name }) });
  };
  return (
    <Dialog title={t('Edit {name}', { name: u.name })} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Attributes')} optional hint={t('One per line, such as region=eu. Access policies read them as principal.attributes.region.')} fault={faultBelow(fault, 'attributes')}><textarea rows={4} value={draft.attributes} onChange={(e) => { set({ ...draft, attributes: e.target.value }); }} /></Field>
        <Rest base={base} fault={fault} fields={['name', ...below(fault, 'attributes')]} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}

function Deactivate({ user: u, close }: { user: PersonFragment; close: () => void }) {
  const teams = useTeamChoices();
  const [team, setTeam] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [run] = useWrite(DeactivateUser, true);
  const [after, setAfter] = useState<{ keys: { id: string; name: string; prefix: string; last4: string }[]; requests: number; tasks: number } | null>(null);
  if (after) {
    const n = after.keys.length;
    const open = { requests: plural(after.requests, '{n} open request', '{n} open requests'), tasks: plural(after.tasks, '{n} open task', '{n} open tasks') };
    return (
      <Dialog title={t('{name} is deactivated', { name: u.name })} close={close}>
        <div className="stack" role="status">
          <p>{t('They are signed out everywhere within a minute.')}</p>
          <p><strong>{plural(n, '{n} API key stays valid.', '{n} API keys stay valid.')}</strong>{n > 0 && <> {t('Revoke under API keys what should end with them.')}</>}</p>
          {n > 0 && <ul className="stack-tight">{after.keys.map((k) => <li key={k.id}>{k.name} <code>{k.prefix}…{k.last4}</code></li>)}</ul>}
          <p className="soft">{team ? t('Reassigned to the team: {requests}, {tasks}.', open) : t('Still assigned to them: {requests}, {tasks}.', open)}</p>
          <footer><button type="button" onClick={close}>{t('Done')}</button></footer>
        </div>
      </Dialog>
    );
  }
  const act = async () => {
    const o = await run({ input: { id: u.id, ...(team ? { reassignTo: team } : {}) } });
    setFault(o.fault);
    if (!o.data) return;
    const d = o.data.deactivateUser;
    toast({ text: plural(d.remainingApiKeys.length, '{name} is deactivated. {n} API key stays valid.', '{name} is deactivated. {n} API keys stay valid.', { name: u.name }) });
    setAfter({ keys: d.remainingApiKeys, requests: d.openRequests, tasks: d.openTasks });
  };
  return (
    <Confirm title={t('Deactivate {name}?', { name: u.name })} verb={t('Deactivate')} close={close} act={act}>
      <p>{t('They are signed out everywhere and can no longer sign in. Their API keys stay valid until somebody revokes them.')}</p>
      <Field label={t('Reassign open work to')} optional><select value={team} onChange={(e) => { setTeam(e.target.value); }}><option value="">{t('Nobody, it stays with them')}</option>{teams.map((x) => <option key={x.id} value={x.id}>{x.name}</option>)}</select></Field>
      <Rest fault={fault} fields={[]} />
    </Confirm>
  );
}

function Erase({ user: u, close }: { user: PersonFragment; close: () => void }) {
  const [draft, set, forget, base] = useDraft(`erase ${u.id}`, { reason: '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run] = useWrite(ErasePerson, true);
  const act = async () => {
    const o = await run({ input: { userId: u.id, ...draft } });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    close();
    toast({ text: t('The person was erased. What they wrote is deleted within half a minute.') });
  };
  return (
    <Confirm title={t('Erase {name} permanently?', { name: u.name })} verb={t('Erase')} close={close} act={act} ready={draft.reason.trim() !== ''}>
      <p>{t('Their name, e-mail address, keys and sessions are deleted, and so are the texts of their requests and comments. Their open requests are cancelled. The audit log keeps its proofs without these data.')}</p>
      <p><strong>{t('This cannot be undone.')}</strong></p>
      <Field label={t('Reason')} hint={t('It is kept in the audit log. Do not name anybody in it.')} fault={faultAt(fault, 'reason')}><input dir="auto" value={draft.reason} onChange={(e) => { set({ reason: e.target.value }); }} /></Field>
      <Rest base={base} fault={fault} fields={['reason']} />
    </Confirm>
  );
}

function Invite({ close }: { close: () => void }) {
  const viewer = useViewer();
  const [draft, set, forget, base] = useDraft('invite', { email: '', name: '', role: 'member' });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(InviteUser, true);
  const send = async () => {
    const o = await run({ input: { email: draft.email, role: draft.role as Role, ...(draft.name ? { name: draft.name } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    toast({ text: t('An invitation was sent to {email}.', { email: draft.email }) });
  };
  const taken = fault?.code === 'conflict'; // a member has the address
  return (
    <Dialog title={t('Invite person')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('E-mail')} fault={faultAt(fault, 'email') ?? (taken ? fault?.message : undefined)}><input type="email" value={draft.email} onChange={(e) => { set({ ...draft, email: e.target.value }); }} /></Field>
        <Field label={t('Name')} optional fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Role')} fault={faultAt(fault, 'role')} hint={{ member: t('Submits requests and sees their own.'), agent: t('Works on all requests.'), admin: t('Everything except the plan and owners.'), owner: t('Everything.') }[draft.role]}>
          <select value={draft.role} onChange={(e) => { set({ ...draft, role: e.target.value }); }}>{roles.filter((r) => givesRole(viewer, r)).map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select>
        </Field>
        <Rest base={base} fault={taken ? null : fault} fields={['email', 'name', 'role']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Create invitation')}</button></footer>
      </form>
    </Dialog>
  );
}
