import { Link } from '@tanstack/react-router';
import { rows } from '../../app/data';
import { useViewer } from '../../app/session';
import { locale, plural, t } from '../../app/text';
import type { HomeQuery } from '../../gen/types';
import { Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { useAsks } from './asks';
import { byDue, Row } from './row';

const open = 'PENDING,IN_PROGRESS'; // not said

// StaffHome is the day of those who work on requests: theirs by when they are due, what they are asked, and what is late.
export function StaffHome({ of: d }: { of: HomeQuery }) {
  const viewer = useViewer();
  const { list: asks, dialog } = useAsks(d);
  const mine = byDue(rows(d.assigned));
  const late = byDue(rows(d.late).filter((r) => r.assigneeId !== viewer.id)).slice(0, 8); // theirs stand above, in red
  const own = rows(d.mine).slice(0, 5);
  const assigned = { assigneeId: viewer.id, status: open, sort: 'resolutionDueAt' };
  const overdue = { slaState: 'WARNING,BREACHED', status: open, sort: 'resolutionDueAt' }; // not said
  return (
    <>
      <ul className="tiles brief">
        <Tile to="/app/inbox" n={d.waiting?.totalCount ?? 0} says={t('in the inbox')} />
        <Tile to="/app/requests" search={assigned} n={d.assigned?.totalCount ?? 0} says={t('assigned to you')} />
        <Tile to="/app/requests" search={overdue} n={d.late?.totalCount ?? 0} says={t('overdue or due soon')} bad />
        {(d.held?.totalCount ?? 0) > 0 && <Tile to="/app/mail" search={{ outcome: 'HELD' }} n={d.held?.totalCount ?? 0} says={plural(d.held?.totalCount ?? 0, 'message by mail is held', 'messages by mail are held')} />}
        {d.agentActions && <Tile to="/app/proposals" n={d.agentActions.totalCount} says={plural(d.agentActions.totalCount, 'proposal of an AI agent', 'proposals of AI agents')} />}
      </ul>
      <div className="home">
        <div>
          <Section title={t('Assigned to you')} actions={mine.length > 0 && <Link to="/app/requests" search={assigned as never}>{t('Show all')}</Link>}>
            {mine.length === 0 ? <Empty title={t('Nothing is assigned to you')}><p><Link to="/app/inbox" className="button">{t('Go to the inbox')}</Link></p></Empty> : <ul className="rows" aria-label={t('Assigned to you')}>{mine.map((r) => <Row key={r.id} request={r} of="staff" />)}</ul>}
          </Section>
          {late.length > 0 && <Section title={t('Overdue or due soon')} actions={<Link to="/app/requests" search={overdue as never}>{t('Show all')}</Link>}><ul className="rows" aria-label={t('Overdue or due soon')}>{late.map((r) => <Row key={r.id} request={r} of="staff" who />)}</ul></Section>}
        </div>
        <div>
          <Section title={t('Your tasks and decisions')} actions={<Link to="/app/tasks">{t('All tasks')}</Link>}>
            {asks.length === 0 ? <p className="nothing">{t('No tasks or decisions are waiting for you.')}</p> : <ul className="rows" aria-label={t('Your tasks and decisions')}>{asks}</ul>}
          </Section>
          <Section title={t('Your requests')} actions={<Link to="/app/my-requests">{t('All your requests')}</Link>}>
            {own.length === 0 ? <p className="nothing">{t('You have no open requests')}</p> : <ul className="rows" aria-label={t('Your requests')}>{own.map((r) => <Row key={r.id} request={r} of="requester" />)}</ul>}
          </Section>
        </div>
      </div>
      {dialog}
    </>
  );
}

function Tile({ to, search, n, says, bad }: { to: string; search?: object; n: number; says: string; bad?: boolean }) {
  return <li><Link to={to} search={(search ?? {}) as never} className={`card tile${bad && n > 0 ? ' bad' : ''}`}><strong>{n.toLocaleString(locale)}</strong><span>{says}</span></Link></li>; // not said
}
