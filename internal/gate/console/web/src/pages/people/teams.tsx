import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, useAll, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { plural, t } from '../../app/text';
import { CreateTeam, DeleteTeam, PersonChoices, TeamsList, UpdateTeam } from '../../gen/documents';
import type { TeamRowFragment } from '../../gen/types';
import { Choices, useOrganizationChoices } from '../../parts/choices';
import { Confirm, Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { Menu } from '../../ui/menu';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

// Teams are the groups that requests and tasks are given to.
export function Teams() {
  const read = usePages(TeamsList, { first: 100 });
  const creates = useCan('team.create');
  const updates = useCan('team.update');
  const removes = useCan('team.delete');
  const [edit, setEdit] = useOpened(rows(read.data?.teams), 'team');
  const [gone, setGone] = useAsked<TeamRowFragment | null>('team-gone', null);
  const [remove] = useWrite(DeleteTeam);
  return (
    <Section title={t('Teams')} actions={creates && <button type="button" className="plain" onClick={() => { setEdit('new'); }}>{t('New team')}</button>}>
      <Loaded read={read} skeleton={2}>
        {({ teams }) => (rows(teams).length === 0 ? <Empty title={t('There are no teams yet')}><p>{t('Requests and tasks can be given to a team.')}</p></Empty> : (
          <><ul className="rows">
            {rows(teams).map((team) => (
              <li key={team.id} className="row">
                <div><Name row={team} may={updates} /><div className="meta"><span>{plural(team.memberIds.length, '{n} member', '{n} members')}</span>{team.description && <span dir="auto">{team.description}</span>}</div></div>
                {(updates || removes) && <Menu label={t('Actions for {name}', { name: team.name })} hint={t('Actions')} items={() => [
                  ...(updates ? [{ label: t('Edit'), run: () => { setEdit(team); } }] : []), ...(removes ? [{ label: t('Delete'), run: () => { setGone(team); }, bad: true }] : []),
                ]} />}
              </li>
            ))}
          </ul>
          <More shown={rows(teams).length} total={teams?.totalCount} page={teams?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
      {edit && <Edit team={edit === 'new' ? null : edit} close={() => { setEdit(null); }} />}
      {gone && <Confirm title={t('Delete the team “{name}”?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id } }); if (!o.fault) toast({ text: t('The team was deleted.') }); setGone(null); }}><p>{t('Its members stay.')}</p></Confirm>}
    </Section>
  );
}

function Edit({ team, close }: { team: TeamRowFragment | null; close: () => void }) {
  const people = useAll(PersonChoices, { filter: { status: ['active', 'invited'] } });
  const organizations = useOrganizationChoices();
  const [draft, set, forget, base] = useDraft(`team ${team?.id ?? 'new'}`, { name: team?.name ?? '', description: team?.description ?? '', organizationId: team?.organizationId ?? '', memberIds: team?.memberIds ?? [] }, team?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, making] = useWrite(CreateTeam, true);
  const [update, saving] = useWrite(UpdateTeam, true);
  const send = async () => {
    const input = { ...draft, description: draft.description || null, organizationId: draft.organizationId || null };
    const o = team ? await update({ input: { id: team.id, ...base.match, ...input } }) : await create({ input });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    toast({ text: team ? t('The team was saved.') : t('The team was created.') });
  };
  return (
    <Dialog title={team ? t('Team “{name}”', { name: team.name }) : t('New team')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Description')} optional fault={faultAt(fault, 'description')}><input dir="auto" value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} /></Field>
        {(organizations.length > 0 || draft.organizationId) && <Field label={t('Organization')} fault={faultAt(fault, 'organizationId')}><select value={draft.organizationId} onChange={(e) => { set({ ...draft, organizationId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={organizations} now={draft.organizationId} /></select></Field>}
        <fieldset>
          <legend>{t('Members')}</legend>
          <Loaded read={people} skeleton={3}>
            {({ users }) => <div className="checks">{rows(users).map((p) => <Check key={p.id} label={p.name} checked={draft.memberIds.includes(p.id)} set={(on) => { set((was) => ({ ...was, memberIds: on ? [...was.memberIds, p.id] : was.memberIds.filter((m) => m !== p.id) })); }} />)}</div>}
          </Loaded>
        </fieldset>
        <Rest base={base} fault={fault} fields={['name', 'description', 'organizationId']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{team ? t('Save') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
