import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, useRead, useWrite } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import { InviteSender, MessageOne, MessageRequest, RefuseMessage, ReleaseMessage, SenderOf } from '../../gen/documents';
import type { MailboxFullFragment, MessageFragment } from '../../gen/types';
import { Badge, Time } from '../../ui/bits';
import { Confirm, Dialog } from '../../ui/dialog';
import { Loaded } from '../../ui/page';
import { NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { onRelease, outcomeSays, outcomeTone, outcomeWord, reasonSaid, releasable } from './outcomes';

export const subjectOf = (m: { subject?: string | null }) => m.subject || t('(no subject)');

interface Props { id: string; boxes: MailboxFullFragment[]; close: () => void; changed: () => void }

// Message is what came, what became of it and why; of one that is held, staff say here what becomes of it.
export function Message({ id, boxes, close, changed }: Props) {
  const read = useRead(MessageOne, { id });
  const m = read.data?.node && 'outcome' in read.data.node ? read.data.node as MessageFragment : null;
  return (
    <Dialog title={m ? subjectOf(m) : t('Message')} close={close} side>
      <Loaded read={read} skeleton={4}>{() => (m ? <Body message={m} box={boxes.find((b) => b.id === m.mailboxId)} again={read.again} close={close} changed={changed} /> : <NotFound says={t('This message was not found')} />)}</Loaded>
    </Dialog>
  );
}

interface BodyProps { message: MessageFragment; box: MailboxFullFragment | undefined; again: () => void; close: () => void; changed: () => void }

function Body({ message: m, box, again, close, changed }: BodyProps) {
  const [working, work] = useWorked(m, again, changed);
  const { says, findings } = reasonSaid(m.reason ?? outcomeSays[m.outcome]);
  return (
    <div className="stack">
      <p className="line"><Badge value={outcomeTone[m.outcome]}>{outcomeWord[m.outcome]}</Badge><span>{says}</span></p>
      <dl className="answers card">
        <dt>{t('mail|From')}</dt><dd><bdi>{m.sender ?? '–'}</bdi></dd>
        <dt>{t('mail|To')}</dt><dd><bdi>{box?.address ?? m.recipient}</bdi></dd>
        <dt>{t('Received')}</dt><dd><Time at={m.createdAt} full /></dd>
        {m.requestId && <><dt>{t('Request')}</dt><dd><About id={m.requestId} /></dd></>}
      </dl>
      {findings.length > 0 && <details><summary>{t('What the check found')}</summary><ul className="changes mono">{findings.map((f) => <li key={f}>{f}</li>)}</ul></details>}
      <section>
        <h3>{t('Preview')}</h3>
        {m.excerpt ? <p className="prose" dir="auto">{m.excerpt}</p> : <p className="soft">{t('It has no text, or is not kept any more: messages are kept for 30 days.')}</p>}
      </section>
      {releasable(m) && <Held message={m} box={box} working={working} work={work} refused={() => { close(); changed(); }} />}
    </div>
  );
}

// About leads to a request, by its number and title where one may read it.
function About({ id }: { id: string }) {
  const node = useRead(MessageRequest, { id }).data?.node;
  return <Link to="/app/requests/$id" params={{ id }} dir="auto">{node && 'title' in node ? `#${node.number} ${node.title}` : t('Open the request')}</Link>;
}

const patience = 20_000; // in milliseconds; a message is worked within a second or two

// useWorked reads a message that was released until the server has made something of it, and says what. It returns whether that goes on,
// and what begins it.
function useWorked(m: MessageFragment, again: () => void, changed: () => void): [boolean, () => void] {
  const [since, setSince] = useState('');
  const latest = useRef({ again, changed });
  latest.current = { again, changed };
  useEffect(() => {
    if (!since) return undefined;
    const until = Date.now() + patience;
    const timer = setInterval(() => {
      if (Date.now() < until) latest.current.again();
      else setSince('');
    }, 1000);
    return () => { clearInterval(timer); };
  }, [since]);
  useEffect(() => {
    if (!since || m.updatedAt === since) return;
    setSince('');
    toast(m.outcome === 'HELD' ? { text: t('It is held again. The reason is above.'), bad: true } : { text: outcomeSays[m.outcome] });
    latest.current.changed();
  }, [since, m]);
  return [since !== '', () => { setSince(m.updatedAt); }];
}

interface HeldProps { message: MessageFragment; box: MailboxFullFragment | undefined; working: boolean; work: () => void; refused: () => void }

// Held says what releasing a message means, and offers that and, of one that waits, to refuse it.
function Held({ message: m, box, working, work, refused }: HeldProps) {
  const viewer = useViewer();
  const sender = useRead(SenderOf, { email: [m.sender ?? ''] }, !can(viewer, 'user.read'));
  const [asking, setAsking] = useAsked('refuse', false);
  const [release, releasing] = useWrite(ReleaseMessage);
  const [invite, inviting] = useWrite(InviteSender);
  const [refuse] = useWrite(RefuseMessage);
  const who = rows(sender.data?.users)[0];
  const then = onRelease(who?.status, box?.unknownSenders ?? 'hold');
  const vouch = async () => {
    if (then === 'invite' && (await invite({ input: { email: m.sender ?? '', role: 'member' } })).fault) return;
    if ((await release({ input: { id: m.id } })).data) work();
  };
  const says = {
    filed: who ? placed(m.outcome === 'LOOP' ? t('Release it if it matters all the same. It then becomes a comment or a request of {name}, and nobody is sent a receipt.') : t('Release it if you trust that {name} wrote it. It then becomes a comment or a request of theirs.'), { name: <bdi>{who.name}</bdi> }) : t('Its sender is not a member. Release the message to invite them and submit the request.'),
    invite: can(viewer, 'user.invite') ? t('Its sender is not a member. Invite them to submit their request.') : t('Its sender is not a member. An admin can invite them; then you can release the message.'),
    refused: t('Its sender is no longer a member, so it cannot be processed.'),
  }[then];
  const offers = then === 'filed' || (then === 'invite' && can(viewer, 'user.invite'));
  const busy = working || releasing || inviting;
  if (!sender.data && !sender.fault) return null;
  return (
    <>
      {can(viewer, 'inboundmail.release') && <p className="notice" role="status">{working ? t('It is being worked on…') : says}</p>}
      <footer className="line">
        {m.outcome === 'HELD' && can(viewer, 'inboundmail.refuse') && <button type="button" className="danger-plain" disabled={busy} onClick={() => { setAsking(true); }}>{t('Refuse')}</button>}
        {can(viewer, 'inboundmail.release') && offers && <button type="button" disabled={busy} onClick={() => { void vouch(); }}>{then === 'invite' ? t('Invite and release') : t('Release')}</button>}
      </footer>
      {asking && (
        <Confirm title={t('Refuse this message?')} verb={t('Refuse')} close={() => { setAsking(false); }} act={async () => {
          const o = await refuse({ input: { id: m.id } });
          setAsking(false);
          if (o.fault) return;
          toast({ text: t('The message was refused.') });
          refused();
        }}><p>{t('It is discarded and its sender is not notified. It cannot be released afterwards.')}</p></Confirm>
      )}
    </>
  );
}
