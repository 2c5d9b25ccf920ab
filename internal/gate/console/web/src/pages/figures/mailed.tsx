// mailed are the reports that somebody gets by mail each week. Each is the filters and the breakdown of this page, of the week before.
import { Link } from '@tanstack/react-router';
import { Mail } from 'lucide-react';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, inSandbox, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { DropReport, MailedReports, MailReport } from '../../gen/documents';
import type { MailedReportFragment } from '../../gen/types';
import { Remove } from '../../parts/remove';
import { momentSaid } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { Section } from '../../ui/page';
import { toast } from '../../ui/toast';
import { mailQuery, mailSearch, type ReportSearch } from './report';

// useWhen says when reports are mailed: where the person is, or else the company.
function useWhen(): string {
  const viewer = useViewer();
  return t('Every Monday at 7:00 ({zone})', { zone: (viewer.timeZone ?? viewer.company?.timeZone ?? 'UTC').replaceAll('_', ' ') });
}

// MailWeekly has the report that the page shows mailed.
export function MailWeekly({ search }: { search: ReportSearch }) {
  const viewer = useViewer();
  const [asking, ask] = useAsked('mailing', false);
  if (!can(viewer, 'reportsubscription.create') || inSandbox(viewer)) return null;
  return (
    <>
      <button type="button" className="plain small" onClick={() => { ask(true); }}><Mail size={14} aria-hidden /> {t('Mail weekly')}</button>
      {asking && <Make query={mailQuery(search)} close={() => { ask(false); }} />}
    </>
  );
}

function Make({ query, close }: { query: string; close: () => void }) {
  const when = useWhen();
  const [name, setName] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(MailReport, true);
  const send = async () => {
    const o = await run({ input: { name, query } });
    setFault(o.fault);
    if (!o.data) return;
    close();
    toast({ text: t('“{name}” will be mailed to you.', { name }) });
  };
  return (
    <Dialog title={t('Mail this report weekly')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <p>{when}: {t('the figures of the week before, with the filters and the breakdown of this page.')}</p>
        <Field label={t('Name')} hint={t('It stands in the subject of the mail.')} fault={faultAt(fault, 'name')}><input dir="auto" value={name} onChange={(e) => { setName(e.target.value); }} /></Field>
        <Rest fault={fault} fields={['name']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{t('Mail weekly')}</button></footer>
      </form>
    </Dialog>
  );
}

// Mailed lists one's own, where there are any.
export function Mailed() {
  const viewer = useViewer();
  const read = useRead(MailedReports, {}, !can(viewer, 'reportsubscription.read'));
  const when = useWhen();
  const [gone, setGone] = useAsked<MailedReportFragment | null>('mailed report gone', null); // not said
  const [drop] = useWrite(DropReport, true);
  const list = rows(read.data?.reportSubscriptions);
  const remove = async (id: string) => {
    const o = await drop({ input: { id } });
    if (o.fault) return o.fault;
    setGone(null);
    toast({ text: t('The report is not mailed any more.') });
    return null;
  };
  if (list.length === 0) return null;
  return (
    <Section title={t('Mailed to you')} intro={when}>
      <ul className="rows" aria-label={t('Mailed to you')}>
        {list.map((r) => (
          <li key={r.id} className="row">
            <div>
              <Link className="name" to="/app/figures" search={mailSearch(r.query) as never} dir="auto">{r.name}</Link>
              <div className="meta"><span>{t('Next: {when}', { when: momentSaid(r.nextAt) })}</span></div>
            </div>
            {can(viewer, 'reportsubscription.delete') && <div className="verbs"><button type="button" className="danger-plain" aria-label={t('Delete {name}', { name: r.name })} onClick={() => { setGone(r); }}>{t('Delete')}</button></div>}
          </li>
        ))}
      </ul>
      {gone && <Remove title={t('Delete “{name}”?', { name: gone.name })} close={() => { setGone(null); }} act={() => remove(gone.id)}><p>{t('The report is not mailed any more. Its figures stay on this page.')}</p></Remove>}
    </Section>
  );
}
