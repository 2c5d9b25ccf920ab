// installs are the rights without which nobody installs a pack, or saves a service as one.
export const installs = ['service.create', 'workflow.create'];
