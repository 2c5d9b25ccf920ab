import { lazy, Suspense } from 'react';
import { useRead } from '../../app/data';
import { useChangesOf, useSoon } from '../../app/live';
import { t } from '../../app/text';
import { RequestOne } from '../../gen/documents';
import type { RequestOneQuery } from '../../gen/types';
import { Loaded } from '../../ui/page';
import { NotFound, Skeleton } from '../../ui/states';

export type FullRequest = NonNullable<RequestOneQuery['request']>;

// The lists show a request beside them. They are there before its code, which comes while nothing else is asked for.
const load = () => import('./one/body');
const Body = lazy(load);
setTimeout(() => { void load().catch(() => undefined); }, 2500); // one that fails is loaded when it is needed

// Detail is a request as it is read and worked on: on its own page, and beside the list.
export function Detail({ id, peek = false }: { id: string; peek?: boolean }) {
  const read = useRead(RequestOne, { id });
  const soon = useSoon(read.again);
  useChangesOf(id, soon); // which tells of the row alone
  return (
    <Loaded read={read}>
      {({ request }) => (request ? <Suspense fallback={<Skeleton />}><Body request={request} peek={peek} again={soon} /></Suspense> : <NotFound says={t('This request was not found')} />)}
    </Loaded>
  );
}
