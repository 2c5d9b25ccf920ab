import { useState } from 'react';
import { rows, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { CreateTeam, DeleteTeam, TeamsList, UpdateTeam } from '../../gen/documents';
import type { PersonFragment, TeamsListQuery } from '../../gen/types';
import { Confirm, Dialog } from '../../ui/dialog';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { Loaded, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

type Team = NonNullable<TeamsListQuery['teams']>['edges'][number]['node'];

// Teams are the groups that requests and tasks are given to.
export function Teams({ people }: { people: PersonFragment[] }) {
  const read = useRead(TeamsList, {});
  const creates = useCan('team.create');
  const updates = useCan('team.update');
  const removes = useCan('team.delete');
  const [edit, setEdit] = useState<Partial<Team> | null>(null);
  const [gone, setGone] = useState<Team | null>(null);
  const [remove] = useWrite(DeleteTeam);
  return (
    <Section title="Teams" actions={creates && <button type="button" className="plain" onClick={() => { setEdit({}); }}>New team</button>}>
      <Loaded read={read} skeleton={2}>
        {({ teams }) => (rows(teams).length === 0 ? <Empty title="There are no teams yet"><p>A team takes requests and tasks together.</p></Empty> : (
          <ul className="rows">
            {rows(teams).map((t) => (
              <li key={t.id} className="row">
                <div><strong>{t.name}</strong><div className="meta"><span>{t.memberIds.length} members</span>{t.description && <span>{t.description}</span>}</div></div>
                <div className="verbs">
                  {updates && <button type="button" className="plain small" onClick={() => { setEdit(t); }}>Edit<span className="hidden"> {t.name}</span></button>}
                  {removes && <button type="button" className="danger-plain small" onClick={() => { setGone(t); }}>Delete<span className="hidden"> {t.name}</span></button>}
                </div>
              </li>
            ))}
          </ul>
        ))}
      </Loaded>
      {edit && <Edit team={edit} people={people} close={() => { setEdit(null); }} />}
      {gone && <Confirm title={`Delete the team “${gone.name}”?`} verb="Delete" close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id } }); if (!o.fault) toast({ text: 'The team is gone.' }); setGone(null); }}><p>Its members stay.</p></Confirm>}
    </Section>
  );
}

function Edit({ team, people, close }: { team: Partial<Team>; people: PersonFragment[]; close: () => void }) {
  const [name, setName] = useState(team.name ?? '');
  const [description, setDescription] = useState(team.description ?? '');
  const [members, setMembers] = useState<string[]>(team.memberIds ?? []);
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, making] = useWrite(CreateTeam, true);
  const [update, saving] = useWrite(UpdateTeam, true);
  const send = async () => {
    const fields = { name, description: description || null, memberIds: members };
    const o = team.id ? await update({ input: { id: team.id, ifMatch: team.etag ?? null, ...fields } }) : await create({ input: fields });
    setFault(o.fault);
    if (o.fault) return;
    close();
    toast({ text: team.id ? 'The team was saved.' : 'The team was created.' });
  };
  return (
    <Dialog title={team.id ? `Team “${team.name ?? ''}”` : 'New team'} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label="Name" fault={faultAt(fault, 'name')}><input autoFocus value={name} onChange={(e) => { setName(e.target.value); }} /></Field>
        <Field label="Description" optional fault={faultAt(fault, 'description')}><input value={description} onChange={(e) => { setDescription(e.target.value); }} /></Field>
        <fieldset><legend>Members</legend><div className="checks">{people.filter((p) => p.status !== 'deactivated' && p.status !== 'erased').map((p) => <Check key={p.id} label={p.name} checked={members.includes(p.id)} set={(on) => { setMembers(on ? [...members, p.id] : members.filter((m) => m !== p.id)); }} />)}</div></fieldset>
        <Rest fault={fault} fields={['name', 'description']} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={making || saving}>{team.id ? 'Save' : 'Create'}</button></footer>
      </form>
    </Dialog>
  );
}
