// The page that imports requests from a CSV file: what the file is, what its columns are, what a check finds, and then the import.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useRead } from '../../app/data';
import type { Fault } from '../../app/fault';
import { plural, t } from '../../app/text';
import { OfferingForm } from '../../gen/documents';
import type { ImportRequestsInput } from '../../gen/types';
import { Rest as Refusal } from '../../ui/field';
import { focusSoon } from '../../ui/focus';
import { Page, Section } from '../../ui/page';
import { Failed, Skeleton } from '../../ui/states';
import { chosen, guess, placeOf, sourceOf, unknown, type Columns, type FormField } from './columns';
import { Earlier } from './earlier';
import { Pick, type Opened } from './file';
import { Mapping, type Problems, type Settings } from './mapping';
import { allFaults, Checked, Ended, Running } from './result';
import { faultsOf, importable, sum, type Sum } from './sums';
import './imports.css';
import { useActs, useImports } from './work';

const fresh = (file: Opened | null): Settings => ({ said: [], offeringId: '', source: file ? sourceOf(file.table.headings) : 'csv', people: 'fault', meant: { status: {}, priority: {} } });
// reached is what one goes on from once an import was started; a small one may have ended by then.
const reached = () => globalThis.document.getElementById('import-progress') ?? globalThis.document.getElementById('import-shows');
const byId = (id: string) => () => globalThis.document.getElementById(id);

// inputOf is what a part of a file is checked by.
function inputOf(csv: string, file: Opened, columns: Columns, s: Settings): ImportRequestsInput {
  const meant = (of: 'status' | 'priority') => Object.fromEntries(unknown(file.table, columns, of).flatMap(([w]) => (s.meant[of][w] ? [[w, s.meant[of][w]]] : [])));
  return { csv, source: s.source.trim(), columns, statuses: meant('status'), priorities: meant('priority'), ...(s.offeringId ? { offeringId: s.offeringId } : {}), unknownPeople: s.people, dryRun: true };
}

// problemsOf are what has to be said before a check finds anything.
function problemsOf(file: Opened, columns: Columns, s: Settings): Problems {
  return {
    title: placeOf(file.table, columns, 'title') < 0 ? t('Choose which column is the title.') : undefined, // not said
    offering: !s.offeringId && placeOf(file.table, columns, 'offering') < 0 ? t('Choose an offering: the table has no column for it.') : undefined,
    source: /^[A-Za-z0-9._-]{1,40}$/.test(s.source.trim()) ? undefined : t('Use only letters, digits, dots, hyphens and underscores.'),
  };
}

