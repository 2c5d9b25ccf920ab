// subpages are pages that share a place in the navigation; each has its own address, and those that the person may not see are absent.
import { can, useViewer } from '../app/session';
import { t } from '../app/text';
import { Tabs } from '../ui/tabs';

const groups = {
  agents: [t('AI agents'), [[t('AI agents'), '/app/agents', 'agentrun.read'], [t('Runs'), '/app/runs', 'agentrun.read'], [t('Proposals'), '/app/proposals', 'agentaction.read']]],
  mail: [t('Mail'), [[t('Messages'), '/app/mail', 'inboundmail.read'], [t('Mailboxes'), '/app/mailboxes', 'mailbox.read']]],
  people: [t('People'), [[t('People'), '/app/people', 'user.read'], [t('Organizations'), '/app/organizations', 'organization.read']]],
  keys: [t('Programs'), [[t('API keys'), '/app/keys', 'apikey.read'], [t('Service accounts'), '/app/service-accounts', 'serviceaccount.read'], [t('OAuth clients'), '/app/oauth-clients', 'oauthclient.read']]],
  credits: [t('Billing'), [[t('Credits'), '/app/credits', 'billing.read'], [t('Plan and invoices'), '/app/plan', 'billing.read']]],
  workflows: [t('Workflows'), [[t('Workflows'), '/app/workflows', 'workflow.read'], [t('Executions'), '/app/executions', 'execution.read']]],
} as const;

export function Subpages({ of }: { of: keyof typeof groups }) {
  const viewer = useViewer();
  const [label, tabs] = groups[of];
  return <Tabs label={label} tabs={tabs.map(([name, to, verb]) => ({ label: name, to, shown: can(viewer, verb) }))} />;
}

// subpages are all of them, for the command menu.
export const subpages: { label: string; to: string; verb: string }[] = Object.values(groups).flatMap(([, tabs]) => tabs.slice(1).map(([label, to, verb]) => ({ label, to, verb })));
