import { Link, useLocation, useParams } from '@tanstack/react-router';
import { useRead } from '../../app/data';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { RequestOne } from '../../gen/documents';
import { Page } from '../../ui/page';
import { Detail } from './detail';
import { Actions } from './one/actions';
import { Heading } from './one/heading';

// View is the page of one request.
export default function View() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(RequestOne, { id });
  const staff = useCan('request.update');
  const from = useLocation({ select: (l) => (l.state as { from?: string }).from }); // of the history's entry: it outlives a reload
  const [to, list] = from === 'inbox' ? ['/app/inbox', t('Inbox')] as const : staff && from !== 'mine' ? ['/app/requests', t('Requests')] as const : ['/app/my-requests', t('My requests')] as const;
  const request = read.data?.request;
  const title = request?.title ?? (read.fault ? t('Request') : t('Loading the request'));
  return (
    <Page title={title} above={<Link to={to}>{list}</Link>} heading={request && <Heading request={request} as="h1" />} actions={request && <Actions key={id} request={request} />}>
      <Detail key={id} id={id} />
    </Page>
  );
}
