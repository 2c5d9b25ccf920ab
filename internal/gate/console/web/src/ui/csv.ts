// csv writes tables as text for spreadsheets. A text that one would take for a formula gets an apostrophe; numbers stay numbers.
// A sum of money has its two digits, as the page shows it.
export type Cell = string | number | { cents: number };

export function csvCell(value: Cell): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object') return (value.cents / 100).toFixed(2);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csv = (table: Cell[][]) => table.map((row) => row.map(csvCell).join(',')).join('\r\n') + '\r\n';

// download gives the person a file.
export function download(name: string, content: string | Blob, type = 'text/csv;charset=utf-8'): void {
  const a = globalThis.document.createElement('a');
  const url = URL.createObjectURL(new Blob([content], { type }));
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => { URL.revokeObjectURL(url); }, 10_000);
}
