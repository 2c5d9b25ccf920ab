import { t } from '../../app/text';
import type { AgentAutonomy } from '../../gen/types';

// levels say what an agent does by itself.
export const levels: Record<AgentAutonomy, string> = {
  SUGGEST: t('It makes proposals, people apply them.'), ACT_WITH_APPROVAL: t('Each of its changes waits until a person approves it.'), AUTONOMOUS: t('It makes changes on its own. It can only be published once its draft has passed an evaluation.'),
};
