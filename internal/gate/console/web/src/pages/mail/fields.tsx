import { rows } from '../../app/data';
import type { Fault } from '../../app/fault';
import { t } from '../../app/text';
import * as enums from '../../gen/enums';
import type { UnknownSenders } from '../../gen/types';
import { Choices, useOfferingChoices, useTeamChoices } from '../../parts/choices';
import { Field, faultAt } from '../../ui/field';
import { unknownWord } from './outcomes';

// Rules are what becomes of the mail of a mailbox.
export interface Rules { offeringId: string; teamId: string; unknownSenders: UnknownSenders; authservId: string }

export const ruleFields = ['offeringId', 'teamId', 'unknownSenders', 'authservId'];

// useOfferings are the offerings of all services by the names that tell them apart.
export const useOfferings = () => useOfferingChoices().flatMap((s) => rows(s.offerings).map((o) => ({ id: o.id, name: `${s.name} › ${o.name}` })));

interface RulesProps { draft: Rules; set: (changed: Partial<Rules>) => void; fault: Fault | null }

export function RuleFields({ draft, set, fault }: RulesProps) {
  const offerings = useOfferings();
  const teams = useTeamChoices();
  return (
    <>
      <div className="pair">
        <Field label={t('Offering')} hint={t('A new mail submits a request for it.')} fault={faultAt(fault, 'offeringId')}><select value={draft.offeringId} onChange={(e) => { set({ offeringId: e.target.value }); }}>{draft.offeringId === '' && <option value="">{t('Choose…')}</option>}<Choices of={offerings} now={draft.offeringId} /></select></Field>
        <Field label={t('Team')} optional hint={t('It gets these requests.')} fault={faultAt(fault, 'teamId')}><select value={draft.teamId} onChange={(e) => { set({ teamId: e.target.value }); }}><option value="">{t('As the routing rules say')}</option><Choices of={teams} now={draft.teamId} /></select></Field>
      </div>
      <Field label={t('Mail from people who are not members')} fault={faultAt(fault, 'unknownSenders')}><select value={draft.unknownSenders} onChange={(e) => { set({ unknownSenders: e.target.value as UnknownSenders }); }}>{enums.UnknownSenders.map((u) => <option key={u} value={u}>{unknownWord[u]}</option>)}</select></Field>
      <details open={faultAt(fault, 'authservId') !== undefined || draft.authservId !== '' || undefined}>
        <summary>{t('Advanced')}</summary>
        <Field
          label={t('Trusted mail server')} optional fault={faultAt(fault, 'authservId')}
          hint={t('Mail is accepted only if its sender is verified. If another mail server receives it first, enter that server’s name as it appears in Authentication-Results headers, such as mx.example.com; its result is used. If you leave this empty, SPF, DKIM and DMARC are checked here; for forwarded or fetched mail only DKIM counts.')}
        ><input className="mono" spellCheck={false} autoCapitalize="none" placeholder={'mx.example.com'} value={draft.authservId} onChange={(e) => { set({ authservId: e.target.value }); }} /></Field>
      </details>
    </>
  );
}

// Account is where the mail of an IMAP mailbox is fetched.
export interface Account { server: string; username: string }

export const accountFields = ['server', 'username', 'password'];

interface AccountProps { draft: Account; set: (changed: Partial<Account>) => void; password: string; setPassword: (to: string) => void; fault: Fault | null; kept: boolean; address: string }

// AccountFields ask for the account; `kept` is whether it has a password that stays when none is written.
export function AccountFields({ draft, set, password, setPassword, fault, kept, address }: AccountProps) {
  const at = (field: string) => (faultAt(fault, field)?.includes('kind imap') ? t('Is required.') : faultAt(fault, field)); // not said
  return (
    <>
      <Field label={t('Mail server')} hint={t('With TLS from the start; port 993 unless you add another one.')} fault={at('server')}><input className="mono" spellCheck={false} autoCapitalize="none" placeholder={'imap.example.com'} value={draft.server} onChange={(e) => { set({ server: e.target.value }); }} /></Field>
      <div className="pair">
        <Field label={t('User name')} optional={!kept} fault={faultAt(fault, 'username')}><input autoComplete="off" spellCheck={false} autoCapitalize="none" placeholder={address} value={draft.username} onChange={(e) => { set({ username: e.target.value }); }} /></Field>
        <Field label={kept ? t('New password') : t('Password')} optional={kept} hint={kept ? t('Leave empty to keep the current password.') : t('Preferably a password used only for this.')} fault={at('password')}><input type="password" autoComplete="new-password" value={password} onChange={(e) => { setPassword(e.target.value); }} /></Field>
      </div>
    </>
  );
}
