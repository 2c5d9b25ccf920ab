// router knows every address. The code of a page is loaded when it is opened; its rows are asked for at the same time.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Catalogue, OfferingForm, RequestOne, Requests, WaitingProposals } from '../gen/documents';
import { inboxVariables, requestVariables, type RequestSearch } from '../pages/requests/search';
import { wasStaff } from './client';
import { prefetch } from './data';
import { away } from './network';
import { Broken, Missing, Shell } from './shell';

type Search = Record<string, string>;
const texts = (search: Record<string, unknown>): Search =>
  Object.fromEntries(Object.entries(search).filter(([, v]) => v !== undefined && v !== null && v !== '').map(([k, v]) => [k, Array.isArray(v) ? v.join(',') : String(v)]));

const root = createRootRoute({ component: Shell, notFoundComponent: Missing, validateSearch: texts });
type Loads = Promise<Record<string, never>>;
// carried loads the code of a page, and waits for a server that is away: the router itself would load the whole page anew then, and
// leave the browser's error in its place.
const carried = (load: () => Promise<unknown>) => async () => {
  try {
    return await load();
  } catch (e) {
    if (await away()) return load();
    throw e;
  }
};
const page = <P extends string>(path: P, load: () => Promise<unknown>, before?: (params: Record<string, string>, search: Search) => void) => createRoute({
  getParentRoute: () => root, path, component: lazyRouteComponent(carried(load) as () => Loads, 'default'),
  loaderDeps: ({ search }) => search as Search, remountDeps: ({ params }) => params as object,
  loader: before ? ({ params, deps }) => { before(params as Record<string, string>, deps as Search); } : undefined,
});

const routeTree = root.addChildren([
  page('/app', () => import('../pages/home/view'), () => { if (!wasStaff()) prefetch(Catalogue, {}); }),
  page('/app/catalogue', () => import('../pages/catalogue/list'), () => { prefetch(Catalogue, {}); }),
  page('/app/catalogue/$id', () => import('../pages/catalogue/file'), ({ id }) => { prefetch(OfferingForm, { id: id ?? '' }); }),
  page('/app/my-requests', () => import('../pages/requests/mine')),
  page('/app/inbox', () => import('../pages/requests/inbox'), (_p, s) => { prefetch(Requests, inboxVariables(s as RequestSearch)); if (wasStaff()) prefetch(WaitingProposals, {}); }),
  page('/app/requests', () => import('../pages/requests/list'), (_p, s) => { prefetch(Requests, requestVariables(s as RequestSearch)); }),
  page('/app/requests/import', () => import('../pages/imports/view')),
  page('/app/requests/$id', () => import('../pages/requests/view'), ({ id }) => { prefetch(RequestOne, { id: id ?? '' }); }),
  page('/app/tasks', () => import('../pages/tasks/list')),
  page('/app/services', () => import('../pages/services/list')),
  page('/app/services/packs', () => import('../pages/services/packs')),
  page('/app/services/$id', () => import('../pages/services/view')),
  page('/app/workflows', () => import('../pages/workflows/list')),
  page('/app/workflows/$id', () => import('../pages/workflows/view')),
  page('/app/schedules', () => import('../pages/schedules/list')),
  page('/app/schedules/new', () => import('../pages/schedules/edit')),
  page('/app/schedules/$id', () => import('../pages/schedules/view')),
  page('/app/schedules/$id/edit', () => import('../pages/schedules/edit')),
  page('/app/agents', () => import('../pages/agents/list')),
  page('/app/agents/$id', () => import('../pages/agents/view')),
  page('/app/runs', () => import('../pages/agents/runs')),
  page('/app/runs/$id', () => import('../pages/agents/run')),
  page('/app/proposals', () => import('../pages/agents/proposals')),
  page('/app/executions', () => import('../pages/executions/list')),
  page('/app/executions/$id', () => import('../pages/executions/view')),
  page('/app/routing', () => import('../pages/routing/list')),
  page('/app/calendars', () => import('../pages/calendars/list')),
  page('/app/organizations', () => import('../pages/organizations/list')),
  page('/app/service-accounts', () => import('../pages/accounts/list')),
  page('/app/oauth-clients', () => import('../pages/clients/list')),
  page('/app/inbound-webhooks/$id', () => import('../pages/inbound/view')),
  page('/app/mail', () => import('../pages/mail/list')),
  page('/app/mailboxes', () => import('../pages/mail/mailboxes')),
  page('/app/mailboxes/$id', () => import('../pages/mail/mailbox')),
  page('/app/plan', () => import('../pages/plan/view')),
  page('/app/notifications', () => import('../pages/notifications/list')),
  page('/app/figures', () => import('../pages/figures/view')),
  page('/app/people', () => import('../pages/people/list')),
  page('/app/keys', () => import('../pages/keys/list')),
  page('/app/webhooks', () => import('../pages/webhooks/list')),
  page('/app/webhooks/$id', () => import('../pages/webhooks/view')),
  page('/app/policies', () => import('../pages/policies/list')),
  page('/app/secrets', () => import('../pages/secrets/list')),
  page('/app/credits', () => import('../pages/credits/list')),
  page('/app/audit', () => import('../pages/audit/list')),
  page('/app/settings', () => import('../pages/settings/view')),
]);

export const router = createRouter({
  routeTree, defaultErrorComponent: Broken, defaultPreload: 'intent', defaultPreloadStaleTime: 5000, scrollRestoration: true, trailingSlash: 'never',
  // Texts as they are, so that addresses read as the API's own filters do.
  parseSearch: (s) => Object.fromEntries(new URLSearchParams(s)),
  stringifySearch: (s) => {
    const q = new URLSearchParams(texts(s)).toString().replaceAll('%2C', ',');
    return q ? `?${q}` : '';
  },
});

declare module '@tanstack/react-router' {
  interface Register { router: typeof router }
}
