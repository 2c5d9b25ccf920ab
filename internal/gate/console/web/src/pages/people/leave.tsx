import { useState } from 'react';
import { useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { plural, t } from '../../app/text';
import { DeactivateUser, ErasePerson } from '../../gen/documents';
import type { PersonFragment } from '../../gen/types';
import { useTeamChoices } from '../../parts/choices';
import { Confirm, Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { toast } from '../../ui/toast';

// Deactivate ends that a person can come, and says what of theirs stays.
export function Deactivate({ user: u, close }: { user: PersonFragment; close: () => void }) {
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
      <Field label={t('Reassign open work to')} optional><select value={team} onChange={(e) => { setTeam(e.target.value); }}><option value="">{t('Nobody: leave it with this person')}</option>{teams.map((x) => <option key={x.id} value={x.id}>{x.name}</option>)}</select></Field>
      <Rest fault={fault} fields={[]} />
    </Confirm>
  );
}

// Erase deletes what is known of a person.
export function Erase({ user: u, close }: { user: PersonFragment; close: () => void }) {
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
