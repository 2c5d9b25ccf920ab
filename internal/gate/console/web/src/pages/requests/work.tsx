import { Link } from '@tanstack/react-router';
import { rows, useRead } from '../../app/data';
import { useChanges, useSoon } from '../../app/live';
import { useCan } from '../../app/session';
import { placed, t } from '../../app/text';
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
  if (read.fault && !read.data?.tasks) return <Section title={t('Tasks and decisions')}><Failed fault={read.fault} again={read.again} /></Section>;
  if (tasks.length + approvals.length === 0) return read.data || !sees ? null : <Wait />;
  return (
    <Section title={t('Tasks and decisions')} actions={<Link to="/app/tasks" search={{ requestId: id } as never}>{t('Show in tasks')}</Link>}>
      <ul className="rows" aria-label={t('Tasks and decisions')}>
        {approvals.map((a) => <li key={a.id} className="row"><div><span dir="auto">{a.title}</span><div className="meta"><Badge value={a.status} /><span>{t('Decision')}</span>{a.status === 'PENDING' && a.expiresAt && <span>{placed(t('expires {when}'), { when: <Time at={a.expiresAt} /> })}</span>}</div></div></li>)}
        {tasks.map((task) => <li key={task.id} className="row"><div><span dir="auto">{task.title}</span><div className="meta"><Badge value={task.status} /><span>{t('Task')}</span>{task.assigneeId ? <Who id={task.assigneeId} person={task.assignee} /> : task.team && <span dir="auto">{task.team.name}</span>}{task.completedAt ? <span>{placed(t('done {when}'), { when: <Time at={task.completedAt} /> })}</span> : task.dueAt && <span>{placed(t('due {when}'), { when: <Time at={task.dueAt} /> })}</span>}</div></div></li>)}
      </ul>
    </Section>
  );
}
