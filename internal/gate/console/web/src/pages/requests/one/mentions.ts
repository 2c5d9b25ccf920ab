// mentions finds whom one may mention in a comment. This is the one place that knows where they come from.
import { useCallback } from 'react';
import { useClient } from 'urql';
import { rows } from '../../../app/data';
import { useCan } from '../../../app/session';
import { MentionChoices } from '../../../gen/documents';
import type { Mentions } from '../../../parts/mention';

// useMentions returns what looks for people by what was typed after an @, or nothing for who may look for nobody.
export function useMentions(_requestId: string): Mentions | undefined {
  const client = useClient();
  const sees = useCan('user.read');
  const find = useCallback(async (q: string) => {
    const found = await client.query(MentionChoices, { q: q || null }).toPromise();
    return rows(found.data?.users).map((u) => ({ name: u.name, text: u.email }));
  }, [client]);
  return sees ? find : undefined;
}
