// subpages are pages that share a place in the navigation; each has its own address, and those that the person may not see are absent.
import { can, useViewer } from '../app/session';
import { Tabs } from '../ui/tabs';

const groups = {
  agents: ['Agents', [['Agents', '/app/agents', 'agentrun.read'], ['Runs', '/app/runs', 'agentrun.read'], ['Proposals', '/app/proposals', 'agentaction.read']]],
  people: ['People', [['People', '/app/people', 'user.read'], ['Organizations', '/app/organizations', 'organization.read']]],
  keys: ['Programs', [['API keys', '/app/keys', 'apikey.read'], ['Service accounts', '/app/service-accounts', 'serviceaccount.read'], ['OAuth clients', '/app/oauth-clients', 'oauthclient.read']]],
  credits: ['Billing', [['Credits', '/app/credits', 'billing.read'], ['Plan and invoices', '/app/plan', 'billing.read']]],
  workflows: ['Workflows', [['Workflows', '/app/workflows', 'workflow.read'], ['Executions', '/app/executions', 'execution.read'], ['Routing rules', '/app/routing', 'routingrule.read'], ['Calendars', '/app/calendars', 'calendar.read']]],
} as const;

export function Subpages({ of }: { of: keyof typeof groups }) {
  const viewer = useViewer();
  const [label, tabs] = groups[of];
  return <Tabs label={label} tabs={tabs.map(([name, to, verb]) => ({ label: name, to, shown: can(viewer, verb) }))} />;
}

// subpages are all of them, for the command menu.
export const subpages: { label: string; to: string; verb: string }[] = Object.values(groups).flatMap(([, tabs]) => tabs.slice(1).map(([label, to, verb]) => ({ label, to, verb })));
