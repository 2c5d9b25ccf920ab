// shell is what stands around every page: where one can go, what is new, what was said.
import { Link, Outlet, useLocation, useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import {
  Bell, BookOpen, Bot, CircleCheck, Coins, FileClock, Inbox, KeyRound, LayoutGrid, ListChecks, ListTodo, Lock, LogOut, Menu, Search, Settings,
  ShieldCheck, Users, Webhook, Workflow, X,
} from 'lucide-react';
import { lazy, Suspense, useEffect, useMemo, useState, type ComponentType } from 'react';
import { SwitchSession } from '../gen/documents';
import { useKeys } from '../keys/registry';
import { count } from '../ui/bits';
import { Confirm, Dialog } from '../ui/dialog';
import { Failed, NotFound, Skeleton } from '../ui/states';
import { passed, toast, Toasts } from '../ui/toast';
import { proved } from './asked';
import { on, type Events } from './bus';
import { useWrite } from './data';
import { useLive, useLost } from './live';
import { switched } from './network';
import { can, inSandbox, roleWord, Session, useCan, useViewer } from './session';
import { Notices } from './notices';
import { Page } from '../ui/page';

// What does not come leaves the page as it is.
const absent = () => { toast({ text: 'This part could not be loaded. Try again, or load the page anew.', bad: true }); return { default: () => <></> }; };
const Command = lazy<ComponentType<{ places: Place[]; close: () => void; begun: string }>>(() => import('../keys/command').catch(absent));
const Help = lazy<ComponentType<{ close: () => void }>>(() => import('../keys/help').catch(absent));

// Place is where one can go from everywhere; `also` are addresses that belong to it.
interface Place { label: string; to: string; icon: ComponentType<{ size?: number }>; verb?: string; keys?: string; group: string; also?: string[] }

const places: Place[] = [
  { label: 'Catalogue', to: '/app/catalogue', icon: LayoutGrid, keys: 'c', group: 'You' },
  { label: 'My requests', to: '/app/my-requests', icon: FileClock, keys: 'm', group: 'You' },
  { label: 'Inbox', to: '/app/inbox', icon: Inbox, verb: 'request.accept', keys: 'i', group: 'Work' },
  { label: 'Requests', to: '/app/requests', icon: ListTodo, verb: 'request.update', keys: 'r', group: 'Work' },
  { label: 'Tasks', to: '/app/tasks', icon: ListChecks, verb: 'task.read', keys: 't', group: 'Work' },
  { label: 'Services', to: '/app/services', icon: BookOpen, verb: 'request.update', keys: 's', group: 'Build' },
  { label: 'Workflows', to: '/app/workflows', icon: Workflow, verb: 'workflow.read', keys: 'w', group: 'Build', also: ['/app/executions', '/app/routing', '/app/calendars'] },
  { label: 'Agents', to: '/app/agents', icon: Bot, verb: 'agentrun.read', group: 'Build', also: ['/app/runs', '/app/proposals'] },
  { label: 'People', to: '/app/people', icon: Users, verb: 'user.read', keys: 'p', group: 'Company', also: ['/app/organizations'] },
  { label: 'API keys', to: '/app/keys', icon: KeyRound, verb: 'apikey.read', keys: 'k', group: 'Company', also: ['/app/service-accounts', '/app/oauth-clients'] },
  { label: 'Webhooks', to: '/app/webhooks', icon: Webhook, verb: 'webhooksubscription.read', group: 'Company', also: ['/app/inbound-webhooks'] },
  { label: 'Access policies', to: '/app/policies', icon: ShieldCheck, verb: 'accesspolicy.read', group: 'Company' },
  { label: 'Secrets', to: '/app/secrets', icon: Lock, verb: 'secret.read', group: 'Company' },
  { label: 'Credits', to: '/app/credits', icon: Coins, verb: 'billing.read', group: 'Company', also: ['/app/plan'] },
  { label: 'Audit', to: '/app/audit', icon: CircleCheck, verb: 'audit.read', keys: 'a', group: 'Company' },
  { label: 'Settings', to: '/app/settings', icon: Settings, keys: ',', group: 'Company' },
];

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
      <div className="content"><main className="page" aria-busy><h1 className="hidden">Atrium</h1><Skeleton /></main></div>
    </div>
  );
}

