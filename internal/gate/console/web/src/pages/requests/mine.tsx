import { Link, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { rows, usePages } from '../../app/data';
import { useViewer } from '../../app/session';
import { t } from '../../app/text';
import { Requests } from '../../gen/documents';
import type { RequestsQueryVariables } from '../../gen/types';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { columnsOf } from './columns';
import { Export } from './export';
import type { RequestSearch } from './search';
import { Table } from './table';

// Mine is what is for the person.
export default function Mine() {
  const viewer = useViewer();
  const search = useSearch({ strict: false }) as RequestSearch;
  const base = useMemo<RequestsQueryVariables>(() => ({ first: 50, filter: { requesterId: [viewer.id] }, orderBy: { field: 'createdAt', direction: 'DESC' } }), [viewer.id]);
  const read = usePages(Requests, base);
  const all = rows(read.data?.requests);
  return (
    <Page title={t('My requests')} intro={t('What you have submitted, the newest first.')} actions={<><Export search={{ requesterId: viewer.id }} sort="-createdAt" /><Link to="/app/catalogue" className="button">{t('New request')}</Link></>}>
      <Loaded read={read} skeleton={12} lines>
        {() => (all.length === 0
          ? <Empty title={t('You have no requests yet')}><p><Link to="/app/catalogue" className="button">{t('Open the catalogue')}</Link></p></Empty>
          : (
            <>
              <Table label={t('My requests')} all={all} columns={columnsOf(search, 'mine')} from="mine" />
              <More shown={all.length} total={read.data?.requests?.totalCount} page={read.data?.requests?.pageInfo} next={read.next} />
            </>
          ))}
      </Loaded>
    </Page>
  );
}
