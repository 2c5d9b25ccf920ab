import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { config } from '../../app/config';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { switched } from '../../app/network';
import { atLeast, can, inSandbox, useCan, useViewer } from '../../app/session';
import { applyTheme, theme, type Theme } from '../../app/theme';
import { EndAllSessions, EndSession, Sessions, SetNotice, SwitchSession, UpdateCompany } from '../../gen/documents';
import type { NotificationChannel, NotificationKind } from '../../gen/types';
import { browser } from '../../parts/browser';
import { Badge, Time, words } from '../../ui/bits';
import { Confirm } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { toast } from '../../ui/toast';

// SettingsView is what one sets for oneself, and admins for the company.
export default function SettingsView() {
  const [admin, switches] = [useCan('company.update'), useCan('session.switch') && atLeast(useViewer(), 'admin')];
  const viewer = useViewer();
  const [look, setLook] = useState<Theme>(theme());
  return (
    <Page title="Settings" narrow live="The company’s settings">
      <Section title="You" intro={`${viewer.name}${viewer.email ? ` · ${viewer.email}` : ''}`}>
        <div className="card pad stack">
          <Field label="Appearance"><select value={look} onChange={(e) => { setLook(e.target.value as Theme); applyTheme(e.target.value as Theme); }}><option value="system">As the system</option><option value="light">Light</option><option value="dark">Dark</option></select></Field>
          <p className="line"><a className="button plain" href={`${config.authUrl}/account/mfa`}>Second factor and passkeys</a><a className="button plain" href="/logout">Sign out</a></p>
        </div>
      </Section>
      <Told />
      {inSandbox(viewer) ? <Section title="Where you are signed in"><p className="soft">Sign-ins are the live company’s: leave the sandbox to see and end them.</p></Section> : <Devices />}
      {admin && <CompanyForm />}
      {switches && <SandboxSwitch />}
    </Page>
  );
}

function Told() {
  const viewer = useViewer();
  const [run] = useWrite(SetNotice);
  if (viewer.notificationSettings.length === 0) return null;
  const says: Record<NotificationKind, string> = {
    mention: 'Somebody mentions you', progress: 'A request of yours is answered or ends', assigned: 'Something is assigned to you', approval: 'A decision waits for you', consulted: 'Your advice is asked for',
    informed: 'A phase that you follow has ended', incident: 'A workflow cannot go on', warning: 'A service level is nearly missed', breached: 'A service level is missed',
  };
  return (
    <Section title="Notifications" intro="They always stand behind the bell; here is what comes by mail as well.">
      <div className="card pad pair level">
        {viewer.notificationSettings.map((s) => (
          <Field key={s.kind} label={says[s.kind]}>
            <select value={s.channel} onChange={(e) => { void run({ input: { kind: s.kind, channel: e.target.value as NotificationChannel } }).then((o) => { if (!o.fault) toast({ text: 'Saved.' }); }); }}>
              <option value="now">Mail at once</option><option value="digest">One mail a day</option><option value="never">No mail</option>
            </select>
          </Field>
        ))}
      </div>
    </Section>
  );
}

function Devices() {
  const viewer = useViewer();
  const read = usePages(Sessions, { first: 50 });
  const [end] = useWrite(EndSession);
  const [endAll] = useWrite(EndAllSessions);
  const [asking, setAsking] = useAsked('sign out', false);
  return (
    <Section title="Where you are signed in" actions={can(viewer, 'session.end_all') && <button type="button" className="danger-plain" onClick={() => { setAsking(true); }}>Sign out everywhere</button>}>
      <Loaded read={read} skeleton={2}>
        {({ sessions }) => (
          <><ul className="rows">
            {rows(sessions).map((s) => (
              <li key={s.id} className="row">
                <div><span className="sub-agent">{browser(s.userAgent)}</span><div className="meta">{s.current && <Badge value="active">This one</Badge>}{s.sandbox && <Badge value="draft">Sandbox</Badge>}<span>{s.ip}</span><span>seen <Time at={s.lastSeenAt} /></span></div></div>
                {!s.current && <div className="verbs"><button type="button" className="plain small" onClick={() => { void end({ input: { id: s.id } }).then((o) => { if (!o.fault) toast({ text: 'Signed out there.' }); }); }}>Sign out<span className="hidden"> of {browser(s.userAgent)}</span></button></div>}
              </li>
            ))}
          </ul>
          <More shown={rows(sessions).length} total={sessions?.totalCount} page={sessions?.pageInfo} next={read.next} /></>
        )}
      </Loaded>
      {asking && <Confirm title="Sign out everywhere?" verb="Sign out everywhere" close={() => { setAsking(false); }} act={async () => { const o = await endAll({ input: { userId: viewer.id } }); setAsking(false); if (!o.fault) location.assign('/app'); }}><p>All your sessions end, this one too, and the tokens of all applications.</p></Confirm>}
    </Section>
  );
}

function CompanyForm() {
  const company = useViewer().company;
  const now = { name: company?.name ?? '', mfaRequired: company?.mfaRequired ?? false, minutes: String(company?.sessionLifetimeMinutes ?? 60) };
  const [draft, set, forget, base] = useDraft('company', now, company?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(UpdateCompany, true);
  const send = async () => {
    const o = await run({ input: {
      ...base.match, ...(draft.name === company?.name ? {} : { name: draft.name }), ...(draft.mfaRequired === company?.mfaRequired ? {} : { mfaRequired: draft.mfaRequired }),
      ...(Number(draft.minutes) === company?.sessionLifetimeMinutes ? {} : { sessionLifetimeMinutes: Number(draft.minutes) }),
    } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    toast({ text: 'The company was saved.' });
  };
  return (
    <Section title="Company" intro={<>On the plan {words(company?.plan ?? '')}.</>}>
      <form className="card stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label="Name" fault={faultAt(fault, 'name')}><input value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label="Minutes that a session lasts unused" fault={faultAt(fault, 'sessionLifetimeMinutes')}><input type="number" min={5} value={draft.minutes} onChange={(e) => { set({ ...draft, minutes: e.target.value }); }} /></Field>
        <Check label="Everybody needs a second factor" hint="Who has none sets one up at the next sign-in." checked={draft.mfaRequired} set={(mfaRequired) => { set({ ...draft, mfaRequired }); }} />
        <Rest base={base} fault={fault} fields={['name', 'sessionLifetimeMinutes']} />
        <footer><button type="submit" disabled={busy}>Save</button></footer>
      </form>
    </Section>
  );
}

function SandboxSwitch() {
  const inside = inSandbox(useViewer());
  const [run, busy] = useWrite(SwitchSession);
  return (
    <Section title="Sandbox" intro="A company to try things in, apart from the live one. Test keys reach it.">
      <button type="button" className="plain" disabled={busy} onClick={() => { void run({ input: { sandbox: !inside } }).then((o) => { if (!o.fault) switched(); }); }}>
        {inside ? 'Leave the sandbox' : 'Switch to the sandbox'}
      </button>
    </Section>
  );
}