export default function ImportPage() {
  const search = useSearch({ strict: false }) as { id?: string };
  const navigate = useNavigate();
  const [file, setFile] = useState<{ opened: Opened; ids: string } | null>(null); // the file at hand, and of which imports it is
  const [left, setLeft] = useState(''); // imports that were left, and stand in the address for a moment more
  const ids = useMemo(() => (search.id === left ? '' : search.id ?? '').split(',').filter(Boolean), [search.id, left]);
  useEffect(() => { if (search.id !== left) setLeft(''); }, [search.id, left]);
  const [settings, setSettings] = useState(fresh(null));
  const [asked, setAsked] = useState(false); // whether what is missing is said
  const [busy, setBusy] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const imports = useImports(ids);
  const acts = useActs();
  const waiting = imports.parts.filter((i) => i.status === 'CHECKED');
  const all = imports.parts.length > 0 ? sum(imports.parts) : null;
  const total = all?.status === 'CHECKED' ? sum(waiting) : all; // what was begun of them counts no more
  const opened = file && (ids.length === 0 || file.ids === ids.join()) ? file.opened : null;
  const form = ((useRead(OfferingForm, { id: settings.offeringId }, !settings.offeringId).data?.offering?.form as { fields?: FormField[] } | null | undefined)?.fields) ?? [];
  const columns = opened ? chosen(guess(opened.table.headings, form), settings.said) : {};
  const problems = opened ? problemsOf(opened, columns, settings) : {};
  const go = (to: string[]) => { void navigate({ to: '/app/requests/import', search: (to.length > 0 ? { id: to.join() } : {}) as never, replace: true, resetScroll: false }); };
  // Whatever is changed makes what was checked a thing of the past.
  const begin = (next: Opened | null, said: Settings, discards = opened !== null) => {
    setFile(next && { opened: next, ids: '' });
    setSettings(said);
    setFault(null);
    if (total?.status === 'CHECKED' && discards) void acts.stop(waiting.map((i) => i.id));
    if (ids.length > 0) {
      setLeft(search.id ?? '');
      go([]);
    }
  };
  const check = async () => {
    setAsked(true);
    if (!opened) return;
    if (problems.title || problems.offering || problems.source) {
      focusSoon(() => globalThis.document.querySelector<HTMLElement>('#main [aria-invalid=true]')); // not said
      return;
    }
    const of = opened.parts.length;
    setBusy(t('Checking…'));
    const { made, fault: refused } = await acts.check(opened.parts.map((p) => inputOf(p.csv, opened, columns, settings)), (n) => { if (of > 1) setBusy(t('Checking part {n} of {of}…', { n: n + 1, of })); });
    setBusy('');
    setFault(refused);
    if (refused) return;
    imports.put(made);
    setFile({ opened, ids: made.map((i) => i.id).join() });
    go(made.map((i) => i.id));
    focusSoon(byId('import-start'));
  };
  const start = async () => {
    setBusy(t('Starting…'));
    const { begun, fault: refused } = await acts.start(waiting.map((i) => i.id));
    setBusy('');
    setFault(refused);
    if (begun.length > 0) imports.put(imports.parts.map((i) => begun.find((b) => b.id === i.id) ?? i));
    imports.read.again();
    focusSoon(reached);
  };
  const stop = async () => {
    const refused = await acts.stop(imports.parts.filter((i) => !i.finishedAt).map((i) => i.id));
    setFault(refused?.code === 'conflict' ? null : refused); // it has ended meanwhile
    imports.read.again();
  };
  const another = (discards = false) => { begin(null, fresh(null), discards); setAsked(false); focusSoon(byId('import-file')); };
  // Where nobody has gone elsewhere, the end of an import leads to what it imported.
  const was = useRef(total?.status);
  useEffect(() => {
    const ended = was.current === 'RUNNING' && total && total.status !== 'RUNNING';
    was.current = total?.status;
    if (ended && globalThis.document.activeElement?.matches('body, main, #import-progress')) focusSoon(reached); // not said
  }, [total]);
  const faults = allFaults(faultsOf(imports.parts, opened?.parts ?? null), opened);
  const drafts = ids.length === 0 || total?.status === 'CHECKED';
  return (
    <Page title={t('Import requests')} verb="requestimport.create" above={<Link to="/app/requests">{t('Requests')}</Link>} intro={t('Bring requests in from another system, as a CSV file. Nothing is imported before you have seen what was found.')}>
      {imports.fault ? <Failed fault={imports.fault} again={imports.retry} /> : ids.length > 0 && !total ? <Skeleton rows={4} /> : !drafts && total ? (
        <Section title={t('Import')}>
          {total.status === 'RUNNING' ? <Running total={total} stop={stop} /> : <Ended total={total} faults={faults} file={opened} more={() => { another(); }} />}
          <Refusal fault={fault} fields={[]} />
        </Section>
      ) : (
        <>
          <Section title={t('1. File')}>
            {total && !opened ? <p className="soft">{t('The file was sent and checked. To change something, choose it again.')} <button type="button" className="plain small" onClick={() => { another(); }}>{t('Choose another file')}</button></p>
              : <Pick opened={opened} busy={busy !== ''} take={(next) => { begin(next, { ...fresh(next), offeringId: settings.offeringId }); setAsked(false); }} />}
          </Section>
          <Section title={t('2. Columns')}>
            {opened ? <Mapping table={opened.table} columns={columns} form={form} settings={settings} set={(s) => { begin(opened, s); }} problems={asked ? problems : {}} busy={busy !== ''} />
              : <p className="soft">{total ? t('Columns were mapped when the file was checked.') : t('Here you can check and correct how each column was recognized.')}</p>}
          </Section>
          <Section title={t('3. Check and import')}>
            <div className="stack">
              {total ? <Checked total={total} faults={faults} file={opened} />
                : <p className="soft">{opened ? t('The check goes through all rows and changes nothing.') : t('Here you will see which rows cannot be imported, before anything is.')}</p>}
              <Refusal fault={fault} fields={[]} />
              <Steps {...{ total, opened, busy, check, start, give: () => { another(true); } }} />
            </div>
          </Section>
        </>
      )}
      <Earlier of={imports} ids={ids} />
    </Page>
  );
}

interface StepsProps { total: Sum | null; opened: Opened | null; busy: string; check: () => Promise<void>; start: () => Promise<void>; give: () => void }

// Steps are the way on from where one is.
function Steps({ total, opened, busy, check, start, give }: StepsProps) {
  const n = total ? importable(total) : 0;
  const rows = opened ? opened.table.rows.length + opened.table.odd.length : 0;
  if (!total && !opened) return null;
  return (
    <p className="line">
      {!total && <button id="import-check" type="button" disabled={busy !== ''} onClick={() => { void check(); }}>{plural(rows, 'Check {n} row', 'Check {n} rows')}</button>}
      {total && n > 0 && <button id="import-start" type="button" disabled={busy !== ''} onClick={() => { void start(); }}>{plural(n, 'Import {n} row', 'Import {n} rows')}</button>}
      {total && <button type="button" className="plain" id={n > 0 ? undefined : 'import-start'} disabled={busy !== ''} onClick={give}>{t('Discard')}</button>}
      <span role="status" className="soft">{busy}</span>
    </p>
  );
}
