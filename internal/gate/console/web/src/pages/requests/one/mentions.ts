// mentions finds whom one may mention in a comment. This is the one place that knows where they come from.
import { useMemo } from 'react';
import { useClient } from 'urql';
import { t } from '../../../app/text';
import { MentionChoices } from '../../../gen/documents';
import type { Completion } from '../../../parts/mention';

// useMentions looks for people by what was typed after an @: for those who may read the request. Who may know no addresses mentions by
// the id.
export function useMentions(requestId: string): Completion {
  const client = useClient();
  return useMemo(() => ({
    sign: '@', label: t('People to mention'),
    find: async (q) => {
      const found = await client.query(MentionChoices, { requestId, q: q || null }).toPromise();
      return (found.data?.mentionChoices ?? []).map((u) => ({ id: u.id, name: u.name, soft: u.email ?? undefined, put: () => Promise.resolve(`@${u.email ?? u.id} `) }));
    },
  }), [client, requestId]);
}
