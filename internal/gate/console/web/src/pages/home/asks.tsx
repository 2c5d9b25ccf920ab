import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAsked } from '../../app/asked';
import { rows } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import type { HomeQuery, TaskRowFragment } from '../../gen/types';
import { Decide, type Asked } from '../../parts/approval';
import { CompletionDialog, Take } from '../../parts/task';
import { Expires, Time } from '../../ui/bits';

const most = 8; // of each kind; the page of tasks has the others

interface RowProps { kind: string; title: string; request: { id: string; title: string } | null | undefined; when?: ReactNode; children: ReactNode }

// Row is what waits for the person: its name leads to what it is about, and its buttons do it here.
function Row({ kind, title, request, when, children }: RowProps) {
  const about = request ? { to: '/app/requests/$id' as const, params: { id: request.id } } : { to: '/app/tasks' as const };
  return (
    <li className="row ask">
      <div><Link className="name" dir="auto" {...about}>{title}</Link><div className="meta"><span>{kind}</span>{request && <span dir="auto">{request.title}</span>}{when}</div></div>
      <div className="verbs">{children}</div>
    </li>
  );
}

// useAsks are the rows of what waits for the person, and the dialog in which it is done: decisions first, for others wait for them, then
// tasks.
export function useAsks(d: HomeQuery | undefined): { list: ReactNode[]; dialog: ReactNode } {
  const viewer = useViewer();
  const [deciding, decide] = useAsked<Asked | null>('decide', null);
  const [completing, complete] = useAsked<TaskRowFragment | null>('complete', null);
  const approvals = rows(d?.approvals).filter((a) => a.viewerMayDecide && a.status === 'PENDING').slice(0, most);
  const tasks = rows(d?.tasks).filter((x) => x.status === 'OPEN' || x.status === 'IN_PROGRESS').slice(0, most);
  return {
    list: [
      ...approvals.map((a) => (
        <Row key={a.id} kind={t('Decision')} title={a.title} request={a.request} when={a.expiresAt && <Expires at={a.expiresAt} />}>
          <button type="button" className="small" aria-label={t('Approve {title}', { title: a.request?.title ?? a.title })} onClick={() => { decide({ ...a, decision: 'APPROVE' }); }}>{t('Approve')}</button>
          <button type="button" className="plain small" aria-label={t('Reject {title}', { title: a.request?.title ?? a.title })} onClick={() => { decide({ ...a, decision: 'REJECT' }); }}>{t('Reject')}</button>
        </Row>
      )),
      ...tasks.map((x) => (
        <Row key={x.id} kind={t('Task')} title={x.title} request={x.request} when={x.dueAt && <span>{placed(t('due {when}'), { when: <Time at={x.dueAt} /> })}</span>}>
          <Take task={x} />
          {can(viewer, 'task.complete', x) && <button type="button" className="small" aria-label={t('Complete {title}', { title: x.title })} onClick={() => { complete(x); }}>{t('Complete')}</button>}
        </Row>
      )),
    ],
    dialog: <>
      {deciding && <Decide key={`${deciding.id} ${deciding.decision}`} approval={deciding} close={() => { decide(null); }} />}
      {completing && <CompletionDialog task={completing} close={() => { complete(null); }} />}
    </>,
  };
}
