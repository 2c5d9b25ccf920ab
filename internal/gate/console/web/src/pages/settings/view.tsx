import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { config } from '../../app/config';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { switched } from '../../app/network';
import { atLeast, can, inSandbox, useCan, useViewer } from '../../app/session';
import { languages, placed, t } from '../../app/text';
import { applyTheme, theme, type Theme } from '../../app/theme';
import { EndAllSessions, EndSession, Sessions, SetNotice, SwitchSession, UpdateCompany, UpdateViewer } from '../../gen/documents';
import type { Locale, NotificationChannel, NotificationKind, Receipts } from '../../gen/types';
import { browser } from '../../parts/browser';
import { Badge, Time, words } from '../../ui/bits';
import { Confirm } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { toast } from '../../ui/toast';
import { zonesWith } from '../../ui/zone';

// SettingsView is what one sets for oneself, and admins for the company.
export default function SettingsView() {
  const [admin, switches] = [useCan('company.update'), useCan('session.switch') && atLeast(useViewer(), 'admin')];
  const viewer = useViewer();
  const [look, setLook] = useState<Theme>(theme());
  return (
    <Page title={t('Settings')} narrow live={t('The company’s settings')}>
      <Section title={t('Personal')} intro={`${viewer.name}${viewer.email ? ` · ${viewer.email}` : ''}`}>
        <div className="card pad stack">
          <Field label={t('Appearance')}><select value={look} onChange={(e) => { setLook(e.target.value as Theme); applyTheme(e.target.value as Theme); }}><option value="system">{t('As the system')}</option><option value="light">{t('Light')}</option><option value="dark">{t('Dark')}</option></select></Field>
          {!inSandbox(viewer) && <OwnLocale />}
          <p className="line"><a className="button plain" href={`${config.authUrl}/account/mfa`}>{t('Second factor and passkeys')}</a><a className="button plain" href="/logout">{t('Sign out')}</a></p>
        </div>
      </Section>
      <Told />
      {inSandbox(viewer) ? <Section title={t('Where you are signed in')}><p className="soft">{t('Leave the sandbox to see where you are signed in.')}</p></Section> : <Devices />}
      {admin && <CompanyForm />}
      {switches && <SandboxSwitch />}
    </Page>
  );
}

interface LocaleProps { locale: string; timeZone: string; set: (to: { locale: string; timeZone: string }) => void; fault: Fault | null; usual: [language: string, zone: string] }

// LocaleFields choose a language and a time zone; usual is what holds without a choice.
function LocaleFields({ locale, timeZone, set, fault, usual }: LocaleProps) {
  return (
    <div className="pair">
      <Field label={t('Language')} fault={faultAt(fault, 'locale')}>
        <select value={locale} onChange={(e) => { set({ locale: e.target.value, timeZone }); }}>
          <option value="">{usual[0]}</option>
          {Object.entries(languages).map(([tag, name]) => <option key={tag} value={tag} lang={tag}>{name}</option>)}
        </select>
      </Field>
      <Field label={t('Time zone')} fault={faultAt(fault, 'timeZone')}>
        <select value={timeZone} onChange={(e) => { set({ locale, timeZone: e.target.value }); }}>
          <option value="">{usual[1]}</option>
          {zonesWith(timeZone).map((z) => <option key={z} value={z}>{z}</option>)}
        </select>
      </Field>
    </div>
  );
}

// OwnLocale is the person's own language and zone, of pages and mails. Another one loads the page anew.
function OwnLocale() {
  const viewer = useViewer();
  const [run] = useWrite(UpdateViewer, true);
  const [fault, setFault] = useState<Fault | null>(null);
  const save = async (to: { locale: string; timeZone: string }) => {
    const o = await run({ input: { locale: (to.locale || null) as Locale | null, timeZone: to.timeZone || null } });
    setFault(o.fault);
    if (!o.fault) toast({ text: t('Saved.') });
  };
  return (
    <>
      <LocaleFields locale={viewer.locale ?? ''} timeZone={viewer.timeZone ?? ''} set={(to) => { void save(to); }} fault={fault} usual={[t('As the company or the browser'), t('As the browser')]} />
      <Rest fault={fault} fields={['locale', 'timeZone']} />
    </>
  );
}

