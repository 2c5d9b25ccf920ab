import { Link } from '@tanstack/react-router';
import { placed, t } from '../../app/text';
import type { RequestRowFragment } from '../../gen/types';
import { Badge, Person, Priority, Time } from '../../ui/bits';
import { responseDue } from '../requests/search';

// dueAt is when the next target of a request is due: to be responded to, and to be done.
export const dueAt = (r: RequestRowFragment) => responseDue(r) ?? r.sla?.resolutionDueAt;

// byDue puts what is due first on top, and what is never due last.
export const byDue = (list: RequestRowFragment[]) => list.toSorted((a, b) => (dueAt(a) ?? '9').localeCompare(dueAt(b) ?? '9'));

function Due({ request: r }: { request: RequestRowFragment }) {
  const at = dueAt(r);
  if (!at || !r.sla) return null;
  const when = placed(t('due {when}'), { when: <Time at={at} /> });
  if (r.sla.state === 'BREACHED') return <Badge value="BREACHED">{t('Overdue')} · <Time at={at} /></Badge>;
  return r.sla.state === 'WARNING' ? <Badge value="WARNING">{when}</Badge> : <span className="soft small-text">{when}</span>;
}

interface Props { request: RequestRowFragment; of: 'requester' | 'staff'; who?: boolean }

// Row is a request on the home page: to its requester it says what becomes of it, to staff when it is due.
export function Row({ request: r, of, who }: Props) {
  const staff = of === 'staff';
  return (
    <li className={`row${staff ? ' brief' : ''}`}>
      <div>
        <Link className="name" dir="auto" to="/app/requests/$id" params={{ id: r.id }}>{r.title}</Link>
        <div className="meta">
          <span>#{r.number}</span><Badge value={r.status} />{!staff && r.waiting && <Badge value="WARNING">{t('Waiting for your answer')}</Badge>}
          {staff && <Priority value={r.priority} />}<span className="of" dir="auto">{r.service?.name}</span>{!staff && <Time at={r.updatedAt} />}{who && <Person name={r.assignee?.name} />}
        </div>
      </div>
      {staff && <div className="end"><Due request={r} /></div>}
    </li>
  );
}
