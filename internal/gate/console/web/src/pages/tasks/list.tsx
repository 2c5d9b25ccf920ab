import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useAsked } from '../../app/asked';
import { rows, usePages } from '../../app/data';
import { useChanges, useSoon, useTold } from '../../app/live';
import { can, useCan, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { Approvals, ExecutionMoved, Incidents, TaskMoved, Tasks } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { TaskFilter, TaskRowFragment, TaskStatus } from '../../gen/types';
import { Decide, decided, Delegate, mayDelegate, type Asked } from '../../parts/approval';
import { Choices, useAgentChoices, useTeamChoices } from '../../parts/choices';
import { IncidentRow } from '../../parts/incident';
import { CompletionDialog, open, Take, TaskMeta } from '../../parts/task';
import { Expires, Time, words } from '../../ui/bits';
import { Field } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty, Failed, Wait } from '../../ui/states';

type Search = { status?: string; assigneeId?: string; teamId?: string; requestId?: string; executionId?: string };

// filterOf is the API's filter of what stands in the address: whoever is shown their own and their teams' alone need say nothing.
function filterOf(s: Search): TaskFilter {
  const named = (['assigneeId', 'teamId', 'requestId', 'executionId'] as const).flatMap((k) => (s[k] ? [[k, s[k].split(',')]] : []));
  return { status: s.status ? s.status.split(',') as TaskStatus[] : ['OPEN', 'IN_PROGRESS'], ...Object.fromEntries(named) };
}

const statuses: [string, string][] = [['', t('Open')], ['COMPLETED', t('Completed')], ['CANCELLED', t('Cancelled')], [enums.TaskStatus.join(','), t('Any')]];

// TaskList is what workflows wait for: work, decisions, and what went wrong.
export default function TaskList() {
  const viewer = useViewer();
  const staff = can(viewer, 'request.update');
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = (to: Search) => { void navigate({ to: '/app/tasks', search: { ...search, ...to } as never, replace: true }); };
  const filter = filterOf(search);
  const read = usePages(Tasks, { filter });
  useTold(TaskMoved, {}, read.again);
  const teams = useTeamChoices();
  const agents = useAgentChoices(!rows(read.data?.tasks).some((task) => task.agentId));
  const title = search.status ? t('Tasks') : t('Open tasks');
  const narrowed = search.status || search.assigneeId || search.teamId || search.requestId || search.executionId;
  const whole = () => {
    set({ requestId: '', executionId: '' });
    globalThis.document.getElementById('main')?.focus({ preventScroll: true }); // for the button goes
  };
  const [completing, setCompleting] = useAsked<TaskRowFragment | null>('complete', null);
  const close = () => { setCompleting(null); };
  return (
    <Page title={t('Tasks')} intro={t('What workflows wait for.')}>
      <Decisions />
      {can(viewer, 'incident.read') && <Stuck />}
      <Section title={title} actions={staff && (
        <>
          <button type="button" className="plain small" aria-pressed={!search.assigneeId} onClick={() => { set({ assigneeId: '' }); }}>{t('Everybody’s')}</button>
          <button type="button" className="plain small" aria-pressed={search.assigneeId === viewer.id} onClick={() => { set({ assigneeId: viewer.id }); }}>{t('Mine')}</button>
        </>
      )}>
        <search className="filters">
          <Field label={t('Status')}><select value={search.status ?? ''} onChange={(e) => { set({ status: e.target.value }); }}>{search.status && !statuses.some(([v]) => v === search.status) && <option value={search.status}>{search.status.split(',').map(words).join(', ')}</option>}{statuses.map(([v, label]) => <option key={v} value={v}>{label}</option>)}</select></Field>
          {(teams.length > 0 || search.teamId) && <Field label={t('Team')}><select value={search.teamId ?? ''} onChange={(e) => { set({ teamId: e.target.value }); }}><option value="">{t('Any')}</option><Choices of={[{ id: 'none', name: t('No team') }, ...teams]} now={search.teamId} /></select></Field>}
        </search>
        {(search.requestId || search.executionId) && <p className="line filters"><span className="chip">{search.requestId ? t('Only this request') : t('Only this execution')}</span><button type="button" className="plain small" onClick={whole}>{t('Show all tasks')}</button></p>}
        <Loaded read={read}>
          {({ tasks }) => {
            const list = rows(tasks).filter((task) => read.behind || filter.status?.includes(task.status));
            return list.length === 0 && !tasks?.pageInfo.hasNextPage ? <Empty title={narrowed ? t('No task matches') : t('No open tasks')}><p>{narrowed ? t('Remove a filter.') : t('When a workflow asks for work, it appears here.')}</p></Empty> : (
              <><ul className="rows" aria-label={title}>
                {list.map((task) => (
                  <li key={task.id} className="row">
                    <div>
                      {task.request ? <Link to="/app/requests/$id" params={{ id: task.request.id }} className="name" dir="auto">{task.title}</Link> : <span className="name" dir="auto">{task.title}</span>}
                      <TaskMeta task={task} agents={agents} />
                    </div>
                    <div className="verbs">
                      <Take task={task} />
                      {open(task) && can(viewer, 'task.complete', task) && <button type="button" className="small" aria-label={t('Complete {title}', { title: task.title })} onClick={() => { setCompleting(task); }}>{t('Complete')}</button>}
                    </div>
                  </li>
                ))}
              </ul>
              {tasks?.pageInfo.hasNextPage && <More shown={list.length} total={tasks.totalCount} page={tasks.pageInfo} next={read.next} />}</>
            );
          }}
        </Loaded>
      </Section>
      {completing && <CompletionDialog task={completing} close={close} />}
    </Page>
  );
}

