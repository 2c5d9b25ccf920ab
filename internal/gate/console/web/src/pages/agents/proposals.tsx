import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { rows, usePages } from '../../app/data';
import { t } from '../../app/text';
import { Proposals } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { AgentActionStatus } from '../../gen/types';
import { Proposal } from '../../parts/proposal';
import { Subpages } from '../../parts/subpages';
import { words } from '../../ui/bits';
import { Field } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';

// ProposalList is what agents propose or wait to do, and what became of it.
export default function ProposalList() {
  const { status = 'PENDING' } = useSearch({ strict: false }) as { status?: string };
  const navigate = useNavigate();
  const read = usePages(Proposals, { first: 20, filter: status === 'all' ? {} : { status: [status as AgentActionStatus] } });
  const list = rows(read.data?.agentActions);
  return (
    <Page title={t('Proposals')} verb="agentaction.read" intro={t('What AI agents propose, and actions that wait for approval.')} tabs={<Subpages of="agents" />}>
      <search className="filters">
        <Field label={t('Status')}><select value={status} onChange={(e) => { void navigate({ to: '/app/proposals', search: { status: e.target.value } as never, replace: true }); }}><option value="all">{t('Any')}</option>{enums.AgentActionStatus.map((s) => <option key={s} value={s}>{words(s)}</option>)}</select></Field>
      </search>
      <Loaded read={read} skeleton={4}>
        {() => (list.length === 0 ? <Empty title={status === 'PENDING' ? t('No open proposals') : status === 'all' ? t('There are no proposals yet') : t('No matching proposals')}><p>{t('Proposals appear here and on the pages of their requests.')}</p></Empty> : (
          <>
            <ul className="stack">{list.map((a) => <li key={a.id} className="stack-tight full"><Link to="/app/requests/$id" params={{ id: a.requestId }}>{t('verb|Open “{title}”', { title: a.request?.title ?? a.requestId })}</Link><Proposal action={a} title /></li>)}</ul>
            <More shown={list.length} total={read.data?.agentActions?.totalCount} page={read.data?.agentActions?.pageInfo} next={read.next} />
          </>
        ))}
      </Loaded>
    </Page>
  );
}
