// events are what can be subscribed to, by the API's names.
export const events = [
  'request.created', 'request.accepted', 'request.completed', 'request.cancelled', 'request.reopened', 'request.moved', 'request.updated', 'request.commented',
  'request.rated', 'workflow.started', 'workflow.completed', 'workflow.failed', 'task.assigned', 'task.completed', 'sla.warning', 'sla.breached', 'approval.requested', 'approval.decided',
];
