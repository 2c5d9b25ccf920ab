import { Link } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import { t } from '../../app/text';
import type { RequestRowFragment } from '../../gen/types';
import { Badge, Person, Priority, Time } from '../../ui/bits';

export const Sla = ({ state, dueAt }: { state: string; dueAt?: string | null | undefined }) => (
  <Badge value={state}>{{ ON_TRACK: t('On track'), WARNING: t('Due soon'), BREACHED: t('Overdue'), MET: t('SLA met'), PAUSED: t('Paused') }[state] ?? state}{dueAt && state !== 'MET' && <> · <Time at={dueAt} /></>}</Badge>
);

interface RowProps { request: RequestRowFragment; verbs?: ReactNode; status?: boolean; from?: string; note?: string | undefined }

// Row is a request in a list that people work through; `from` is the list that its page leads back to.
export const Row = memo(function Row({ request: r, verbs, status, from, note }: RowProps) {
  const due = r.status === 'PENDING' ? r.sla?.responseDueAt ?? r.sla?.resolutionDueAt : r.sla?.resolutionDueAt;
  return (
    <li className="row" data-row={r.id}>
      <div>
        <Link to="/app/requests/$id" params={{ id: r.id }} state={from ? { from } as never : {}} className="name" dir="auto">{r.title}</Link>
        <div className="meta">
          <span>#{r.number}</span>
          {status && <Badge value={r.status} />}
          <Priority value={r.priority} />
          <span dir="auto">{r.service?.name}{r.offering ? ` › ${r.offering.name}` : ''}</span>
          {r.requester && <span>{t('from {name}', { name: r.requester.name })}</span>}
          <Time at={r.createdAt} />
          {r.sla && !['COMPLETED', 'CANCELLED'].includes(r.status) && <Sla state={r.sla.state} dueAt={due} />}
          {r.team && <span dir="auto">{r.team.name}</span>}
          {r.assignee && <Person name={r.assignee.name} />}
          {r.waiting && <Badge value="PAUSED">{t('Waiting for an answer')}</Badge>}
        </div>
        {note && <p className="soft small-text note">{note}</p>}
      </div>
      {verbs && <div className="verbs">{verbs}</div>}
    </li>
  );
});
