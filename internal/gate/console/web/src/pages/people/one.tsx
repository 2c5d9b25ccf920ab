import { useState } from 'react';
import { useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { givesRole, roleWord, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { InviteUser } from '../../gen/documents';
import type { Role } from '../../gen/types';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { toast } from '../../ui/toast';
import { roles, roleSays } from './roles';

// One invites a person.
export function One({ close }: { close: () => void }) {
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
    <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
      <Field label={t('E-mail')} fault={faultAt(fault, 'email') ?? (taken ? fault?.message : undefined)}><input type="email" value={draft.email} onChange={(e) => { set({ ...draft, email: e.target.value }); }} /></Field>
      <Field label={t('Name')} optional fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
      <Field label={t('Role')} fault={faultAt(fault, 'role')} hint={roleSays[draft.role as Role]}>
        <select value={draft.role} onChange={(e) => { set({ ...draft, role: e.target.value }); }}>{roles.filter((r) => givesRole(viewer, r)).map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select>
      </Field>
      <Rest base={base} fault={taken ? null : fault} fields={['email', 'name', 'role']} />
      <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Create invitation')}</button></footer>
    </form>
  );
}