// Said shows what was said, also before it is known who came.
function Said() {
  useEffect(() => { if (proved()) toast({ text: 'Thank you: go on where you were. What you have written is kept.' }); }, []);
  const path = useLocation({ select: (l) => l.pathname });
  useEffect(passed, [path]);
  useEffect(() => on('slow', ({ seconds }) => { toast({ text: `There were too many calls. Going on by itself in ${count(seconds, 'second')}.` }); }), []);
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
      else globalThis.document.querySelector<HTMLElement>('#main .above a')?.click();
    }
  };
  useKeys([
    { keys: 'mod+k', does: 'Open the command menu', group: 'Everywhere', run: () => { setOpen((was) => (was === 'command' ? '' : 'command')); } },
    { keys: '?', does: 'Show all shortcuts', group: 'Everywhere', run: () => { setOpen('help'); } },
    { keys: 'Escape', does: 'Go back one step', group: 'Everywhere', run: () => { back(); } },
    ...mine.filter((p) => p.keys).map((p) => ({ keys: `g ${p.keys}`, does: p.label, group: 'Go to', run: () => { void navigate({ to: p.to }); } })),
  ]);
  const close = () => { setOpen(''); };
  useEffect(() => { setOpen((was) => (was === 'menu' || was === 'notices' ? '' : was)); }, [path]);
  return (
    <div className={`shell${sandbox ? ' sandbox' : ''}${open === 'menu' ? ' menu-open' : ''}`}>
      <a className="skip" href="#main">Skip to the content</a>
      <header className="topbar">
        <button type="button" className="icon menu-button" aria-label={open === 'menu' ? 'Close the menu' : 'Open the menu'} aria-expanded={open === 'menu'} onClick={() => { setOpen(open === 'menu' ? '' : 'menu'); }}>
          {open === 'menu' ? <X size={18} aria-hidden /> : <Menu size={18} aria-hidden />}
        </button>
        <Mark />
        <span className="company" title={viewer.company?.name}>{viewer.company?.name}</span>
        {sandbox && <Sandbox />}
        <span className="grow" />
        <button type="button" className="search-button" aria-keyshortcuts="Control+K Meta+K" onClick={() => { setOpen('command'); }}>
          <Search size={15} aria-hidden /><span className="label">Search or do…</span><kbd className="wide-only" aria-hidden>{navigator.platform.startsWith('Mac') ? '⌘K' : 'Ctrl K'}</kbd>
        </button>
        <Notices open={open === 'notices'} set={(v) => { setOpen(v ? 'notices' : ''); }} icon={<Bell size={17} aria-hidden />} />
      </header>
      <nav className="side" aria-label="Main">
        {['You', 'Work', 'Build', 'Company'].map((g) => {
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
          <span className="me-name">{viewer.name}</span>
          <span className="soft small-text">{roleWord[viewer.role]}</span>
          <a href="/logout" className="icon" aria-label="Sign out"><LogOut size={16} aria-hidden /></a>
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
    <Dialog title="Command menu" close={close} wide>
      <form onSubmit={(e) => { e.preventDefault(); }}><input className="command-input" aria-label="Search commands" value={begun} onChange={(e) => { setBegun(e.target.value); }} /></form>
    </Dialog>
  );
  return <Suspense fallback={opening}><Command places={mine} close={close} begun={begun} /></Suspense>;
}

function Loading() {
  const busy = useRouterState({ select: (s) => s.status === 'pending' });
  return <main className="page" aria-busy={busy}><h1 className="hidden">Loading</h1><Skeleton /></main>;
}

// Mark is the product's own sign, as on the sign-in pages.
function Mark() {
  return <Link to="/app" className="brand" aria-label="Atrium, first page"><span className="mark" aria-hidden>A</span></Link>;
}

// Sandbox says where one is, and leads back to the live company.
function Sandbox() {
  const [run, busy] = useWrite(SwitchSession);
  if (!useCan('session.switch')) return <span className="sandbox-word">Sandbox</span>;
  return (
    <button type="button" className="small sandbox-word" title="Back to the live company" disabled={busy} onClick={() => { void run({ input: { sandbox: false } }).then((o) => { if (!o.fault) switched(); }); }}>
      Sandbox<span className="hidden">: back to the live company</span> <X size={13} aria-hidden />
    </button>
  );
}

// Connection says while nothing can come from the server.
function Connection() {
  const lost = useLost();
  return <div aria-live="polite">{lost && <p className="banner">The connection was lost: connection lost, trying again. What you have written is kept.</p>}</div>;
}

// Reauthenticate asks for a proof before what only a person who has just given one may do.
function Reauthenticate() {
  const [ask, set] = useState<Events['reauthenticate'] | null>(null);
  useEffect(() => on('reauthenticate', (e) => { set((was) => { was?.cancel(); return e; }); }), []);
  if (!ask) return null;
  return (
    <Confirm title="Confirm it is you" verb="Sign in again" keep="Cancel" close={() => { ask.cancel(); set(null); }} act={() => { ask.retry(); }}>
      <p>This needs a proof from the last 15 minutes. You come back to this page, and what you have written is kept.</p>
    </Confirm>
  );
}

// Broken stands where a page's code did not come, as after a new version, or could not draw what it was given.
export function Broken({ error }: { error: unknown }) {
  return <Page title="Not shown"><Failed fault={{ code: 'not_shown', details: [], message: `${error instanceof Error ? error.message : String(error)}. Loading the page anew may help; what you have written is kept.` }} again={() => { location.reload(); }} /></Page>;
}

export function Missing() {
  return <Page title="Not found"><NotFound /></Page>;
}
