import { useNavigate, useSearch } from '@tanstack/react-router';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import { can, givesRole, roleWord, useCan, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { People, ReactivateUser, ResendInvitation } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { PersonFragment, UserFilter } from '../../gen/types';
import { useTeamChoices } from '../../parts/choices';
import { Subpages } from '../../parts/subpages';
import { Badge, Person, Time, words } from '../../ui/bits';
import { Field, Filter } from '../../ui/field';
import { Menu, type Item } from '../../ui/menu';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';
import { Access } from './access';
import { Edit, edits } from './edit';
import { Invite } from './invite';
import { Deactivate, Erase } from './leave';
import { roles } from './roles';
import { Teams } from './teams';

type Search = { status?: string; role?: string; q?: string; invite?: string };

// PeopleList is who belongs to the company.
export default function PeopleList() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = (s: Search) => { void navigate({ to: '/app/people', search: s as never, replace: true, resetScroll: false }); };
  const filter: UserFilter = { ...(search.q ? { q: search.q } : {}), ...(search.status ? { status: search.status.split(',') as never } : {}), ...(search.role ? { role: search.role.split(',') as never } : {}) };
  const read = usePages(People, { first: 50, filter });
  const teams = new Map(useTeamChoices().map((x) => [x.id, x.name]));
  const invites = useCan('user.invite');
  const viewer = useViewer();
  const list = rows(read.data?.users);
  const [edit, setEdit] = useOpened(list);
  const narrowed = Boolean(search.q || search.status || search.role);
  return (
    <Page live={t('Invitations and erasures')} title={t('People')} verb="user.read" tabs={<Subpages of="people" />} actions={invites && <>
      <button type="button" className="plain" onClick={() => { set({ ...search, invite: 'list' }); }}>{t('Add from a list')}</button>
      <button type="button" onClick={() => { set({ ...search, invite: 'one' }); }}>{t('Invite person')}</button>
    </>}>
      <search className="filters">
        <Filter label={t('Find')} placeholder={t('A name or address')} value={search.q ?? ''} set={(q) => { set({ ...search, q }); }} />
        <Field label={t('Role')}><select value={search.role ?? ''} onChange={(e) => { set({ ...search, role: e.target.value }); }}><option value="">{t('Any')}</option>{roles.map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select></Field>
        <Field label={t('Status')}><select value={search.status ?? ''} onChange={(e) => { set({ ...search, status: e.target.value }); }}><option value="">{t('Any')}</option>{enums.UserStatus.map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></Field>
      </search>
      <Loaded read={read} skeleton={12}>
        {() => (list.length === 0 ? <Empty title={t('Nobody matches')}>{narrowed && <p><button type="button" className="plain" onClick={() => { set({}); }}>{t('Clear filters')}</button></p>}</Empty> : (
          <>
            <div className="table-wrap cards-when-narrow people">
              <table>
                <thead><tr><th scope="col">{t('Name')}</th><th scope="col">{t('Role')}</th><th scope="col">{t('Teams')}</th><th scope="col">{t('Status')}</th><th scope="col">{t('Second factor')}</th><th scope="col">{t('Last seen')}</th><th scope="col"><span className="hidden">{t('Actions')}</span></th></tr></thead>
                <tbody>{list.map((u) => <One key={u.id} user={u} teams={u.teamIds.map((id) => teams.get(id)).filter((x) => x !== undefined)} edit={() => { setEdit(u); }} />)}</tbody>
              </table>
            </div>
            <More shown={list.length} total={read.data?.users?.totalCount} page={read.data?.users?.pageInfo} next={read.next} />
          </>
        ))}
      </Loaded>
      <Teams />
      {edit && edit !== 'new' && edits(viewer, edit) && <Edit user={edit} close={() => { setEdit(null); }} />}
      {invites && search.invite && <Invite mode={search.invite} set={(invite) => { set({ ...search, invite }); }} close={() => { set({ ...search, invite: '' }); }} done={read.again} />}
    </Page>
  );
}

// Bounced says of a person that a mail to them came back.
const Bounced = () => <span className="bounced"><Badge value="WARNING">{t('Mail does not arrive')}</Badge><span className="soft small-text">{t('Until they sign in or their address changes.')}</span></span>;

const shownTeams = 2; // the others are counted

function One({ user: u, teams, edit }: { user: PersonFragment; teams: string[]; edit: () => void }) {
  const viewer = useViewer();
  const [ask, setAsk] = useAsked<'access' | 'deactivate' | 'erase' | null>(`access ${u.id}`, null);
  const [reactivate] = useWrite(ReactivateUser);
  const [resend] = useWrite(ResendInvitation);
  const may = can(viewer, 'user.update') && givesRole(viewer, u.role) && u.status !== 'erased' && u.id !== viewer.id;
  const close = () => { setAsk(null); };
  const verbs: Item[] = [
    ...(edits(viewer, u) ? [{ label: t('Edit'), run: edit }] : []),
    ...(may && u.status !== 'invited' && can(viewer, 'session.read') ? [{ label: t('Sign-ins'), run: () => { setAsk('access'); } }] : []),
    ...(may && u.status === 'invited' ? [{ label: t('Send the invitation again'), run: () => { void resend({ input: { id: u.id } }).then((o) => { if (!o.fault) toast({ text: t('The invitation was sent to {email} again.', { email: u.email }) }); }); } }] : []),
    ...(may && u.status === 'deactivated' ? [{ label: t('Reactivate'), run: () => { void reactivate({ input: { id: u.id } }).then((o) => { if (!o.fault) toast({ text: t('{name} can sign in again.', { name: u.name }) }); }); } }] : []),
    ...(may && u.status !== 'deactivated' ? [{ label: t('Deactivate'), run: () => { setAsk('deactivate'); }, bad: true }] : []),
    ...(may && can(viewer, 'user.erase') ? [{ label: t('Erase'), run: () => { setAsk('erase'); }, bad: true }] : []),
  ];
  return (
    <tr>
      <td><Name row={u} may={edits(viewer, u)}><Person name={u.name} /></Name><span className="sub">{u.email}</span></td>
      <td className="tight">{roleWord[u.role]}</td>
      <td data-label={teams.length > 0 ? t('Teams') : undefined} className="tight">{teams.length > 0 && <span className="chips" title={teams.join(', ')}>{teams.slice(0, shownTeams).map((name) => <span key={name} className="badge" dir="auto">{name}</span>)}{teams.length > shownTeams && <span className="soft">+{teams.length - shownTeams}</span>}</span>}</td>
      <td className="tight"><Badge value={u.status} />{u.mailState === 'BOUNCED' && <Bounced />}</td>
      <td className="tight" data-label={t('Second factor')}>{u.mfaEnabled ? t('On') : <span className="soft">{t('Off')}</span>}</td>
      <td className="tight" data-label={t('Last seen')}><Time at={u.lastSeenAt} none={t('Never')} /></td>
      <td className="tight verbs-cell">
        {verbs.length > 0 && <Menu label={t('Actions for {name}', { name: u.name })} hint={t('Actions')} items={() => verbs} />}
        {ask === 'access' && <Access user={u} close={close} />}
        {ask === 'deactivate' && <Deactivate user={u} close={close} />}
        {ask === 'erase' && <Erase user={u} close={close} />}
      </td>
    </tr>
  );
}
