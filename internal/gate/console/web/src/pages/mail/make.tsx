import { useState } from 'react';
import { useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { t } from '../../app/text';
import { CreateMailbox } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { MailboxFullFragment, MailboxKind } from '../../gen/types';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { AccountFields, RuleFields, accountFields, ruleFields, type Account, type Rules } from './fields';
import { kindWord } from './outcomes';

const kindSays: Record<MailboxKind, string> = {
  smtp: t('Your mail server forwards the mail. You get the address to forward to once the mailbox is created.'),
  imap: t('Mail is fetched every minute and marked as read on the mail server. Nothing is deleted.'),
  webhook: t('A provider such as Mailgun, SendGrid or Postmark calls an address with each message.'),
};

interface Draft extends Rules, Account { address: string; kind: MailboxKind }
const empty: Draft = { address: '', kind: 'smtp', offeringId: '', teamId: '', unknownSenders: 'hold', authservId: '', server: '', username: '' };

interface Props { close: () => void; made: (mailbox: MailboxFullFragment, password: string | null) => void }

// Make adds a mailbox.
export function Make({ close, made }: Props) {
  const [draft, write, forget, base] = useDraft('mailbox', empty);
  const [password, setPassword] = useState(''); // never in a draft
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CreateMailbox, true);
  const set = (changed: Partial<Draft>) => { write({ ...draft, ...changed }); };
  const noListener = fault?.code === 'conflict' && draft.kind === 'smtp' && fault.message.includes('SMTP'); // not said
  const fetched = draft.kind === 'imap';
  const send = async () => {
    const { address, kind, offeringId, unknownSenders } = draft;
    const o = await run({ input: {
      address, kind, offeringId, unknownSenders, teamId: draft.teamId || null, authservId: draft.authservId.trim() || null,
      ...(fetched ? { server: draft.server || null, username: draft.username || null, password: password || null } : {}),
    } });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    made(o.data.createMailbox.mailbox, o.data.createMailbox.password ?? null);
  };
  return (
    <Dialog title={t('New mailbox')} close={close} wide>
      <form className="stack" noValidate autoComplete="off" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Address')} hint={t('What people write to, such as help@example.com.')} fault={faultAt(fault, 'address')}><input type="email" autoComplete="off" value={draft.address} onChange={(e) => { set({ address: e.target.value }); }} /></Field>
        <Field label={t('How mail arrives')} hint={kindSays[draft.kind]} fault={faultAt(fault, 'kind') ?? (noListener ? t('This server does not accept mail by SMTP. Its operator can change that (--mail-domain); until then, choose another way.') : undefined)}>
          <select value={draft.kind} onChange={(e) => { set({ kind: e.target.value as MailboxKind }); setFault(null); }}>{enums.MailboxKind.map((k) => <option key={k} value={k}>{kindWord[k]}</option>)}</select>
        </Field>
        {fetched && <AccountFields draft={draft} set={set} password={password} setPassword={setPassword} fault={fault} kept={false} address={draft.address} />}
        <RuleFields draft={draft} set={set} fault={fault} />
        <Rest base={base} fault={noListener ? null : fault} fields={['address', 'kind', ...ruleFields, ...(fetched ? accountFields : [])]} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
