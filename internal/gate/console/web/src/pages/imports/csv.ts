// csv reads a CSV file as the server does, and parts it into tables that the server takes. A record keeps the characters that it has in the
// file: what is sent is what was there.

// The bounds of one import: the server takes 5,000 rows, and a call's body holds a mebibyte. A company has at most 20 that have not ended.
export const bounds = { rows: 4500, bytes: 800_000, parts: 20, file: 50_000_000 };

// Row is a record; number is its row as spreadsheets count, whose first row has the headings.
export interface Row { number: number; raw: string; cells: string[] }

// Odd is a row that is no row of a table.
export interface Odd { number: number; raw: string; why: 'quote' | 'cells' }

export interface Table { separator: string; head: string; headings: string[]; rows: Row[]; odd: Odd[] }

export type Encoding = 'utf-8' | 'utf-16le' | 'windows-1252';

// decoded is the text of a file, and how it was written. What is not UTF-8 is taken for the encoding of Western European spreadsheets.
export function decoded(bytes: Uint8Array): { text: string; encoding: Encoding } {
  const as = (encoding: Encoding) => ({ text: new TextDecoder(encoding, { fatal: encoding === 'utf-8' }).decode(bytes), encoding });
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return as('utf-16le');
  try {
    return as('utf-8');
  } catch {
    return as('windows-1252');
  }
}

// separatorOf is what stands most often in the first line, as the server finds it for each part.
export function separatorOf(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  const count = (s: string) => line.split(s).length;
  return [';', '\t'].reduce((best, s) => (count(s) > count(best) ? s : best), ',');
}

interface Found { cells: string[]; end: number; faulty: boolean }

// record reads the one that begins at a place. A quotation mark where none may be makes it faulty, and it ends with its line then.
function record(text: string, from: number, separator: string): Found {
  const cells: string[] = [];
  const lineEnd = (at: number) => (text.indexOf('\n', at) + 1 || text.length + 1) - 1;
  for (let at = from; ;) {
    let end: number;
    if (text[at] === '"') {
      end = at + 1;
      for (; ; end += 2) {
        end = text.indexOf('"', end);
        if (end < 0) return { cells: [], end: text.length, faulty: true };
        if (text[end + 1] !== '"') break;
      }
      cells.push(text.slice(at + 1, end).replaceAll('""', '"').replaceAll('\r\n', '\n'));
      end++;
      if (text[end] === '\r' && (text[end + 1] === '\n' || end + 1 === text.length)) end++;
      if (end < text.length && text[end] !== separator && text[end] !== '\n') return { cells: [], end: lineEnd(end), faulty: true };
    } else {
      const stop = lineEnd(at);
      const line = text.slice(at, stop); // looked at alone: a file without separators is not searched to its end for each row
      const next = line.indexOf(separator);
      const cell = next < 0 ? line : line.slice(0, next);
      end = at + cell.length;
      if (cell.includes('"')) return { cells: [], end: stop, faulty: true };
      cells.push(end === stop ? cell.replace(/\r$/, '') : cell);
    }
    if (text[end] !== separator) return { cells, end, faulty: false };
    at = end + 1;
  }
}

// read reads a table; null where there is not even a line of headings. Lines with nothing in them are no rows, and are counted.
export function read(given: string): Table | null {
  let text = given.replace(/^\uFEFF/, '');
  if (!text.includes('\n')) text = text.replaceAll('\r', '\n');
  let number = 0;
  let table: Table | null = null;
  for (let at = 0; at < text.length;) {
    number++;
    if (text[at] === '\n' || text.startsWith('\r\n', at)) {
      at += text[at] === '\n' ? 1 : 2;
      continue;
    }
    const separator: string = table?.separator ?? separatorOf(text.slice(at));
    const { cells, end, faulty } = record(text, at, separator);
    const raw = text.slice(at, end + 1);
    if (!table) {
      if (faulty) return null;
      table = { separator, head: raw, headings: cells, rows: [], odd: [] };
    } else if (faulty || cells.length > table.headings.length) table.odd.push({ number, raw, why: faulty ? 'quote' : 'cells' });
    else table.rows.push({ number, raw, cells });
    at = end + 1;
  }
  return table;
}

// Part is what one import brings in.
export interface Part { csv: string; rows: Row[] }

const encoder = new TextEncoder();
const size = (text: string) => encoder.encode(JSON.stringify(text)).length - 2; // as it stands in the body of a call

// partsOf parts a table, each part with the headings. A row that is too large for a call by itself stays alone, and the server refuses it.
export function partsOf(table: Table, most = bounds): Part[] {
  const head = table.head.endsWith('\n') ? table.head : `${table.head}\n`;
  const out: Row[][] = [];
  let bytes = Infinity;
  for (const row of table.rows) {
    const own = size(row.raw);
    const last = out.at(-1);
    if (last && last.length < most.rows && bytes + own <= most.bytes) {
      last.push(row);
      bytes += own;
    } else {
      out.push([row]);
      bytes = size(head) + own;
    }
  }
  return out.map((rows) => ({ csv: head + rows.map((r) => r.raw).join(''), rows }));
}
