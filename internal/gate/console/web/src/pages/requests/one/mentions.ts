// mentions finds whom one may mention in a comment. This is the one place that knows where they come from.
import { useCallback } from 'react';
import { useClient } from 'urql';
import { MentionChoices } from '../../../gen/documents';
import type { Mentions } from '../../../parts/mention';

// useMentions returns what looks for people by what was typed after an @: for those who may read the request. Who may know no addresses
// mentions by the id.
export function useMentions(requestId: string): Mentions {
  const client = useClient();
  return useCallback(async (q: string) => {
    const found = await client.query(MentionChoices, { requestId, q: q || null }).toPromise();
    return (found.data?.mentionChoices ?? []).map((u) => ({ name: u.name, text: u.email ?? u.id }));
  }, [client, requestId]);
}
