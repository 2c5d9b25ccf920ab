import { Link } from '@tanstack/react-router';
import { rows, useRead } from '../../app/data';
import { useChanges, useSoon } from '../../app/live';
import { can, useViewer } from '../../app/session';
import { Home } from '../../gen/documents';
import type { RequestRowFragment } from '../../gen/types';
import { Badge, Time } from '../../ui/bits';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';

// HomeView is where people begin: what waits for them, and nothing else.
export default function HomeView() {
  const viewer = useViewer();
  const staff = can(viewer, 'request.update');
  const read = useRead(Home, { me: [viewer.id], agents: can(viewer, 'agentaction.read'), tasks: can(viewer, 'task.read'), ...(staff ? { worker: [viewer.id] } : {}) }); // members are shown theirs and their teams' alone
  useChanges(useSoon(read.again, 1500));
  const first = viewer.name.split(' ')[0];
  return (
    <Page title={`Welcome, ${first}`} intro="What waits for you." actions={<>
      {staff && <Link to="/app/figures" className="button plain">Reports</Link>}
      {can(viewer, 'request.create') && <Link to="/app/catalogue" className="button">New request</Link>}
    </>}>
      <Loaded read={read}>
        {(d) => {
          const tasks = rows(d.tasks);
          const approvals = rows(d.approvals).filter((a) => a.viewerMayDecide).slice(0, 8);
          return (
            <>
              {staff && (
                <ul className="tiles">
                  <Tile to="/app/inbox" n={d.waiting?.totalCount ?? 0} one="waits in the inbox" many="wait in the inbox" />
                  <Tile to="/app/requests" search={{ assigneeId: viewer.id, status: 'PENDING,IN_PROGRESS' }} n={d.assigned?.totalCount ?? 0} one="is yours" many="are yours" />
                  <Tile to="/app/requests" search={{ slaState: 'WARNING,BREACHED', status: 'PENDING,IN_PROGRESS' }} n={d.late?.totalCount ?? 0} one="is late or nearly" many="are late or nearly" bad />
                  {d.agentActions && <Tile to="/app/proposals" n={d.agentActions.totalCount} one="proposal of an agent" many="proposals of agents" />}
                </ul>
              )}
              {approvals.length + tasks.length > 0 && (
                <Section title="Your tasks and decisions" actions={<Link to="/app/tasks">All tasks</Link>}>
                  <ul className="rows">
                    {approvals.map((a) => <li key={a.id} className="row"><div><Link className="name" to="/app/tasks">{a.title}</Link><div className="meta"><Badge value="WARNING">Decision</Badge>{a.request && <span>{a.request.title}</span>}</div></div></li>)}
                    {tasks.map((t) => <li key={t.id} className="row"><div><Link className="name" to="/app/tasks">{t.title}</Link><div className="meta"><Badge value="OPEN">Task</Badge>{t.request && <span>{t.request.title}</span>}{t.dueAt && <span>due <Time at={t.dueAt} /></span>}</div></div></li>)}
                  </ul>
                </Section>
              )}
              {staff && rows(d.late).length > 0 && <Section title="Late, or nearly"><Requests list={rows(d.late)} /></Section>}
              {staff && (
                <Section title="Assigned to you">
                  {rows(d.assigned).length === 0 ? <Empty title="Nothing is assigned to you"><p><Link to="/app/inbox">Take something from the inbox</Link></p></Empty> : <Requests list={rows(d.assigned)} />}
                </Section>
              )}
              <Section title="What you have filed" actions={<Link to="/app/my-requests">All your requests</Link>}>
                {rows(d.mine).length === 0 ? <Empty title="Nothing of yours is open"><p><Link to="/app/catalogue">Open the catalogue</Link></p></Empty> : (
                  <ul className="rows">{rows(d.mine).map((r) => <li key={r.id} className="row"><div><Link className="name" to="/app/requests/$id" params={{ id: r.id }}>{r.title}</Link><div className="meta"><span>#{r.number}</span><Badge value={r.status} />{r.waiting && <Badge value="WARNING">Waits for your answer</Badge>}<Time at={r.updatedAt} /></div></div></li>)}</ul>
                )}
              </Section>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Tile({ to, search, n, one, many, bad }: { to: string; search?: object; n: number; one: string; many: string; bad?: boolean }) {
  return <li><Link to={to} search={(search ?? {}) as never} className={`card tile${bad && n > 0 ? ' bad' : ''}`}><strong>{n}</strong><span>{n === 1 ? one : many}</span></Link></li>;
}

function Requests({ list }: { list: RequestRowFragment[] }) {
  return (
    <ul className="rows">
      {list.map((r) => (
        <li key={r.id} className="row">
          <div>
            <Link className="name" to="/app/requests/$id" params={{ id: r.id }}>{r.title}</Link>
            <div className="meta"><span>#{r.number}</span><Badge value={r.status} />{r.sla && ['WARNING', 'BREACHED'].includes(r.sla.state) && <Badge value={r.sla.state}>{r.sla.state === 'BREACHED' ? 'Overdue' : 'Due soon'}</Badge>}<span>{r.service?.name}</span><Time at={r.createdAt} /></div>
          </div>
        </li>
      ))}
    </ul>
  );
}
