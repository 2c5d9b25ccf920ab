// shell is what stands around every page: where one can go, what is new, what was said.
import { Link, Outlet, useLocation, useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import {
  Bell, BookOpen, Bot, CalendarClock, CalendarDays, CircleCheck, Coins, FileClock, Inbox, KeyRound, LayoutGrid, ListChecks, ListTodo, Lock, LogOut, Mail, Menu, Search, Settings,
  ShieldCheck, Split, Users, Webhook, Workflow, X,
} from 'lucide-react';
import { lazy, Suspense, useEffect, useMemo, useState, type ComponentType } from 'react';
import { SwitchSession } from '../gen/documents';
import { keyLabel, useKeys } from '../keys/registry';
import { Confirm, Dialog } from '../ui/dialog';
import { Page } from '../ui/page';
import { Failed, NotFound, Skeleton } from '../ui/states';
import { passed, toast, Toasts } from '../ui/toast';
import { proved } from './asked';
import { on, type Events } from './bus';
import { useWrite } from './data';
import { useLive, useLost } from './live';
import { switched } from './network';
import { Notices } from './notices';
import { can, inSandbox, roleWord, Session, useCan, useViewer } from './session';
import { plural, t } from './text';

// What does not come leaves the page as it is.
const absent = () => { toast({ text: t('This part could not be loaded. Try again, or reload the page.'), bad: true }); return { default: () => <></> }; };
const Command = lazy<ComponentType<{ places: Place[]; close: () => void; begun: string }>>(() => import('../keys/command').catch(absent));
const Help = lazy<ComponentType<{ close: () => void }>>(() => import('../keys/help').catch(absent));

// Place is where one can go from everywhere; `also` are addresses that belong to it.
interface Place { label: string; to: string; icon: ComponentType<{ size?: number }>; verb?: string; keys?: string; group: string; also?: string[] }

const places: Place[] = [
  { label: t('Catalogue'), to: '/app/catalogue', icon: LayoutGrid, keys: 'c', group: t('Personal') },
  { label: t('My requests'), to: '/app/my-requests', icon: FileClock, keys: 'm', group: t('Personal') },
  { label: t('Inbox'), to: '/app/inbox', icon: Inbox, verb: 'request.accept', keys: 'i', group: t('Work') },
  { label: t('Requests'), to: '/app/requests', icon: ListTodo, verb: 'request.update', keys: 'r', group: t('Work') },
  { label: t('Tasks'), to: '/app/tasks', icon: ListChecks, verb: 'task.read', keys: 't', group: t('Work') },
  { label: t('Mail'), to: '/app/mail', icon: Mail, verb: 'inboundmail.read', keys: 'e', group: t('Work'), also: ['/app/mailboxes'] },
  { label: t('Services'), to: '/app/services', icon: BookOpen, verb: 'request.update', keys: 's', group: t('Build') },
  { label: t('Workflows'), to: '/app/workflows', icon: Workflow, verb: 'workflow.read', keys: 'w', group: t('Build'), also: ['/app/executions'] },
  { label: t('Routing rules'), to: '/app/routing', icon: Split, verb: 'routingrule.read', group: t('Build') },
  { label: t('Calendars'), to: '/app/calendars', icon: CalendarDays, verb: 'calendar.read', group: t('Build') },
  { label: t('Schedules'), to: '/app/schedules', icon: CalendarClock, verb: 'schedule.read', keys: 'd', group: t('Build') },
  { label: t('AI agents'), to: '/app/agents', icon: Bot, verb: 'agentrun.read', group: t('Build'), also: ['/app/runs', '/app/proposals'] },
  { label: t('People'), to: '/app/people', icon: Users, verb: 'user.read', keys: 'p', group: t('Company'), also: ['/app/organizations'] },
  { label: t('API keys'), to: '/app/keys', icon: KeyRound, verb: 'apikey.read', keys: 'k', group: t('Company'), also: ['/app/service-accounts', '/app/oauth-clients'] },
  { label: t('Webhooks'), to: '/app/webhooks', icon: Webhook, verb: 'webhooksubscription.read', group: t('Company'), also: ['/app/inbound-webhooks'] },
  { label: t('Access policies'), to: '/app/policies', icon: ShieldCheck, verb: 'accesspolicy.read', group: t('Company') },
  { label: t('Secrets'), to: '/app/secrets', icon: Lock, verb: 'secret.read', group: t('Company') },
  { label: t('Credits'), to: '/app/credits', icon: Coins, verb: 'billing.read', group: t('Company'), also: ['/app/plan'] },
  { label: t('Audit'), to: '/app/audit', icon: CircleCheck, verb: 'audit.read', keys: 'a', group: t('Company') },
  { label: t('Settings'), to: '/app/settings', icon: Settings, keys: ',', group: t('Company') },
];

const groups = [...new Set(places.map((p) => p.group))];

const within = (p: Place, path: string) => [p.to, ...p.also ?? []].some((to) => path === to || path.startsWith(`${to}/`));

export function Shell() {
  return <><Session wait={<Waiting />}><Frame /></Session><Said /></>;
}

// Waiting stands where everything will be, until it is known who came. The server's index.html shows the same before there is any script.
function Waiting() {
  return (
    <div className="shell">
      <header className="topbar" />
      <div className="side" />
      <div className="content"><main className="page" aria-busy><h1 className="hidden">{t('Atrium')}</h1><Skeleton /></main></div>
    </div>
  );
}

// Said shows what was said, also before it is known who came.
function Said() {
  useEffect(() => { if (proved()) toast({ text: t('Thank you: you can continue where you were. What you have written is kept.') }); }, []);
  const path = useLocation({ select: (l) => l.pathname });
  useEffect(passed, [path]);
  useEffect(() => on('slow', ({ seconds }) => { toast({ text: plural(seconds, 'There were too many calls. Trying again in {n} second.', 'There were too many calls. Trying again in {n} seconds.') }); }), []);
  return <Toasts />;
}

function Frame() {
  const viewer = useViewer();
  const navigate = useNavigate();
  const { history } = useRouter();
  const path = useLocation({ select: (l) => l.pathname });
  const [open, setOpen] = useState<'command' | 'help' | 'notices' | 'menu' | ''>('');
  const mine = useMemo(() => places.filter((p) => !p.verb || can(viewer, p.verb)), [viewer]);
  const sandbox = inSandbox(viewer);
  useLive();
  // back closes the narrow menu, or else leaves a page below another one: for where one came from, if that was in here.
  const back = () => {
    if (open === 'menu') {
      setOpen('');
      globalThis.document.querySelector<HTMLElement>('.menu-button')?.focus();
    } else if (path.split('/').length > 3) {
      if (history.canGoBack()) history.back();
      else globalThis.document.querySelector<HTMLElement>('#main .above a')?.click(); // not said
    }
  };
  useKeys([
    { name: 'command-menu', keys: 'mod+k', does: t('Open the command menu'), group: t('Everywhere'), run: () => { setOpen((was) => (was === 'command' ? '' : 'command')); } },
    { name: 'help', keys: '?', does: t('Show all shortcuts'), group: t('Everywhere'), run: () => { setOpen('help'); } },
    { name: 'back', keys: 'Escape', does: t('Go back one step'), group: t('Everywhere'), run: () => { back(); } }, // not said
    ...mine.filter((p) => p.keys).map((p) => ({ name: p.to, keys: `g ${p.keys}`, does: p.label, group: t('Go to'), run: () => { void navigate({ to: p.to }); } })),
  ]);
  const close = () => { setOpen(''); };
  useEffect(() => { setOpen((was) => (was === 'menu' || was === 'notices' ? '' : was)); }, [path]);
  return (
    <div className={`shell${sandbox ? ' sandbox' : ''}${open === 'menu' ? ' menu-open' : ''}`}>
      <a className="skip" href="#main">{t('Skip to the content')}</a>
      <header className="topbar">
        <button type="button" className="icon menu-button" aria-label={open === 'menu' ? t('Close the menu') : t('Open the menu')} aria-expanded={open === 'menu'} onClick={() => { setOpen(open === 'menu' ? '' : 'menu'); }}>
          {open === 'menu' ? <X size={18} aria-hidden /> : <Menu size={18} aria-hidden />}
        </button>
        <Mark />
        <span className="company" dir="auto" title={viewer.company?.name}>{viewer.company?.name}</span>
        {sandbox && <Sandbox />}
        <span className="grow" />
        <button type="button" className="search-button" aria-keyshortcuts="Control+K Meta+K" onClick={() => { setOpen('command'); }}>
          <Search size={15} aria-hidden /><span className="label">{t('Search or run a command…')}</span><kbd className="wide-only" aria-hidden>{keyLabel('mod+k')}</kbd>
        </button>
        <Notices open={open === 'notices'} set={(v) => { setOpen(v ? 'notices' : ''); }} icon={<Bell size={17} aria-hidden />} />
      </header>
      <nav className="side" aria-label={t('Main')}>
        {groups.map((g) => {
          const list = mine.filter((p) => p.group === g);
          return list.length > 0 && (
            <div key={g} className="side-group">
              <p className="side-label" aria-hidden>{g}</p>
              <ul>
                {list.map((p) => (
                  <li key={p.to}><Link to={p.to} {...(within(p, path) ? { 'aria-current': 'page' as const } : {})}><span aria-hidden className="side-icon"><p.icon size={16} /></span>{p.label}</Link></li>
                ))}
              </ul>
            </div>
          );
        })}
        <div className="me">
          <span className="me-name" dir="auto">{viewer.name}</span>
          <span className="soft small-text">{roleWord[viewer.role]}</span>
          <a href="/logout" className="icon" aria-label={t('Sign out')}><LogOut size={16} aria-hidden /></a>
        </div>
      </nav>
      <div className="content">
        <Connection />
        <Suspense fallback={<Loading />}><Outlet /></Suspense>
      </div>
      {open === 'command' && <Menued places={mine} close={close} />}
      <Suspense fallback={null}>
        {open === 'help' && <Help close={close} />}
      </Suspense>
      <Reauthenticate />
    </div>
  );
}

// Menued is the command menu. It takes what is typed from the first moment on, also before its code has come: the keys would do
// something to the page behind it.
function Menued({ places: mine, close }: { places: Place[]; close: () => void }) {
  const [begun, setBegun] = useState('');
  const opening = (
    <Dialog title={t('Command menu')} close={close} wide>
      <form onSubmit={(e) => { e.preventDefault(); }}><input className="command-input" aria-label={t('Search commands')} value={begun} onChange={(e) => { setBegun(e.target.value); }} /></form>
    </Dialog>
  );
  return <Suspense fallback={opening}><Command places={mine} close={close} begun={begun} /></Suspense>;
}

function Loading() {
  const busy = useRouterState({ select: (s) => s.status === 'pending' });
  return <main className="page" aria-busy={busy}><h1 className="hidden">{t('Loading')}</h1><Skeleton /></main>;
}

// Mark is the product's own sign, as on the sign-in pages.
function Mark() {
  return <Link to="/app" className="brand" aria-label={t('Atrium, home')}><span className="mark" aria-hidden>{'A'}</span></Link>;
}

// Sandbox says where one is, and leads back to the live company.
function Sandbox() {
  const [run, busy] = useWrite(SwitchSession);
  if (!useCan('session.switch')) return <span className="sandbox-word">{t('Sandbox')}</span>;
  return (
    <button type="button" className="small sandbox-word" aria-label={t('Sandbox: back to the live company')} title={t('Back to the live company')} disabled={busy} onClick={() => { void run({ input: { sandbox: false } }).then((o) => { if (!o.fault) switched(); }); }}>
      {t('Sandbox')} <X size={13} aria-hidden />
    </button>
  );
}

// Connection says while nothing can come from the server.
function Connection() {
  const lost = useLost();
  return <div aria-live="polite">{lost && <p className="banner">{t('Server connection lost, trying again. What you have written is kept.')}</p>}</div>;
}

// Reauthenticate asks for a proof before what only a person who has just given one may do.
function Reauthenticate() {
  const [ask, set] = useState<Events['reauthenticate'] | null>(null);
  useEffect(() => on('reauthenticate', (e) => { set((was) => { was?.cancel(); return e; }); }), []);
  if (!ask) return null;
  return (
    <Confirm title={t('Confirm it is you')} verb={t('Sign in again')} close={() => { ask.cancel(); set(null); }} act={() => { ask.retry(); }}>
      <p>{t('This needs a sign-in from the last 15 minutes. You come back to this page, and what you have written is kept.')}</p>
    </Confirm>
  );
}

// Broken stands where a page's code did not come, as after a new version, or could not draw what it was given.
export function Broken({ error }: { error: unknown }) {
  return <Page title={t('This page could not be shown')}><Failed fault={{ code: 'not_shown', details: [], message: t('{error}. Reloading the page may help; what you have written is kept.', { error: error instanceof Error ? error.message : String(error) }) }} again={() => { location.reload(); }} /></Page>;
}

export function Missing() {
  return <Page title={t('Not found')}><NotFound /></Page>;
}
