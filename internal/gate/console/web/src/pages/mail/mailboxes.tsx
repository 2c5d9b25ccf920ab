import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { Mailboxes } from '../../gen/documents';
import type { MailboxFullFragment } from '../../gen/types';
import { Subpages } from '../../parts/subpages';
import { Copyable, Once } from '../../ui/dialog';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { useOfferings } from './fields';
import { Make } from './make';
import { kindWord } from './outcomes';
import { BoxState } from './state';

// MailboxList is the addresses whose mail becomes requests and comments.
export default function MailboxList() {
  const read = usePages(Mailboxes, { first: 50 });
  const viewer = useViewer();
  const navigate = useNavigate();
  const [making, setMaking] = useAsked('new', false);
  const [made, setMade] = useState<{ box: MailboxFullFragment; password: string } | null>(null);
  const offerings = new Map(useOfferings().map((o) => [o.id, o.name]));
  const list = rows(read.data?.mailboxes);
  const show = (box: MailboxFullFragment) => { void navigate({ to: '/app/mailboxes/$id', params: { id: box.id } }); };
  return (
    <Page title={t('Mailboxes')} live={t('Mailboxes')} verb="mailbox.read" intro={t('What people write to these addresses becomes requests and comments.')} tabs={<Subpages of="mail" />} actions={can(viewer, 'mailbox.create') && <button type="button" onClick={() => { setMaking(true); }}>{t('New mailbox')}</button>}>
      <Loaded read={read} skeleton={3}>
        {({ mailboxes }) => (list.length === 0 ? <Empty title={t('There are no mailboxes yet')}><p>{t('Mail can be forwarded here, fetched from a mail server, or sent by a mail provider.')}</p></Empty> : (
          <>
            <ul className="rows">
              {list.map((b) => (
                <li key={b.id} className="row">
                  <div>
                    <Link className="name" to="/app/mailboxes/$id" params={{ id: b.id }}>{b.address}</Link>
                    <div className="meta"><BoxState of={b} /><span>{kindWord[b.kind]}</span><span dir="auto">{offerings.get(b.offeringId)}</span></div>
                  </div>
                </li>
              ))}
            </ul>
            <More shown={list.length} total={mailboxes?.totalCount} page={mailboxes?.pageInfo} next={read.next} />
          </>
        ))}
      </Loaded>
      {making && <Make close={() => { setMaking(false); }} made={(box, password) => { setMaking(false); if (password) setMade({ box, password }); else show(box); }} />}
      {made && (
        <Once title={t('The password of the webhook')} label={t('Password')} value={made.password} close={() => { setMade(null); show(made.box); }}>
          <p className="soft">{t('Your provider calls this address with any user name and this password (HTTP basic authentication).')}</p>
          <Copyable label={t('Address')} value={made.box.url ?? ''} />
        </Once>
      )}
    </Page>
  );
}
