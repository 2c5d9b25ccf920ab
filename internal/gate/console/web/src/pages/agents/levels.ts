import type { AgentAutonomy } from '../../gen/types';

// levels say what an agent does by itself.
export const levels: Record<AgentAutonomy, string> = {
  SUGGEST: 'It proposes; people apply.', ACT_WITH_APPROVAL: 'Each of its changes waits until a person approves it.', AUTONOMOUS: 'It changes what its tools let it. Publishing it takes an evaluation that this draft has passed.',
};
