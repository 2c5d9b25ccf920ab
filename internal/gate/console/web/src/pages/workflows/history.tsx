// history is what was published of a workflow, and what has run of it.
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState, type ComponentProps } from 'react';
import { rows, usePages } from '../../app/data';
import { t } from '../../app/text';
import { WorkflowExecutions, WorkflowVersions } from '../../gen/documents';
import { Badge, standsAt, Time } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { More } from '../../ui/more';
import { Section } from '../../ui/page';
import { Empty, Failed, Skeleton, Wait } from '../../ui/states';
import type { Compared } from './differences';
import type { Workflow } from './dialogs';

const Differences = lazy(() => import('./differences'));

// History is what was published: each version compared with the one before or with the draft, and taken back as a draft.
export function History({ workflow: w, edits, take }: { workflow: Workflow; edits: boolean; take: (text: string, version: number) => void }) {
  const [compared, set] = useState<Compared | null>(null);
  const read = usePages(WorkflowVersions, { id: w.id });
  const versions = read.data?.workflow?.versions;
  const list = rows(versions);
  if (list.length === 0) return read.data ? <Section title={t('Versions')}><Empty title={t('Nothing was published yet')} /></Section> : read.fault ? <Failed fault={read.fault} again={read.again} /> : <Wait />;
  return (
    <Section title={t('Versions')}>
      <ul className="rows">
        {list.map((v) => (
          <li key={v.version} className="row"><div>{t('Version {version}', { version: String(v.version) })} <span className="soft">· <Time at={v.publishedAt} full /></span></div><div className="verbs">{edits && <button type="button" className="plain small" aria-label={t('Restore version {version} as the draft', { version: String(v.version) })} onClick={() => { take(JSON.stringify(v.definition, null, 2), v.version); }}>{t('Restore')}</button>}<button type="button" className="plain small" aria-label={t('Compare version {version} with the draft', { version: String(v.version) })} onClick={() => { set({ from: v.version }); }}>{t('Compare with the draft')}</button>{v.version > 1 && <button type="button" className="plain small" aria-label={t('What changed in version {version}', { version: String(v.version) })} onClick={() => { set({ to: v.version }); }}>{t('What changed')}</button>}</div></li>
        ))}
      </ul>
      <More shown={list.length} total={versions?.totalCount} page={versions?.pageInfo} next={read.next} />
      {compared && <Diff id={w.id} {...compared} of={{ draft: w.definition, versions: new Map(list.map((v) => [v.version, v.definition])) }} close={() => { set(null); }} />}
    </Section>
  );
}

function Diff({ close, ...of }: ComponentProps<typeof Differences> & { close: () => void }) {
  const { from, to } = of;
  const title = to === undefined ? t('From version {version} to the draft', { version: String(from) }) : t('What changed in version {version}', { version: String(to) });
  return <Dialog title={title} close={close} wide><Suspense fallback={<Skeleton rows={3} />}><Differences {...of} /></Suspense></Dialog>;
}

export function Runs({ id }: { id: string }) {
  const read = usePages(WorkflowExecutions, { filter: { workflowId: [id] } });
  const list = rows(read.data?.executions);
  if (read.fault && !read.data?.executions) return <Section title={t('Executions')}><Failed fault={read.fault} again={read.again} /></Section>;
  if (list.length === 0) return read.data ? null : <Wait />;
  return (
    <Section title={t('Executions')} actions={<Link to="/app/executions" search={{ workflowId: id } as never}>{t('All executions')}</Link>}>
      <ul className="rows">
        {list.map((e) => (
          <li key={e.id} className="row"><div><Link className="name" dir="auto" to="/app/executions/$id" params={{ id: e.id }}>{e.request?.title ?? e.id}</Link><div className="meta"><Badge value={e.status} /><span>{t('Version {version}', { version: String(e.workflowVersion) })}</span>{standsAt(e) && <span>{standsAt(e)}</span>}<Time at={e.startedAt} /></div></div></li>
        ))}
      </ul>
      <More shown={list.length} total={read.data?.executions?.totalCount} page={read.data?.executions?.pageInfo} next={read.next} />
    </Section>
  );
}
