import { FileSpreadsheet } from 'lucide-react';
import { plural, t } from '../../app/text';
import { FileDrop } from '../../parts/filedrop';
import { sizeOf } from '../../ui/size';
import { bounds, decoded, partsOf, read, type Encoding, type Part, type Table } from './csv';

// Opened is a file that was read.
export interface Opened { name: string; size: number; encoding: Encoding; table: Table; parts: Part[] }

// open reads a file, or says why it is none.
export async function open(file: File): Promise<Opened | string> {
  if (file.size > bounds.file) return t('The file is too large: {size}. Split it, and import one part after the other.', { size: sizeOf(file.size) });
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return t('This is a spreadsheet or an archive, not a CSV file. Open it in your spreadsheet program, save it as CSV and choose that file.');
  const { text, encoding } = decoded(bytes);
  if (text.includes('\0')) return t('This is not a CSV file.');
  const table = read(text);
  if (!table) return t('The file has no line of headings that can be read. The first line must name the columns.');
  if (table.rows.length === 0) return t('The file has no row below its headings that can be read.');
  const parts = partsOf(table);
  if (parts.length > bounds.parts) return t('The file has too many rows: {n}. Split it, and import one part after the other.', { n: table.rows.length });
  return { name: file.name, size: file.size, encoding, table, parts };
}

const separators: Record<string, string> = { ',': t('separated by commas'), ';': t('separated by semicolons'), '\t': t('separated by tabs') };

// About says what was found in a file.
export function About({ file }: { file: Opened }) {
  const { table, parts, encoding } = file;
  return (
    <div className="import-file">
      <FileSpreadsheet size={18} aria-hidden />
      <div>
        <p><strong dir="auto">{file.name}</strong> <span className="soft small-text">{sizeOf(file.size)}</span></p>
        <p className="soft small-text">
          {[plural(table.rows.length + table.odd.length, '{n} row', '{n} rows'), plural(table.headings.length, '{n} column', '{n} columns'), separators[table.separator]].join(' · ')}
          {parts.length > 1 && <> · {plural(parts.length, 'sent in {n} part', 'sent in {n} parts')}</>}
        </p>
        {encoding === 'windows-1252' && <p className="small-text">{t('The file is not in UTF-8. It was read as Windows-1252: check that umlauts and accents below are right.')}</p>}
      </div>
    </div>
  );
}

interface PickProps { opened: Opened | null; busy: boolean; take: (file: Opened) => void }

// Pick chooses a file, or takes one that is dropped.
export function Pick({ opened, busy, take }: PickProps) {
  const choose = async (file: File) => {
    const found = await open(file).catch(() => t('The file could not be read. Try again.'));
    if (typeof found === 'string') return found;
    take(found);
    return '';
  };
  return (
    <FileDrop id="import-file" label={t('CSV file')} verb={opened ? t('Choose another file') : t('Choose a CSV file')} plain={opened !== null} accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain" busy={busy} take={choose}>
      {opened ? <About file={opened} /> : (
        <div><p>{t('Drop a CSV file here, or choose one.')}</p><p className="soft small-text">{t('Export it from Jira, Zammad or a spreadsheet, with one request per row and the names of the columns in the first line.')}</p></div>
      )}
    </FileDrop>
  );
}
