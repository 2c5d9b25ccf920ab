import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { useRead, useWrite } from '../../app/data';
import { differing } from '../../app/digits';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import { DeleteMailbox, MailboxOne, RotateMailboxPassword, UpdateMailbox } from '../../gen/documents';
import type { MailboxFullFragment } from '../../gen/types';
import { useTeamChoices } from '../../parts/choices';
import { Time } from '../../ui/bits';
import { Confirm, Copyable, Once } from '../../ui/dialog';
import { hasDraft, useDraft } from '../../ui/draft';
import { Rest } from '../../ui/field';
import { focusSoon } from '../../ui/focus';
import { Loaded, Page, Section } from '../../ui/page';
import { NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { AccountFields, RuleFields, accountFields, ruleFields, useOfferings } from './fields';
import { faultSaid, kindWord, unknownWord } from './outcomes';
import { BoxState } from './state';

// MailboxView is one mailbox: how its mail comes, and what becomes of it.
export default function MailboxView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(MailboxOne, { id });
  const b = read.data?.node && 'address' in read.data.node ? read.data.node as MailboxFullFragment : null;
  return (
    <Page title={b?.address ?? t('Mailbox')} verb="mailbox.read" above={<Link to="/app/mailboxes">{t('Mailboxes')}</Link>}>
      <Loaded read={read}>{() => (b ? <Body box={b} /> : <NotFound says={t('This mailbox was not found')} />)}</Loaded>
    </Page>
  );
}

const draftOf = (b: { id: string }) => `mailbox ${b.id}`;

function Body({ box: b }: { box: MailboxFullFragment }) {
  const viewer = useViewer();
  const navigate = useNavigate();
  const [asking, setAsking] = useAsked<'rotate' | 'delete' | ''>('verb', '');
  const [password, setPassword] = useState('');
  const [update] = useWrite(UpdateMailbox);
  const [rotate] = useWrite(RotateMailboxPassword);
  const [remove] = useWrite(DeleteMailbox);
  const close = () => { setAsking(''); };
  const updates = can(viewer, 'mailbox.update');
  // What was written and not saved would be of a row that is no more: it is saved or discarded first.
  const saved = (row: MailboxFullFragment, act: (row: MailboxFullFragment) => void) => () => {
    if (hasDraft(draftOf(row))) toast({ text: t('There are changes that were not saved. Save or discard them first.'), bad: true });
    else act(row);
  };
  const toggle = async (row: MailboxFullFragment, undo = true) => {
    const now = (await update({ input: { id: row.id, ifMatch: row.etag, enabled: !row.enabled } })).data?.updateMailbox.mailbox;
    if (now) toast({ text: now.enabled ? t('It accepts mail again.') : t('It no longer accepts mail.'), ...(undo ? { undo: saved(now, (r) => { void toggle(r, false); }) } : {}) });
  };
  return (
    <>
      <div className="line verbs-line">
        <BoxState of={b} /><span className="grow" />
        {can(viewer, 'inboundmail.read') && <Link to="/app/mail" search={{ mailbox: b.id } as never} className="button plain">{t('Messages')}</Link>}
        {updates && <button type="button" className="plain" onClick={saved(b, (r) => { void toggle(r); })}>{b.enabled ? t('Disable') : t('Enable')}</button>}
        {updates && b.kind === 'webhook' && <button type="button" className="plain" onClick={saved(b, () => { setAsking('rotate'); })}>{t('Rotate password')}</button>}
        {can(viewer, 'mailbox.delete') && <button type="button" className="danger-plain" onClick={() => { setAsking('delete'); }}>{t('Delete')}</button>}
      </div>
      <Section title={t('How mail arrives')}><Source box={b} /></Section>
      <Section title={t('Settings')}>{updates ? <Edit key={b.etag} box={b} /> : <Facts box={b} />}</Section>
      {asking === 'rotate' && <Confirm title={t('Rotate the password?')} verb={t('Rotate')} close={close} act={async () => { const o = await rotate({ input: { id: b.id, ifMatch: b.etag } }); close(); if (o.data) setPassword(o.data.rotateMailboxPassword.password ?? ''); }}><p>{t('The old password stops working at once: until your provider has the new one, its calls are refused.')}</p></Confirm>}
      {asking === 'delete' && <Confirm title={t('Delete {name}?', { name: b.address })} verb={t('Delete')} close={close} act={async () => { const o = await remove({ input: { id: b.id } }); close(); if (!o.fault) void navigate({ to: '/app/mailboxes' }); }}><p>{t('It no longer accepts mail, and held messages are lost. Requests and comments created from its mail stay.')}</p></Confirm>}
      {password && <Once title={t('The new password')} label={t('Password')} value={password} close={() => { setPassword(''); }} />}
    </>
  );
}

