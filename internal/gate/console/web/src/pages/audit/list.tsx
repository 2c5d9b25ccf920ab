import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import { useCounted } from '../../app/live';
import { can, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { Audit, AuditAdded, AuditOne, ExportAudit } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { AuditFilter, EntryFragment } from '../../gen/types';
import { dayOf, startOf } from '../../ui/zone';
import { audited } from '../../parts/resources';
import { Badge, Time, words } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { download } from '../../ui/csv';
import { Field, Filter } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty, NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { Proof, Verify } from './proof';

// actorWord is who acts. The word of the API for AI agents is that of a role too.
const actorWord = (type: string) => (type === 'agent' ? t('AI agent') : words(type));

type Search = { actorId?: string; action?: string; resourceType?: string; resourceId?: string; outcome?: string; from?: string; to?: string; entry?: string };

function filterOf(s: Search): AuditFilter {
  const out: Record<string, unknown> = {};
  for (const k of ['actorId', 'action', 'resourceType', 'resourceId', 'outcome'] as const) if (s[k]) out[k] = s[k].split(',');
  for (const k of ['from', 'to'] as const) if (s[k]) out[k] = s[k];
  return out as AuditFilter;
}

// AuditList is who did what, and how it ended.
export default function AuditList() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = (s: Search) => { void navigate({ to: '/app/audit', search: s as never, replace: true }); };
  const asked = JSON.stringify(filterOf(search));
  const read = usePages(Audit, { first: 50, filter: JSON.parse(asked) as AuditFilter });
  const [run, busy] = useWrite(ExportAudit);
  const viewer = useViewer();
  const [verifying, setVerifying] = useState(false);
  const list = rows(read.data?.auditEntries);
  const [news, seen] = useCounted(AuditAdded, { filter: JSON.parse(asked) as AuditFilter }, !can(viewer, 'audit.read') || Boolean(search.to));
  const text = (name: keyof Search, label: string, placeholder: string) => (
    <Filter label={label} placeholder={placeholder} value={search[name] ?? ''} set={(v) => { set({ ...search, [name]: v }); }} />
  );
  const day = (name: 'from' | 'to', label: string) => (
    <Field label={label}><input type="date" value={search[name] ? dayOf(new Date(search[name])) : ''} onChange={(e) => { set({ ...search, [name]: e.target.value ? startOf(e.target.value).toISOString() : '' }); }} /></Field>
  );
  const exportAll = async () => {
    const o = await run({ input: { format: 'csv', filter: JSON.parse(asked) as AuditFilter } });
    if (!o.data) return;
    download('audit.csv', o.data.exportAudit.export.content);
    const { count, truncated } = o.data.exportAudit.export;
    toast({ text: truncated ? plural(count, 'The newest {n} entry was exported. There are more.', 'The newest {n} entries were exported. There are more.') : plural(count, '{n} entry was exported.', '{n} entries were exported.') });
  };
  return (
    <Page title={t('Audit')} verb="audit.read" intro={t('Who did what, and how it ended.')} actions={<>
      {can(viewer, 'audit.read') && <button type="button" className="plain" onClick={() => { setVerifying(true); }}>{t('Verify the log')}</button>}
      {can(viewer, 'audit.export') && <button type="button" className="plain" disabled={busy} onClick={() => { void exportAll(); }}>{t('Export CSV')}</button>}
    </>}>
      <search className="filters">
        {text('action', t('Action'), 'request.created')}
        <Field label={t('Resource')}><select value={search.resourceType ?? ''} onChange={(e) => { set({ ...search, resourceType: e.target.value }); }}><option value="">{t('Any')}</option>{audited.map((r) => <option key={r}>{r}</option>)}</select></Field>
        <Field label={t('Outcome')}><select value={search.outcome ?? ''} onChange={(e) => { set({ ...search, outcome: e.target.value }); }}><option value="">{t('Any')}</option>{enums.AuditOutcome.map((o) => <option key={o} value={o}>{words(o)}</option>)}</select></Field>
        {text('resourceId', t('Resource ID'), 'req_…')}
        {text('actorId', t('Actor ID'), 'usr_…')}
        {day('from', t('From'))}{day('to', t('Before'))}
        {Object.keys(filterOf(search)).length > 0 && <button type="button" className="quiet" onClick={() => { set({}); }}>{t('Clear filters')}</button>}
      </search>
      <div aria-live="polite">
        {news > 0 && <button type="button" className="plain small pill" onClick={() => { seen(); read.again(); }}>{plural(news, '{n} new', '{n} new')}</button>}
      </div>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={t('No matching entries')}><p>{t('Remove a filter.')}</p></Empty> : (
          <>
            <div className="table-wrap cards-when-narrow">
              <table>
                <thead><tr><th scope="col">{t('Action')}</th><th scope="col">{t('Actor')}</th><th scope="col">{t('Resource')}</th><th scope="col">{t('Outcome')}</th><th scope="col">{t('When')}</th></tr></thead>
                <tbody>
                  {list.map((e) => (
                    <tr key={e.id}>
                      <td><Link className="name" to="/app/audit" search={{ ...search, entry: e.id } as never} replace resetScroll={false}>{e.action}</Link></td>
                      <td>{e.actor.name}<span className="sub">{actorWord(e.actor.type)}</span></td>
                      <td>{e.resource.type}{e.resource.id && <span className="sub"><code>{e.resource.id}</code></span>}</td>
                      <td className="tight"><Badge value={e.outcome} /></td>
                      <td className="tight"><Time at={e.at} /></td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <More shown={list.length} total={read.data?.auditEntries?.totalCount} page={read.data?.auditEntries?.pageInfo} next={read.next} />
          </>
        ))}
      </Loaded>
      {verifying && <Verify close={() => { setVerifying(false); }} />}
      {search.entry && <One id={search.entry} close={() => { set({ ...search, entry: '' }); }} />}
    </Page>
  );
}

function One({ id, close }: { id: string; close: () => void }) {
  const read = useRead(AuditOne, { id });
  return (
    <Dialog title={t('Audit entry')} close={close} side>
      <Loaded read={read}>{({ auditEntry: e }) => (e ? <Entry entry={e} /> : <NotFound says={t('This entry was not found')} />)}</Loaded>
    </Dialog>
  );
}

function Entry({ entry: e }: { entry: EntryFragment }) {
  const changes = Object.entries((e.changes ?? {}) as Record<string, { from?: unknown; to?: unknown } | null>);
  const show = (v: unknown) => (v === null || v === undefined ? '–' : typeof v === 'object' ? JSON.stringify(v, null, 1) : String(v));
  return (
    <div className="stack">
      <div className="line"><strong>{e.action}</strong><Badge value={e.outcome} /></div>
      <dl className="card answers">
        {([[t('When'), <Time key="t" at={e.at} full />], [t('Actor'), `${e.actor.name} (${actorWord(e.actor.type)})`], [t('Actor ID'), <code key="a">{e.actor.id}</code>], [t('Resource'), `${e.resource.type} ${e.resource.id ?? ''}`], [t('IP address'), e.ip ?? '–'], [t('Program'), e.userAgent ?? '–'], [t('Request ID'), <code key="r">{e.requestId ?? '–'}</code>], [t('Entry'), <code key="e">{e.id}</code>], [t('Position in the log'), e.index ?? t('Sealed within 10 seconds')]] as const)
          .map(([k, v]) => <div key={k} className="contents"><dt>{k}</dt><dd>{v}</dd></div>)}
      </dl>
      {changes.length > 0 && (
        <>
          <h3>{t('Changes')}</h3>
          <ul className="changes">{changes.map(([k, c]) => <li key={k}><code>{k}</code> <del>{show(c?.from)}</del> <span aria-hidden className="arrow" /> <ins>{show(c?.to)}</ins></li>)}</ul>
        </>
      )}
      {e.index !== null && e.index !== undefined && <Proof id={e.id} />}
    </div>
  );
}
