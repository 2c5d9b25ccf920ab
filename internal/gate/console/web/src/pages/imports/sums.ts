// sums says of the parts of a file what they are together.
import { plain } from '../../app/fault';
import type { ImportAllFragment, ImportRowFragment, RequestImportStatus } from '../../gen/types';
import type { Part } from './csv';

export interface Sum { status: RequestImportStatus; source: string; rows: number; done: number; imported: number; known: number; faulty: number }

// sum adds imports up. They run while one of them does, and wait while one of them waits; all of them have to be completed to be so together.
export function sum(list: readonly ImportRowFragment[]): Sum {
  const add = (of: 'rows' | 'done' | 'imported' | 'known' | 'faulty') => list.reduce((n, i) => n + i[of], 0);
  const status = (['RUNNING', 'CHECKED', 'STOPPED'] as const).find((s) => list.some((i) => i.status === s)) ?? 'COMPLETED';
  return { status, source: list[0]?.source ?? 'csv', rows: add('rows'), done: add('done'), imported: add('imported'), known: add('known'), faulty: add('faulty') };
}

export interface Fault { row: number; column: string; message: string }

// faultsOf are the faults of all parts, each with its row in the whole file. Of parts that are not at hand any more, rows are counted on.
export function faultsOf(list: readonly Pick<ImportAllFragment, 'rows' | 'faults'>[], parts: readonly Pick<Part, 'rows'>[] | null): Fault[] {
  let before = 0;
  return list.flatMap((i, n) => {
    const from = before;
    before += i.rows;
    return i.faults.map((f) => plain({ row: parts?.[n]?.rows[f.row - 2]?.number ?? from + f.row, column: f.column, message: f.message }));
  });
}

// importable is how many rows an import that was checked brings in.
export const importable = (s: Sum): number => s.rows - s.known - s.faulty;
