import { Link } from '@tanstack/react-router';
import { rows, useRead } from '../../app/data';
import { useChanges, useSoon } from '../../app/live';
import { useCan } from '../../app/session';
import { RequestWork } from '../../gen/documents';
import { Who } from '../../parts/who';
import { Badge, Time } from '../../ui/bits';
import { Section } from '../../ui/page';
import { Failed, Wait } from '../../ui/states';

// Work is what the workflow of a request has asked people for: tasks, and decisions.
export function Work({ id }: { id: string }) {
  const sees = useCan('task.read');
  const read = useRead(RequestWork, { id: [id] }, !sees);
  const soon = useSoon(read.again, 1000);
  useChanges((c) => { if (sees && c.request.id === id) soon(); });
  const tasks = rows(read.data?.tasks);
  const approvals = rows(read.data?.approvals);
  if (read.fault && !read.data?.tasks) return <Section title="Tasks and decisions"><Failed fault={read.fault} again={read.again} /></Section>;
  if (tasks.length + approvals.length === 0) return read.data || !sees ? null : <Wait />;
  return (
    <Section title="Tasks and decisions" actions={<Link to="/app/tasks" search={{ requestId: id } as never}>On the tasks page</Link>}>
      <ul className="rows" aria-label="Tasks and decisions">
        {approvals.map((a) => <li key={a.id} className="row"><div>{a.title}<div className="meta"><Badge value={a.status} /><span>Decision</span>{a.status === 'PENDING' && a.expiresAt && <span>until <Time at={a.expiresAt} /></span>}</div></div></li>)}
        {tasks.map((t) => <li key={t.id} className="row"><div>{t.title}<div className="meta"><Badge value={t.status} /><span>Task</span>{t.assigneeId ? <Who id={t.assigneeId} person={t.assignee} /> : t.team && <span>{t.team.name}</span>}{t.completedAt ? <span>done <Time at={t.completedAt} /></span> : t.dueAt && <span>due <Time at={t.dueAt} /></span>}</div></div></li>)}
      </ul>
    </Section>
  );
}
