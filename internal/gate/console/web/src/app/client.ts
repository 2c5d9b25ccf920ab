// client is urql's, with a normalised cache: a change of a row, by whomever, is seen wherever the row is shown.
import { Client, makeOperation, mapExchange, type Exchange } from '@urql/core';
import { cacheExchange, type Cache } from '@urql/exchange-graphcache';
import { texts } from './document';
import { network, operationName } from './network';
import { pages } from './pages';

// lists are the fields of Query that a mutation makes stale.
const lists: Record<string, string[]> = {
  createRequest: ['requests'], createService: ['services'], deleteService: ['services'], createOffering: ['services', 'service'],
  deleteOffering: ['services', 'service'], updateOffering: ['services'], createWorkflow: ['workflows'], deleteWorkflow: ['workflows'],
  inviteUser: ['users'], createTeam: ['teams'], deleteTeam: ['teams'], updateTeam: ['users'],
  createSavedView: ['savedViews'], deleteSavedView: ['savedViews'], createAgent: ['agents'], deleteAgent: ['agents'], createRoutingRule: ['routingRules'], deleteRoutingRule: ['routingRules'],
  createCalendar: ['calendars'], deleteCalendar: ['calendars'], createOrganization: ['organizations'], deleteOrganization: ['organizations'],
  createServiceAccount: ['serviceAccounts'], deleteServiceAccount: ['serviceAccounts'], createOAuthClient: ['oauthClients'], deleteOAuthClient: ['oauthClients'],
  changePlan: ['invoices', 'previewPlanChange', 'creditHistory', 'creditBalance'], cancelSubscription: ['invoices', 'previewPlanChange'],
  applyProposal: ['agentActions', 'auditEntries'], rejectProposal: ['agentActions'], decideAgentAction: ['agentActions', 'auditEntries'], stopAllAgents: ['agents', 'agentRuns'],
  createApiKey: ['apiKeys'], rotateApiKey: ['apiKeys'], createWebhookSubscription: ['webhookSubscriptions'],
  deleteWebhookSubscription: ['webhookSubscriptions'], createInboundWebhook: ['inboundWebhooks'], deleteInboundWebhook: ['inboundWebhooks'],
  sendTestEvent: ['webhookDeliveries'], replayWebhookDelivery: ['webhookDeliveries'], createAccessPolicy: ['accessPolicies'],
  deleteAccessPolicy: ['accessPolicies'], createSecret: ['secrets'], deleteSecret: ['secrets'], endSession: ['sessions'],
  completeTask: ['tasks', 'request', 'approvals'], claimTask: ['tasks'], delegateApproval: ['approvals'], resolveIncident: ['incidents'], decideApproval: ['approvals', 'tasks'],
  acceptRequest: ['auditEntries'], declineRequest: ['auditEntries'], updateRequest: ['auditEntries'], moveRequest: ['request', 'auditEntries'], markNotificationsRead: ['notifications'],
  updateNotificationSettings: ['viewer'],
};

function stale(cache: Cache, names: string[], of: string | { __typename: string; id: string } = 'Query') {
  for (const f of cache.inspectFields(of)) {
    if (names.includes(f.fieldName)) cache.invalidate(of, f.fieldName, f.arguments ?? undefined);
  }
}

const updates = Object.fromEntries(Object.entries(lists).map(([name, names]) => [
  name, (_result: unknown, _args: unknown, cache: Cache) => { stale(cache, names); },
]));

const embedded = () => null;

const paged = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, pages]));

type Input = { input: { id: string; [field: string]: unknown } };

// staff is whether the person reads people, teams and executions. What members are refused beside a row, their documents do not ask
// for. Before the session is known, it is what the last one was.
let staff = localStorage.getItem('staff') !== 'no';

export function isStaff(is: boolean): void {
  if (staff === is) return;
  staff = is;
  localStorage.setItem('staff', is ? 'yes' : 'no');
}

const withStaff: Exchange = mapExchange({
  onOperation: (o) => (texts.get(operationName(o))?.includes('$staff') ? makeOperation(o.kind, { ...o, variables: { ...o.variables, staff } }) : o),
});

export const client = new Client({
  url: '/graphql', preferGetMethod: false, requestPolicy: 'cache-and-network',
  exchanges: [
    withStaff,
    cacheExchange({
      keys: {
        AuditActor: embedded, AuditResource: embedded, Approver: embedded, AccessDecider: embedded, ApprovalDecision: embedded, SLA: embedded,
        OfferingSLA: embedded, SLAEscalation: embedded, PhaseVisit: embedded, ExecutionError: embedded, CreditEntry: embedded, CreditBalance: embedded,
        WebhookAttempt: embedded, PageInfo: embedded, WorkflowVersion: embedded, AccessExplanation: embedded, AccessUnmet: embedded,
        AccessReplay: embedded, AccessChange: embedded, NotificationSetting: embedded, Correction: embedded, RequestCount: embedded, AgentVersion: embedded, AgentTool: embedded, AgentStep: embedded, AgentChange: embedded,
        WorkingHours: embedded, WorkingTime: embedded, CalendarException: embedded, LimitChange: embedded, PlanChange: embedded, InvoiceLine: embedded,
        CompanyLimits: embedded, MovePreview: embedded, LostVariables: embedded, AuditProof: embedded, AuditVerification: embedded, SLAByPriority: embedded,
        SLATargets: embedded, AuditExport: embedded, CompanyStat: embedded, WebhookStat: embedded, AgentStat: embedded, SearchHit: embedded, WorkflowDiff: embedded, DefinitionChange: embedded,
      },
      resolvers: {
        Query: paged('accessDecisions accessPolicies agentActions agentRuns agents apiKeys approvals auditEntries calendars creditHistory executions inboundCalls inboundWebhooks '
          + 'incidents invoices modelConnections notifications oauthClients organizations requests routingRules savedViews secrets serviceAccounts services sessions '
          + 'tasks teams users webhookDeliveries webhookSubscriptions workflows'),
        Request: paged('comments agentRuns'), Service: paged('offerings'), Workflow: paged('versions'),
      },
      updates: {
        Mutation: {
          ...updates,
          publishWorkflow: (_r, args, cache) => {
            stale(cache, ['workflows']);
            stale(cache, ['versions'], { __typename: 'Workflow', id: (args as { input: { id: string } }).input.id });
          },
          createComment: (_r, args, cache) => {
            stale(cache, ['comments'], { __typename: 'Request', id: (args as { input: { requestId: string } }).input.requestId });
          },
        },
        Subscription: { notificationAdded: (_r, _a, cache) => { stale(cache, ['notifications']); } },
      },
      // Only what is cheap to take back is shown before the server has answered.
      optimistic: {
        acceptRequest: (args) => row(args as Input, { status: 'IN_PROGRESS' }),
        declineRequest: (args) => row(args as Input, { status: 'CANCELLED' }),
        updateRequest: (args) => {
          const { id: _id, ifMatch: _etag, assigneeId, teamId, ...rest } = (args as Input).input;
          return row(args as Input, { ...rest, ...(assigneeId === undefined ? {} : { assigneeId }), ...(teamId === undefined ? {} : { teamId }) });
        },
      },
    }),
    network,
  ],
});

// uncached reads what leaves the page, such as a file of many pages of a list: the cache would join them to what is shown.
export const uncached = new Client({ url: '/graphql', preferGetMethod: false, exchanges: [network] });

function row(args: Input, fields: Record<string, unknown>) {
  return { __typename: 'UpdateRequestPayload', request: { __typename: 'Request', id: args.input.id, ...fields } };
}
