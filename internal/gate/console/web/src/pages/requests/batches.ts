// batches change several requests by few calls: each row is done or refused by itself.
import type { Client } from 'urql';
import { tell } from '../../app/bus';
import { faultOf, type Fault } from '../../app/fault';
import { t } from '../../app/text';
import { UpdateRequests } from '../../gen/documents';
import type { RequestRowFragment, UpdateRequestInput, UpdateRequestsInput } from '../../gen/types';
import type { MayRow } from './search';

export type Change = Omit<UpdateRequestInput, 'id' | 'ifMatch'>;

// Done is what is done to a row: a change, or a transition with what belongs to it.
export type Done = Omit<UpdateRequestsInput, 'ids' | 'etags'>;

// Outcome is what came of one row: as it is now, or why it was refused.
export interface Outcome { row: MayRow; now?: RequestRowFragment; fault?: Fault }

const most = 100; // rows of a call

const refused = (): Fault => ({ code: '', message: t('It was refused.'), details: [] });

// inBatches does to every row what `to` says, by one call for all rows of which it says the same, and returns what came of each in the
// rows' order. A decline is for whatever the request is by now; of all else, rows that have changed since they were read are refused.
export async function inBatches(c: Client, list: MayRow[], to: (r: MayRow) => Done): Promise<Outcome[]> {
  const alike = new Map<string, MayRow[]>();
  for (const r of list) alike.set(JSON.stringify(to(r)), [...alike.get(JSON.stringify(to(r))) ?? [], r]);
  const out = new Map<string, Outcome>();
  for (const [said, rows] of alike) {
    for (let n = 0; n < rows.length; n += most) {
      const part = rows.slice(n, n + most);
      const done = JSON.parse(said) as Done;
      const seen = done.transition === 'decline' ? {} : { etags: part.map((r) => r.etag) };
      const { data, error } = await c.mutation(UpdateRequests, { input: { ids: part.map((r) => r.id), ...seen, ...done } }).toPromise();
      part.forEach((row, i) => {
        const of = data?.updateRequests.results[i];
        out.set(row.id, of?.request ? { row, now: of.request } : { row, fault: of?.error ?? faultOf(error) ?? refused() });
      });
    }
  }
  if ([...out.values()].some((o) => o.fault?.code === 'precondition_failed')) tell('outdated', null);
  return list.flatMap((r) => out.get(r.id) ?? []);
}

const valuesOf = (r: object, c: Change) => Object.fromEntries(Object.keys(c).map((k) => [k, (r as Record<string, unknown>)[k] ?? null])) as Change;

// inverse is the change that takes another one back; null where there is none. Of the moves, only a completion and a reopening have one.
export function inverse(was: MayRow, c: Change): Change | null {
  if (!c.status) return valuesOf(was, c);
  return (was.status === 'IN_PROGRESS' && c.status === 'COMPLETED') || (was.status === 'COMPLETED' && c.status === 'IN_PROGRESS') ? { status: was.status } : null;
}
