import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { rows, useRead } from '../../app/data';
import { useViewer } from '../../app/session';
import { Requests } from '../../gen/documents';
import type { RequestsQueryVariables } from '../../gen/types';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { useMarking } from './marking';
import { Row } from './row';

// Mine is what the person has filed.
export default function Mine() {
  const viewer = useViewer();
  const base = useMemo<RequestsQueryVariables>(() => ({ first: 50, filter: { createdBy: [viewer.id] }, orderBy: { field: 'createdAt', direction: 'DESC' } }), [viewer.id]);
  const [after, setAfter] = useState<string | null>(null);
  const read = useRead(Requests, after ? { ...base, after } : base);
  const { list } = useMarking('My requests');
  const all = rows(read.data?.requests);
  const page = read.data?.requests?.pageInfo;
  return (
    <Page title="My requests" intro="What you have filed, the newest first." actions={<Link to="/app/catalogue" className="button">New request</Link>}>
      <Loaded read={read}>
        {() => (all.length === 0
          ? <Empty title="You have filed nothing yet"><p><Link to="/app/catalogue" className="button">Open the catalogue</Link></p></Empty>
          : (
            <>
              <ul className="rows" ref={(e) => { list.current = e; }} aria-label="My requests">{all.map((r) => <Row key={r.id} request={r} status />)}</ul>
              <div className="table-foot">
                <span>{all.length} of {read.data?.requests?.totalCount}</span>
                {page?.hasNextPage && <button type="button" className="plain small" onClick={() => { setAfter(page.endCursor ?? null); }}>Show more</button>}
              </div>
            </>
          ))}
      </Loaded>
    </Page>
  );
}
