// resources are what access policies and the audit log name. Tests of package graph hold both lists against the server's.
export const ruled = [
  'APIKey', 'AccessDecision', 'AccessPolicy', 'Agent', 'AgentAction', 'AgentRun', 'Approval', 'Attachment', 'AuditEntry', 'Calendar', 'Comment', 'Credit', 'Execution', 'InboundCall', 'InboundWebhook', 'Incident', // not said
  'Invoice', 'ModelConnection', 'OAuthClient', 'Offering', 'Organization', 'Request', 'RoutingRule', 'Schedule', 'Secret', 'Service', 'ServiceAccount', 'Task', 'Team', 'User', 'WebhookDelivery', // not said
  'WebhookSubscription', 'Workflow', // not said
];

// audited are besides these what entries are about.
export const audited = [...ruled, 'Company', 'InboundMail', 'Mailbox', 'Notification', 'Pack', 'ReportSubscription', 'RequestImport', 'SavedReply', 'SavedView', 'ServiceTemplate', 'Session'].sort(); // not said
