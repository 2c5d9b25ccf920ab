// views are lists that were saved under a name, for oneself, a team or the company. A view is the address of the list; whoever opens it
// reads by their own rights.
import { Link, useNavigate } from '@tanstack/react-router';
import { Bookmark, X } from 'lucide-react';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, useAll, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { atLeast, can, useCan, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { ChangeView, DropView, SavedViews, SaveView, TeamsOf } from '../../gen/documents';
import type { SavedViewScope, ViewFragment } from '../../gen/types';
import { useTeamChoices } from '../../parts/choices';
import { Confirm, Dialog } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { Wait } from '../../ui/states';
import { toast } from '../../ui/toast';
import { searchOf, viewQuery, type RequestSearch } from './search';

export function Views({ search }: { search: RequestSearch }) {
  const viewer = useViewer();
  const sees = can(viewer, 'savedview.read');
  const read = useAll(SavedViews, {}, !sees);
  const [gone, setGone] = useAsked<ViewFragment | null>('view gone', null); // not said
  const [change] = useWrite(ChangeView);
  const [drop] = useWrite(DropView);
  const list = rows(read.data?.savedViews);
  const here = viewQuery(search);
  const current = list.find((v) => v.id === search.saved);
  const mine = (v: ViewFragment) => v.userId === viewer.id || atLeast(viewer, 'admin');
  if (!sees) return null;
  if (list.length === 0) return read.data || read.fault ? null : <Wait />;
  return (
    <div className="views">
      <span className="soft small-text" id="views-label">{t('Views')}</span>
      <ul aria-labelledby="views-label">
        {list.map((v) => (
          <li key={v.id}><Link to="/app/requests" search={{ ...searchOf(v.query), saved: v.id } as never} replace className={`view-chip${current?.id === v.id ? ' on' : ''}`} {...(current?.id === v.id ? { 'aria-current': 'true' as const } : {})} activeOptions={{ includeSearch: true, exact: true }} activeProps={{}} dir="auto">{v.name}{v.scope !== 'me' && <span className="soft"> · {v.scope === 'team' ? t('Team') : t('Company')}</span>}</Link></li>
        ))}
      </ul>
      {current && current.query !== here && mine(current) && <button type="button" className="quiet small" onClick={() => { void change({ input: { id: current.id, ifMatch: current.etag, query: here } }).then((o) => { if (!o.fault) toast({ text: t('“{name}” shows this from now on.', { name: current.name }) }); }); }}>{t('Save changes to “{name}”', { name: current.name })}</button>}
      {current && mine(current) && <button type="button" className="icon" aria-label={t('Delete the view {name}', { name: current.name })} title={t('Delete the view {name}', { name: current.name })} onClick={() => { setGone(current); }}><X size={14} aria-hidden /></button>}
      {gone && <Confirm title={t('Delete the view “{name}”?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await drop({ input: { id: gone.id } }); if (!o.fault) toast({ text: t('The view was deleted.') }); setGone(null); read.again(); }}><p>{t('Only the view is deleted; the requests stay.')}</p></Confirm>}
    </div>
  );
}

// KeepView keeps what the list shows under a name.
export function KeepView({ search }: { search: RequestSearch }) {
  const navigate = useNavigate();
  const [asking, setAsking] = useAsked('view', false);
  const query = viewQuery(search);
  if (!useCan('savedview.create') || query === '') return null;
  return (
    <>
      <button type="button" className="icon" aria-label={t('Save view')} title={t('Save view')} onClick={() => { setAsking(true); }}><Bookmark size={15} aria-hidden /></button>
      {asking && <Save query={query} close={() => { setAsking(false); }} saved={(id) => { void navigate({ to: '/app/requests', search: { ...search, saved: id } as never, replace: true }); }} />}
    </>
  );
}

function Save({ query, close, saved }: { query: string; close: () => void; saved: (id: string) => void }) {
  const viewer = useViewer();
  const shares = can(viewer, 'savedview.share');
  const [draft, set] = useState({ name: '', scope: 'me' as SavedViewScope, teamId: '' });
  const own = useRead(TeamsOf, { id: viewer.id }, !shares).data?.user?.teamIds;
  const teams = useTeamChoices(!shares).filter((team) => own?.includes(team.id));
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(SaveView, true);
  const send = async () => {
    const o = await run({ input: { name: draft.name, scope: draft.scope, query, ...(draft.scope === 'team' ? { teamId: draft.teamId || null } : {}) } });
    setFault(o.fault);
    if (!o.data) return;
    close();
    saved(o.data.createSavedView.savedView.id);
    toast({ text: t('“{name}” was saved.', { name: draft.name }) });
  };
  return (
    <Dialog title={t('Save view')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Who sees it')} fault={faultAt(fault, 'scope')}><select value={draft.scope} onChange={(e) => { set({ ...draft, scope: e.target.value as SavedViewScope }); }}><option value="me">{t('Only you')}</option>{teams.length > 0 && <option value="team">{t('A team')}</option>}{shares && <option value="company">{t('Everybody')}</option>}</select></Field>
        {draft.scope === 'team' && <Field label={t('Team')} hint={t('One of yours.')} fault={faultAt(fault, 'teamId')}><select value={draft.teamId} onChange={(e) => { set({ ...draft, teamId: e.target.value }); }}><option value="">{t('Choose…')}</option>{teams.map((team) => <option key={team.id} value={team.id}>{team.name}</option>)}</select></Field>}
        <Rest fault={fault} fields={['name', 'scope', 'teamId']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}
