import { useState } from 'react';
import { useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, givesRole, roleWord, useViewer, type Viewer } from '../../app/session';
import { t } from '../../app/text';
import { UpdatePerson } from '../../gen/documents';
import type { PersonFragment, Role } from '../../gen/types';
import { useTeamChoices } from '../../parts/choices';
import { Time } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { below, Check, Field, Rest, faultAt, faultBelow } from '../../ui/field';
import { tagsOf, textOf } from '../../ui/tags';
import { toast } from '../../ui/toast';
import { roles, roleSays } from './roles';

// edits reports whether somebody may change what a person is called.
export const edits = (v: Viewer, u: PersonFragment) => can(v, 'user.update') && u.status !== 'erased' && (u.role !== 'owner' || can(v, 'user.rename_owner'));

// Edit changes what somebody is called, what they may do, which teams they are in, and what access policies ask for of them.
export function Edit({ user: u, close }: { user: PersonFragment; close: () => void }) {
  const viewer = useViewer();
  const teams = useTeamChoices();
  const [draft, set, forget, base] = useDraft(`person ${u.id}`, { name: u.name, role: u.role, teamIds: u.teamIds, attributes: textOf(u.attributes) }, u.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(UpdatePerson, true);
  const ranks = givesRole(viewer, u.role) && u.status !== 'deactivated' && u.id !== viewer.id;
  const offered = roles.filter((r) => givesRole(viewer, r) || r === u.role);
  const moved = draft.teamIds.toSorted().join() !== u.teamIds.toSorted().join();
  const send = async () => {
    const o = await run({ input: {
      id: u.id, ...base.match, name: draft.name, attributes: tagsOf(draft.attributes, u.attributes), ...(ranks && draft.role !== u.role ? { role: draft.role } : {}), ...(moved ? { teamIds: draft.teamIds } : {}),
    } });
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
        <dl className="person-facts">
          <dt>{t('E-mail')}</dt><dd>{u.email}</dd>
          <dt>{t('Second factor')}</dt><dd>{u.mfaEnabled ? t('On') : t('Off')}</dd>
          <dt>{t('Last seen')}</dt><dd><Time at={u.lastSeenAt} none={t('Never')} /></dd>
          {!ranks && <><dt>{t('Role')}</dt><dd>{roleWord[u.role]}</dd></>}
        </dl>
        {ranks && (
          <Field label={t('Role')} fault={faultAt(fault, 'role')} hint={roleSays[draft.role]}>
            <select value={draft.role} onChange={(e) => { set({ ...draft, role: e.target.value as Role }); }}>{offered.map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select>
          </Field>
        )}
        {teams.length > 0 && can(viewer, 'team.update') && (
          <fieldset>
            <legend>{t('Teams')}</legend>
            <div className="checks">{teams.map((x) => <Check key={x.id} label={x.name} checked={draft.teamIds.includes(x.id)} set={(on) => { set((was) => ({ ...was, teamIds: on ? [...was.teamIds, x.id] : was.teamIds.filter((id) => id !== x.id) })); }} />)}</div>
          </fieldset>
        )}
        <Field label={t('Attributes')} optional hint={t('One per line, such as region=eu. Access policies read them as principal.attributes.region.')} fault={faultBelow(fault, 'attributes')}><textarea rows={3} value={draft.attributes} onChange={(e) => { set({ ...draft, attributes: e.target.value }); }} /></Field>
        <Rest base={base} fault={fault} fields={['name', 'role', ...below(fault, 'attributes')]} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}
