import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { CreateWorkflow, Workflows } from '../../gen/documents';
import { Subpages } from '../../parts/subpages';
import { Badge, Time } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';

const first = {
  phases: [{ id: 'start', type: 'START', name: t('Received') }, { id: 'work', type: 'PROCESS', name: t('phase|Work'), config: { title: t('Work on ${request.title}') } }, { id: 'done', type: 'END', name: t('phase|Done'), requestAction: 'complete' }],
  transitions: [{ from: 'start', name: 'next', to: 'work' }, { from: 'work', name: 'next', to: 'done' }],
};

// WorkflowList is the processes that requests run through.
export default function WorkflowList() {
  const read = usePages(Workflows, {});
  const admin = useCan('workflow.create');
  const [making, setMaking] = useAsked('new', false);
  return (
    <Page title={t('Workflows')} verb="workflow.read" tabs={<Subpages of="workflows" />} intro={t('The processes that requests run through.')} actions={admin && <button type="button" onClick={() => { setMaking(true); }}>{t('New workflow')}</button>}>
      <Loaded read={read}>
        {({ workflows }) => (rows(workflows).length === 0 ? <Empty title={t('There are no workflows yet')}><p>{t('A workflow routes requests, asks for approvals, decides and calls other systems.')}</p></Empty> : (
          <><div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">{t('Name')}</th><th scope="col">{t('Status')}</th><th scope="col">{t('Version')}</th><th scope="col">{t('Changed')}</th></tr></thead>
              <tbody>
                {rows(workflows).map((w) => (
                  <tr key={w.id}><td><Link className="name" dir="auto" to="/app/workflows/$id" params={{ id: w.id }}>{w.name}</Link>{w.description && <span className="sub" dir="auto">{w.description}</span>}</td><td className="tight"><Badge value={w.status} /></td><td className="tight" data-label={t('Version')}>{w.version === 0 ? <span className="soft">{t('None yet')}</span> : w.version}</td><td className="tight"><Time at={w.updatedAt} /></td></tr>
                ))}
              </tbody>
            </table>
          </div>
          <More shown={rows(workflows).length} total={workflows?.totalCount} page={workflows?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
      {making && <Make close={() => { setMaking(false); }} />}
    </Page>
  );
}

function Make({ close }: { close: () => void }) {
  const [name, setName] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CreateWorkflow, true);
  const navigate = useNavigate();
  const send = async () => {
    const o = await run({ input: { name, definition: first } });
    setFault(o.fault);
    if (o.data) void navigate({ to: '/app/workflows/$id', params: { id: o.data.createWorkflow.workflow.id } });
  };
  return (
    <Dialog title={t('New workflow')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} hint={t('It starts with three phases that you can change.')} fault={faultAt(fault, 'name', 'slug')}><input dir="auto" value={name} onChange={(e) => { setName(e.target.value); }} /></Field>
        <Rest fault={fault} fields={['name', 'slug']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