function Decisions() {
  const viewer = useViewer();
  const read = usePages(Approvals, { filter: { status: ['PENDING'] } });
  useChanges(useSoon(read.again, 1500)); // a request that goes on may ask for a decision, or need none any more
  const [asking, setAsking] = useAsked<Asked | null>('decide', null);
  const [handing, setHanding] = useAsked<{ id: string; title: string } | null>('delegate', null);
  const list = rows(read.data?.approvals).filter((a) => a.status === 'PENDING');
  if (read.fault && !read.data?.approvals) return <Section title={t('Pending decisions')}><Failed fault={read.fault} again={read.again} /></Section>;
  if (list.length === 0) return read.data ? null : <Wait />;
  return (
    <Section title={t('Pending decisions')}>
      <ul className="rows" aria-label={t('Approvals')}>
        {list.map((a) => (
          <li key={a.id} className="row">
            <div>
              {a.request ? <Link to="/app/requests/$id" params={{ id: a.request.id }} className="name" dir="auto">{a.request.title}</Link> : <span className="name" dir="auto">{a.title}</span>}
              <div className="meta">{a.request && <strong dir="auto">{a.title}</strong>}<span>{decided(a)}</span>{a.expiresAt && <Expires at={a.expiresAt} />}<Time at={a.createdAt} /></div>
            </div>
            {a.viewerMayDecide && <div className="verbs">
              <button type="button" className="small" aria-label={t('Approve {title}', { title: a.request?.title ?? a.title })} onClick={() => { setAsking({ ...a, decision: 'APPROVE' }); }}>{t('Approve')}</button>
              <button type="button" className="plain small" aria-label={t('Reject {title}', { title: a.request?.title ?? a.title })} onClick={() => { setAsking({ ...a, decision: 'REJECT' }); }}>{t('Reject')}</button>
              {mayDelegate(viewer, a) && <button type="button" className="quiet small" aria-label={t('Delegate {title}', { title: a.request?.title ?? a.title })} onClick={() => { setHanding(a); }}>{t('Delegate')}</button>}
            </div>}
          </li>
        ))}
      </ul>
      {read.data?.approvals?.pageInfo.hasNextPage && <More shown={list.length} total={read.data.approvals.totalCount} page={read.data.approvals.pageInfo} next={read.next} />}
      {handing && <Delegate approval={handing} close={() => { setHanding(null); }} done={read.again} />}
      {asking && <Decide key={`${asking.id} ${asking.decision}`} approval={asking} close={() => { setAsking(null); }} />}
    </Section>
  );
}

function Stuck() {
  const read = usePages(Incidents, {});
  useTold(ExecutionMoved, {}, read.again, !useCan('execution.read'));
  const list = rows(read.data?.incidents).filter((i) => i.status === 'OPEN');
  if (read.fault && !read.data?.incidents) return <Section title={t('Workflow errors')}><Failed fault={read.fault} again={read.again} /></Section>;
  if (list.length === 0) return read.data ? null : <Wait />;
  return (
    <Section title={t('Workflow errors')}>
      <ul className="rows" aria-label={t('Workflow errors')}>{list.map((i) => <IncidentRow key={i.id} incident={i} linked />)}</ul>
      {read.data?.incidents?.pageInfo.hasNextPage && <More shown={list.length} total={read.data.incidents.totalCount} page={read.data.incidents.pageInfo} next={read.next} />}
    </Section>
  );
}
