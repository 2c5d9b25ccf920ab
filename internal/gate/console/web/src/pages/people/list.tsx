import { useRef, useState } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, givesRole, roleWord, useCan, useViewer, type Viewer } from '../../app/session';
import { DeactivateUser, ErasePerson, InviteUser, People, ReactivateUser, ResendInvitation, UpdatePerson } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { PersonFragment, Role, UserFilter } from '../../gen/types';
import { useTeamChoices } from '../../parts/choices';
import { Subpages } from '../../parts/subpages';
import { Badge, count, Person, Time, words } from '../../ui/bits';
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
    <Page live="Invitations and erasures" title="People" verb="user.read" tabs={<Subpages of="people" />} actions={invites && <button type="button" onClick={() => { setInviting(true); }}>Invite person</button>}>
      <search className="filters">
        <Filter label="Find" placeholder="A name or address" value={search.q ?? ''} set={(q) => { set({ ...search, q }); }} />
        <Field label="Status"><select value={search.status ?? ''} onChange={(e) => { set({ ...search, status: e.target.value }); }}><option value="">Any</option>{enums.UserStatus.map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></Field>
        <Field label="Role"><select value={search.role ?? ''} onChange={(e) => { set({ ...search, role: e.target.value }); }}><option value="">Any</option>{roles.map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select></Field>
      </search>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title="Nobody matches" /> : (
          <>
            <div className="table-wrap cards-when-narrow">
              <table>
                <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Status</th><th scope="col">Second factor</th><th scope="col">Last seen</th>{admin && <th scope="col"><span className="hidden">Actions</span></th>}</tr></thead>
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
  const [ask, setAsk] = useAsked<'access' | 'deactivate' | 'erase' | null>(`access of ${u.id}`, null);
  const [role, setRole] = useAsked(`role of ${u.id}`, u.role);
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
    toast({ text: `${u.name} is ${roleWord[role].toLowerCase()} now.` });
    focusSoon(() => select.current);
  };
  const may = admin && givesRole(viewer, u.role);
  const offered = roles.filter((r) => givesRole(viewer, r) || r === u.role);
  return (
    <tr>
      <td>
        <span className="line"><Name row={u} may={edits(viewer, u)}><Person name={u.name} /></Name><span className="grow" />{edits(viewer, u) && <button type="button" className="quiet small" onClick={edit}>Edit<span className="hidden"> {u.name}</span></button>}</span>
        <span className="sub">{u.email}</span>
      </td>
      <td className="tight">
        {may && u.status !== 'deactivated' && u.status !== 'erased' && u.id !== viewer.id
          ? <span className="line">
            <select ref={select} aria-label={`Role of ${u.name}`} value={role} onChange={(e) => { setRole(e.target.value as Role); }}>{offered.map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select>
            {role !== u.role && <button type="button" className="small" disabled={saving} onClick={() => { void save(); }}>Save<span className="hidden"> the role of {u.name}</span></button>}
          </span>
          : roleWord[u.role]}
      </td>
      <td className="tight"><Badge value={u.status} /></td>
      <td className="tight" data-label="Second factor">{u.mfaEnabled ? <Badge value="active">On</Badge> : <span className="soft">Off</span>}</td>
      <td className="tight" data-label="Last seen"><Time at={u.lastSeenAt} none="Never" /></td>
      {admin && (
        <td className="tight">
          {may && u.status !== 'erased' && u.id !== viewer.id && <span className="line">
            {u.status === 'invited' && <button type="button" className="plain small" onClick={() => { void resend({ input: { id: u.id } }).then((o) => { if (!o.fault) toast({ text: `The invitation went to ${u.email} again.` }); }); }}>Send again<span className="hidden"> to {u.name}</span></button>}
            {u.status === 'deactivated'
              ? <button type="button" className="plain small" onClick={() => { void reactivate({ input: { id: u.id } }).then((o) => { if (!o.fault) toast({ text: `${u.name} can sign in again.` }); }); }}>Reactivate<span className="hidden"> {u.name}</span></button>
              : <button type="button" className="danger-plain small" onClick={() => { setAsk('deactivate'); }}>Deactivate<span className="hidden"> {u.name}</span></button>}
            {u.status !== 'invited' && can(viewer, 'session.read') && <button type="button" className="plain small" onClick={() => { setAsk('access'); }}>Sign-ins<span className="hidden"> of {u.name}</span></button>}
            {can(viewer, 'user.erase') && <button type="button" className="danger-plain small" onClick={() => { setAsk('erase'); }}>Erase<span className="hidden"> {u.name}</span></button>}
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
    toast({ text: `${draft.name} was saved.` });
  };
  return (
    <Dialog title={`Edit ${u.name}`} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label="Name" fault={faultAt(fault, 'name')}><input value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label="Attributes" optional hint="One a line, such as region=eu. Access policies read them as principal.attributes.region." fault={faultBelow(fault, 'attributes')}><textarea rows={4} value={draft.attributes} onChange={(e) => { set({ ...draft, attributes: e.target.value }); }} /></Field>
        <Rest base={base} fault={fault} fields={['name', ...below(fault, 'attributes')]} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy}>Save</button></footer>
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
    return (
      <Dialog title={`${u.name} is deactivated`} close={close}>
        <div className="stack" role="status">
          <p>They are signed out everywhere within a minute.</p>
          <p><strong>{n === 1 ? 'Their 1 API key stays valid' : `Their ${n} API keys stay valid`}</strong>{n > 0 ? ': revoke under API keys what should end with them.' : '.'}</p>
          {n > 0 && <ul className="stack-tight">{after.keys.map((k) => <li key={k.id}>{k.name} <code>{k.prefix}…{k.last4}</code></li>)}</ul>}
          <p className="soft">{count(after.requests, 'open request')} and {count(after.tasks, 'open task')} were theirs{team ? ' and went to the team' : ''}.</p>
          <footer><button type="button" onClick={close}>Done</button></footer>
        </div>
      </Dialog>
    );
  }
  const act = async () => {
    const o = await run({ input: { id: u.id, ...(team ? { reassignTo: team } : {}) } });
    setFault(o.fault);
    if (!o.data) return;
    const d = o.data.deactivateUser;
    toast({ text: `${u.name} is deactivated. ${count(d.remainingApiKeys.length, 'API key stays', 'API keys stay')} valid.` });
    setAfter({ keys: d.remainingApiKeys, requests: d.openRequests, tasks: d.openTasks });
  };
  return (
    <Confirm title={`Deactivate ${u.name}?`} verb="Deactivate" close={close} act={act}>
      <p>They are signed out everywhere and cannot sign in. Their API keys stay valid until somebody revokes them.</p>
      <Field label="Hand open work to" optional><select value={team} onChange={(e) => { setTeam(e.target.value); }}><option value="">Nobody: it stays with them</option>{teams.map((t) => <option key={t.id} value={t.id}>{t.name}</option>)}</select></Field>
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
    toast({ text: 'Erased. What they wrote is gone within half a minute.' });
  };
  return (
    <Confirm title={`Erase ${u.name} for good?`} verb="Erase" close={close} act={act} ready={draft.reason.trim() !== ''}>
      <p>Their name, address, keys and sign-ins go, and the texts of their requests and comments. Open requests of theirs are cancelled. The audit log keeps its proofs without them.</p>
      <p><strong>Nobody can undo this.</strong></p>
      <Field label="Reason" hint="Kept in the audit log: name nobody in it." fault={faultAt(fault, 'reason')}><input value={draft.reason} onChange={(e) => { set({ reason: e.target.value }); }} /></Field>
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
    toast({ text: `An invitation is on its way to ${draft.email}.` });
  };
  const taken = fault?.code === 'conflict'; // a member has the address
  return (
    <Dialog title="Invite person" close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label="E-mail" fault={faultAt(fault, 'email') ?? (taken ? fault?.message : undefined)}><input type="email" value={draft.email} onChange={(e) => { set({ ...draft, email: e.target.value }); }} /></Field>
        <Field label="Name" optional fault={faultAt(fault, 'name')}><input value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label="Role" fault={faultAt(fault, 'role')} hint={{ member: 'Files requests and sees their own.', agent: 'Works all requests.', admin: 'Everything but the plan and owners.', owner: 'Everything.' }[draft.role]}>
          <select value={draft.role} onChange={(e) => { set({ ...draft, role: e.target.value }); }}>{roles.filter((r) => givesRole(viewer, r)).map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select>
        </Field>
        <Rest base={base} fault={taken ? null : fault} fields={['email', 'name', 'role']} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy}>Create invitation</button></footer>
      </form>
    </Dialog>
  );
}
