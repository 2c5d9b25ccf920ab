// result is what was found in a file, or what became of it.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { locale, plural, t } from '../../app/text';
import { Confirm } from '../../ui/dialog';
import { download } from '../../ui/csv';
import { cellOf } from './columns';
import type { Odd, Row } from './csv';
import type { Opened } from './file';
import { importable, type Fault, type Sum } from './sums';

const oddSays: Record<Odd['why'], string> = {
  quote: t('The row has a misplaced quotation mark and cannot be read.'), cells: t('The row has more cells than there are headings.'),
};

// allFaults are what the server found, and the rows of the file that are no rows of a table, in the file's order.
export const allFaults = (found: Fault[], file: Opened | null): Fault[] =>
  [...found, ...(file?.table.odd ?? []).map((o) => ({ row: o.number, column: '', message: oddSays[o.why] }))].sort((a, b) => a.row - b.row);

// Checked says how many rows would come, and of the others why they would not.
export function Checked({ total, faults, file }: { total: Sum; faults: Fault[]; file: Opened | null }) {
  const n = importable(total);
  const faulty = total.faulty + (file?.table.odd.length ?? 0);
  return (
    <div className="stack">
      <div className={faulty > 0 ? 'notice' : 'import-good'} role="status">
        <p><strong>{n > 0 ? plural(n, '{n} row can be imported.', '{n} rows can be imported.') : t('No row can be imported.')}</strong></p>
        {faulty > 0 && <p>{plural(faulty, '{n} row cannot be imported.', '{n} rows cannot be imported.')} {n > 0 ? t('Correct this above or in the file, or import the others.') : t('Correct this above or in the file.')}</p>}
        {total.known > 0 && <p>{plural(total.known, '{n} row was imported before, and stays as it is.', '{n} rows were imported before, and stay as they are.')}</p>}
      </div>
      <Faults faults={faults} faulty={faulty} file={file} />
    </div>
  );
}

// Faults are what is wrong in which row.
export function Faults({ faults, faulty, file }: { faults: Fault[]; faulty: number; file: Opened | null }) {
  if (faults.length === 0) return null;
  const byNumber = new Map<number, Row | Odd>([...file?.table.rows ?? [], ...file?.table.odd ?? []].map((r) => [r.number, r]));
  const named = new Set(faults.map((f) => f.row));
  const value = (f: Fault) => {
    const row = byNumber.get(f.row);
    const at = file?.table.headings.indexOf(f.column) ?? -1;
    return row && 'cells' in row && at >= 0 ? cellOf(row, at) : '';
  };
  const save = () => {
    if (!file) return;
    const lines = [...named].flatMap((n) => byNumber.get(n)?.raw ?? []);
    download(t('rows-to-correct.csv'), `\uFEFF${[file.table.head, ...lines].map((l) => l.replace(/\r?\n?$/, '\n')).join('')}`);
  };
  return (
    <div>
      <div className="table-wrap cards-when-narrow import-faults" tabIndex={0} role="region" aria-label={t('What is wrong')}>
        <table>
          <thead><tr><th className="tight">{t('Row')}</th><th>{t('Column')}</th>{file && <th>{t('Value')}</th>}<th>{t('What is wrong')}</th></tr></thead>
          <tbody>
            {faults.map((f, i) => (
              <tr key={i}>
                <td className="tight num" data-label={t('Row')}>{f.row.toLocaleString(locale)}</td>
                <td dir="auto">{f.column || <span className="soft">–</span>}</td>
                {file && <td dir="auto" className="import-value">{value(f) || <span className="soft">{t('Empty')}</span>}</td>}
                <td>{f.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="table-foot">
        <span>{named.size < faulty ? plural(named.size, 'The first {n} row is shown.', 'The first {n} rows are shown.') : t('Rows are counted as in a spreadsheet: the headings are row 1.')}</span>
        {file && <button type="button" className="plain small" onClick={save}>{t('Download these rows')}</button>}
      </p>
    </div>
  );
}

// Running says how far an import is, and stops it.
export function Running({ total, stop }: { total: Sum; stop: () => Promise<void> }) {
  const [asks, setAsks] = useState(false);
  return (
    <div className="card pad stack import-progress">
      <p className="line"><strong className="grow" id="import-progress">{t('{done} of {rows} rows', { done: total.done, rows: total.rows })}</strong><button type="button" className="plain" onClick={() => { setAsks(true); }}>{t('Stop')}</button></p>
      <progress max={Math.max(1, total.rows)} value={total.done} aria-label={t('Import')} />
      <p className="soft small-text">{t('You can leave this page: the import continues, and its progress is shown here.')}</p>
      {asks && <Confirm title={t('Stop the import?')} verb={t('Stop')} keep={t('Continue')} close={() => { setAsks(false); }} act={async () => { await stop(); setAsks(false); }}><p>{t('What has been imported stays. The other rows can be imported later, with the same file.')}</p></Confirm>}
    </div>
  );
}

// Ended says what became of an import, and leads to its requests.
export function Ended({ total, faults, file, more }: { total: Sum; faults: Fault[]; file: Opened | null; more: () => void }) {
  const odd = file?.table.odd.length ?? 0;
  return (
    <div className="stack">
      <div className="import-good" role="status">
        <p><strong>{total.status === 'STOPPED' ? t('The import was stopped.') : t('The import is complete.')} {plural(total.imported, '{n} request was imported.', '{n} requests were imported.')}</strong></p>
        {total.known > 0 && <p>{plural(total.known, '{n} row was imported before, and stays as it is.', '{n} rows were imported before, and stay as they are.')}</p>}
        {total.faulty + odd > 0 && <p>{plural(total.faulty + odd, '{n} row was left out.', '{n} rows were left out.')}</p>}
        {total.status === 'STOPPED' && total.done < total.rows && <p>{plural(total.rows - total.done, '{n} row was not reached.', '{n} rows were not reached.')}</p>}
      </div>
      <p className="line">
        {total.imported + total.known > 0 && <Link id="import-shows" className="button" to="/app/requests" search={{ 'tag.import.source': total.source } as never}>{t('Show the imported requests')}</Link>}
        <button type="button" className="plain" onClick={more}>{t('Import another file')}</button>
      </p>
      <Faults faults={faults} faulty={total.faulty + odd} file={file} />
    </div>
  );
}
