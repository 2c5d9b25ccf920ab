import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { rows, usePages } from '../../app/data';
import { useViewer } from '../../app/session';
import { Requests } from '../../gen/documents';
import type { RequestsQueryVariables } from '../../gen/types';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { Row } from './row';

// Mine is what the person has filed.
export default function Mine() {
  const viewer = useViewer();
  const base = useMemo<RequestsQueryVariables>(() => ({ first: 50, filter: { createdBy: [viewer.id] }, orderBy: { field: 'createdAt', direction: 'DESC' } }), [viewer.id]);
  const read = usePages(Requests, base);
  const all = rows(read.data?.requests);
  return (
    <Page title="My requests" intro="What you have filed, the newest first." actions={<Link to="/app/catalogue" className="button">New request</Link>}>
      <Loaded read={read}>
        {() => (all.length === 0
          ? <Empty title="You have filed nothing yet"><p><Link to="/app/catalogue" className="button">Open the catalogue</Link></p></Empty>
          : (
            <>
              <ul className="rows" aria-label="My requests">{all.map((r) => <Row key={r.id} request={r} status from="mine" />)}</ul>
              <More shown={all.length} total={read.data?.requests?.totalCount} page={read.data?.requests?.pageInfo} next={read.next} />
            </>
          ))}
      </Loaded>
    </Page>
  );
}