// Source says what is to be done elsewhere so that mail comes, or how fetching it goes.
function Source({ box: b }: { box: MailboxFullFragment }) {
  return (
    <div className="card pad stack">
      <p>{kindWord[b.kind]}</p>
      {b.receivesAt && <>
        <Copyable label={t('Address to forward to')} value={b.receivesAt} />
        <p className="soft">{t('On your mail server, forward (redirect) all mail for {address} to this address unchanged.', { address: b.address })}</p>
      </>}
      {b.url && <>
        <Copyable label={t('Address')} value={b.url} />
        <p className="soft">{t('Have your provider POST each complete message (raw MIME) to this address, with any user name and this password as HTTP basic authentication.')}</p>
      </>}
      {b.kind === 'imap' && <>
        {b.fault && <p className="alert" role="alert" dir="auto">{faultSaid(b.fault)}</p>}
        <p className="soft">{placed(b.fetchedAt ? t('{user} at {server}, last fetched {when}') : t('{user} at {server}, not fetched yet'), { user: <bdi>{b.username}</bdi>, server: <code>{b.server}</code>, when: <Time at={b.fetchedAt} /> })}</p>
      </>}
      {b.kind !== 'smtp' && <p className="soft">{t('Answers come to addresses such as {address}: your mail server has to deliver them to this mailbox, too (plus addressing).', { address: b.address.replace('@', '+…@') })}</p>}
    </div>
  );
}

// Facts are the same as the form, for those who may not change it.
function Facts({ box: b }: { box: MailboxFullFragment }) {
  const offering = useOfferings().find((o) => o.id === b.offeringId)?.name;
  const team = useTeamChoices().find((x) => x.id === b.teamId)?.name;
  return (
    <dl className="answers card">
      <dt>{t('Offering')}</dt><dd><bdi>{offering}</bdi></dd>
      <dt>{t('Team')}</dt><dd><bdi>{b.teamId ? team : t('As the routing rules say')}</bdi></dd>
      <dt>{t('Mail from people who are not members')}</dt><dd>{unknownWord[b.unknownSenders]}</dd>
      {b.authservId && <><dt>{t('Trusted mail server')}</dt><dd><code>{b.authservId}</code></dd></>}
    </dl>
  );
}

function Edit({ box: b }: { box: MailboxFullFragment }) {
  const now = { offeringId: b.offeringId, teamId: b.teamId ?? '', unknownSenders: b.unknownSenders, authservId: b.authservId ?? '', server: b.server ?? '', username: b.username ?? '' };
  const [draft, write, forget, base] = useDraft(draftOf(b), now, b.etag);
  const [password, setPassword] = useState(''); // never in a draft
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(UpdateMailbox, true);
  const set = (changed: Partial<typeof now>) => { write({ ...draft, ...changed }); };
  const fetched = b.kind === 'imap';
  const send = async () => {
    const { server, username, ...rules } = draft;
    const changed = differing({ ...rules, teamId: rules.teamId || null, authservId: rules.authservId.trim() || null, ...(fetched ? { server, username } : {}) }, b);
    const input = { ...changed, ...(fetched && password ? { password } : {}) };
    const o = Object.keys(input).length > 0 ? await run({ input: { id: b.id, ...base.match, ...input } }) : null;
    setFault(o?.fault ?? null);
    if (o?.fault) return;
    forget();
    setPassword('');
    toast({ text: t('The mailbox was saved.') });
    focusSoon(() => globalThis.document.querySelector<HTMLElement>('main [type=submit]')); // the form is another one now
  };
  return (
    <form className="card stack" noValidate autoComplete="off" onSubmit={(e) => { e.preventDefault(); void send(); }}>
      {fetched && <AccountFields draft={draft} set={set} password={password} setPassword={setPassword} fault={fault} kept address={b.address} />}
      <RuleFields draft={draft} set={set} fault={fault} />
      <Rest base={base} fault={fault} fields={[...ruleFields, ...(fetched ? accountFields : [])]} />
      <footer>
        {(hasDraft(draftOf(b)) || JSON.stringify(draft) !== JSON.stringify(now)) && <button type="button" className="plain" onClick={() => { write(now); forget(); }}>{t('Discard')}</button>}
        <button type="submit" disabled={busy}>{t('Save')}</button>
      </footer>
    </form>
  );
}
