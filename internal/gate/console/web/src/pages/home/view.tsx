import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useRead } from '../../app/data';
import { useChanges, useSoon } from '../../app/live';
import { can, useViewer, type Viewer } from '../../app/session';
import { t } from '../../app/text';
import { Home } from '../../gen/documents';
import { Loaded, Page } from '../../ui/page';
import { MemberHome } from './member';
import { StaffHome } from './staff';
import { Start, started } from './start';

// starts reports whether somebody may set the company up.
const starts = (v: Viewer) => ['user.invite', 'service.create', 'team.read', 'apikey.read', 'webhooksubscription.read', 'mailbox.read', 'company.update'].every((verb) => can(v, verb));

// HomeView is where people begin: what waits for them; in a new company, what is to be set up.
export default function HomeView() {
  const viewer = useViewer();
  const staff = can(viewer, 'request.update');
  const hidden = `start:${viewer.company?.id}`;
  const [start, setStart] = useState(() => starts(viewer) && localStorage.getItem(hidden) === null);
  const hide = () => { localStorage.setItem(hidden, 'yes'); setStart(false); };
  const read = useRead(Home, { me: [viewer.id], agents: can(viewer, 'agentaction.read'), tasks: can(viewer, 'task.read'), mail: can(viewer, 'inboundmail.read'), start, ...(staff ? { worker: [viewer.id] } : {}) }); // members are shown theirs and their teams' alone
  useChanges(useSoon(read.again, 1500));
  const first = viewer.name.split(' ')[0] ?? '';
  const title = t('Welcome, {name}', { name: first });
  if (!staff) return <Page title={title}><MemberHome read={read} /></Page>;
  return (
    <Page title={title} dense actions={<>
      <Link to="/app/figures" className="button plain">{t('Reports')}</Link>
      {can(viewer, 'request.create') && <Link to="/app/catalogue" className="button">{t('New request')}</Link>}
    </>}>
      <Loaded read={read}>
        {(d) => {
          const fresh = start && d.filed?.totalCount === 0;
          return <>{start && !started(viewer, d) && <Start of={d} hide={hide} />}{!fresh && <StaffHome of={d} />}</>;
        }}
      </Loaded>
    </Page>
  );
}