function Told() {
  const viewer = useViewer();
  const [run] = useWrite(SetNotice);
  if (viewer.notificationSettings.length === 0) return null;
  const says: Record<NotificationKind, string> = {
    mention: t('Somebody mentions you'), progress: t('A request of yours is answered or closed'), receipt: t('A request that you submit has arrived'), assigned: t('Something is assigned to you'), approval: t('A decision waits for you'), consulted: t('Your advice is asked for'),
    informed: t('A phase that you follow has ended'), incident: t('A workflow stops on an error'), warning: t('A service level is due soon'), breached: t('A service level is missed'),
  };
  return (
    <Section title={t('Notifications')} intro={t('They always appear under the bell. Choose which ones also come by e-mail.')}>
      <div className="card pad pair level">
        {viewer.notificationSettings.map((s) => (
          <Field key={s.kind} label={says[s.kind]}>
            <select value={s.channel} onChange={(e) => { void run({ input: { kind: s.kind, channel: e.target.value as NotificationChannel } }).then((o) => { if (!o.fault) toast({ text: t('Saved.') }); }); }}>
              <option value="now">{t('E-mail at once')}</option>{s.kind !== 'receipt' && <option value="digest">{t('One e-mail a day')}</option>}<option value="never">{t('No e-mail')}</option>
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
  const [asking, setAsking] = useAsked('sign out', false); // not said
  return (
    <Section title={t('Where you are signed in')} actions={can(viewer, 'session.end_all') && <button type="button" className="danger-plain" onClick={() => { setAsking(true); }}>{t('Sign out everywhere')}</button>}>
      <Loaded read={read} skeleton={2}>
        {({ sessions }) => (
          <><ul className="rows">
            {rows(sessions).map((s) => (
              <li key={s.id} className="row">
                <div><span className="sub-agent">{browser(s.userAgent)}</span><div className="meta">{s.current && <Badge value="active">{t('This one')}</Badge>}{s.sandbox && <Badge value="draft">{t('Sandbox')}</Badge>}<span>{s.ip}</span><span>{placed(t('seen {when}'), { when: <Time at={s.lastSeenAt} /> })}</span></div></div>
                {!s.current && <div className="verbs"><button type="button" className="plain small" aria-label={t('Sign out of {browser}', { browser: browser(s.userAgent) })} onClick={() => { void end({ input: { id: s.id } }).then((o) => { if (!o.fault) toast({ text: t('Signed out there.') }); }); }}>{t('Sign out')}</button></div>}
              </li>
            ))}
          </ul>
          <More shown={rows(sessions).length} total={sessions?.totalCount} page={sessions?.pageInfo} next={read.next} /></>
        )}
      </Loaded>
      {asking && <Confirm title={t('Sign out everywhere?')} verb={t('Sign out everywhere')} close={() => { setAsking(false); }} act={async () => { const o = await endAll({ input: { userId: viewer.id } }); setAsking(false); if (!o.fault) location.assign('/app'); }}><p>{t('All your sessions end, including this one, and the tokens of all applications.')}</p></Confirm>}
    </Section>
  );
}

function CompanyForm() {
  const company = useViewer().company;
  const now = { name: company?.name ?? '', mfaRequired: company?.mfaRequired ?? false, locale: (company?.locale ?? '') as string, timeZone: company?.timeZone ?? '', minutes: String(company?.sessionLifetimeMinutes ?? 60), receipts: company?.receipts ?? 'members' };
  const [draft, set, forget, base] = useDraft('company', now, company?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(UpdateCompany, true);
  const send = async () => {
    const o = await run({ input: {
      ...base.match, ...(draft.name === company?.name ? {} : { name: draft.name }), ...(draft.mfaRequired === company?.mfaRequired ? {} : { mfaRequired: draft.mfaRequired }),
      ...(draft.locale === (company?.locale ?? '') ? {} : { locale: (draft.locale || null) as Locale | null }), ...(draft.timeZone === (company?.timeZone ?? '') ? {} : { timeZone: draft.timeZone || null }),
      ...(Number(draft.minutes) === company?.sessionLifetimeMinutes ? {} : { sessionLifetimeMinutes: Number(draft.minutes) }), ...(draft.receipts === company?.receipts ? {} : { receipts: draft.receipts }),
    } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    toast({ text: t('The company was saved.') });
  };
  return (
    <Section title={t('Company')} intro={t('Plan: {plan}', { plan: words(company?.plan ?? '') })}>
      <form className="card stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Sign people out after (minutes of inactivity)')} fault={faultAt(fault, 'sessionLifetimeMinutes')}><input type="number" min={5} value={draft.minutes} onChange={(e) => { set({ ...draft, minutes: e.target.value }); }} /></Field>
        <LocaleFields locale={draft.locale} timeZone={draft.timeZone} set={(to) => { set({ ...draft, ...to }); }} fault={fault} usual={[t('As the browser; English in e-mails'), 'UTC']} />
        <Field label={t('Who gets an e-mail that their request has arrived')} hint={t('A person’s own choice comes first.')} fault={faultAt(fault, 'receipts')}>
          <select value={draft.receipts} onChange={(e) => { set({ ...draft, receipts: e.target.value as Receipts }); }}><option value="members">{t('Members, and whoever submits by e-mail')}</option><option value="everyone">{t('Everybody')}</option><option value="none">{t('Nobody')}</option></select>
        </Field>
        <Check label={t('Everybody needs a second factor')} hint={t('People without one set it up at their next sign-in.')} checked={draft.mfaRequired} set={(mfaRequired) => { set({ ...draft, mfaRequired }); }} />
        <Rest base={base} fault={fault} fields={['name', 'sessionLifetimeMinutes', 'locale', 'timeZone', 'receipts']} />
        <footer><button type="submit" disabled={busy}>{t('Save')}</button></footer>
      </form>
    </Section>
  );
}

function SandboxSwitch() {
  const inside = inSandbox(useViewer());
  const [run, busy] = useWrite(SwitchSession);
  return (
    <Section title={t('Sandbox')} intro={t('A separate company to try things in. Test keys work in it.')}>
      <button type="button" className="plain" disabled={busy} onClick={() => { void run({ input: { sandbox: !inside } }).then((o) => { if (!o.fault) switched(); }); }}>
        {inside ? t('Leave the sandbox') : t('Switch to the sandbox')}
      </button>
    </Section>
  );
}
