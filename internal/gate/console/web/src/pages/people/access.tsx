import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import { EndAllSessions, EndSessionOf, ResetMfa, SessionsOf } from '../../gen/documents';
import type { PersonFragment } from '../../gen/types';
import { browser, proofs } from '../../parts/browser';
import { Badge, Time } from '../../ui/bits';
import { Confirm, Dialog } from '../../ui/dialog';
import { More } from '../../ui/more';
import { Loaded } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

// Access is where a person is signed in, and the way to end that, and to have them set up their second factor anew.
export function Access({ user: u, close }: { user: PersonFragment; close: () => void }) {
  const viewer = useViewer();
  const read = usePages(SessionsOf, { userId: u.id, first: 50 });
  const [asking, setAsking] = useAsked<'all' | 'factor' | ''>('sign-ins', '');
  const [end] = useWrite(EndSessionOf);
  const [endAll] = useWrite(EndAllSessions);
  const [reset] = useWrite(ResetMfa);
  const list = rows(read.data?.sessions);
  const done = (text: string) => { toast({ text }); read.again(); };
  return (
    <Dialog title={t('Sign-ins of {name}', { name: u.name })} close={close} wide>
      <div className="stack">
        <Loaded read={read} skeleton={2}>
          {() => (list.length === 0 ? <Empty title={t('This person is not signed in anywhere')} /> : (
            <>
              <ul className="rows">
                {list.map((s) => (
                  <li key={s.id} className="row">
                    <div><span className="sub-agent">{browser(s.userAgent)}</span><div className="meta">{s.sandbox && <Badge value="draft">{t('Sandbox')}</Badge>}<span>{s.ip}</span><span>{t('by {proofs}', { proofs: proofs(s.methods) })}</span><span>{placed(t('seen {when}'), { when: <Time at={s.lastSeenAt} /> })}</span></div></div>
                    {can(viewer, 'session.end') && <div className="verbs"><button type="button" className="plain small" aria-label={t('Sign out of {ip}', { ip: s.ip ?? '' })} onClick={() => { void end({ input: { id: s.id } }).then((o) => { if (!o.fault) done(t('The session was ended.')); }); }}>{t('Sign out')}</button></div>}
                  </li>
                ))}
              </ul>
              <More shown={list.length} total={read.data?.sessions?.totalCount} page={read.data?.sessions?.pageInfo} next={read.next} />
            </>
          ))}
        </Loaded>
        <footer>
          {u.mfaEnabled && can(viewer, 'user.reset_mfa') && <button type="button" className="danger-plain" onClick={() => { setAsking('factor'); }}>{t('Reset second factor')}</button>}
          {can(viewer, 'session.end_all') && <button type="button" className="danger-plain" onClick={() => { setAsking('all'); }}>{t('Sign out everywhere')}</button>}
          <button type="button" onClick={close}>{t('Done')}</button>
        </footer>
      </div>
      {asking === 'all' && <Confirm title={t('Sign {name} out everywhere?', { name: u.name })} verb={t('Sign out everywhere')} close={() => { setAsking(''); }} act={async () => { const o = await endAll({ input: { userId: u.id } }); setAsking(''); if (!o.fault) done(t('{name} is signed out everywhere.', { name: u.name })); }}><p>{t('All their sessions end, and the tokens of all applications. They can sign in again.')}</p></Confirm>}
      {asking === 'factor' && <Confirm title={t('Reset the second factor of {name}?', { name: u.name })} verb={t('Reset second factor')} close={() => { setAsking(''); }} act={async () => { const o = await reset({ input: { id: u.id, ifMatch: u.etag } }); setAsking(''); if (!o.fault) done(t('{name} can set up another second factor.', { name: u.name })); }}><p>{t('Their second factors and recovery codes are removed, so that they can set up new ones.')}</p></Confirm>}
    </Dialog>
  );
}
