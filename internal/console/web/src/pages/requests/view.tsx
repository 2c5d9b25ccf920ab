import { Link, useParams } from '@tanstack/react-router';
import { useRead } from '../../app/data';
import { useCan } from '../../app/session';
import { RequestOne } from '../../gen/documents';
import { Page } from '../../ui/page';
import { Detail } from './detail';

// View is the page of one request.
export default function View() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(RequestOne, { id });
  const staff = useCan('request.update');
  const title = read.data?.request?.title ?? (read.fault ? 'Request' : 'Loading the request');
  return (
    <Page title={title} above={<Link to={staff ? '/app/requests' : '/app/my-requests'}>← {staff ? 'Requests' : 'My requests'}</Link>}>
      <Detail id={id} />
    </Page>
  );
}
