// batches change several requests by few calls: each row by an operation of its own, which is done or refused by itself.
import type { Client, TypedDocumentNode } from 'urql';
import { tell } from '../../app/bus';
import { faultOf, type Fault } from '../../app/fault';
import { t } from '../../app/text';
import type { RequestRowFragment, UpdateRequestInput } from '../../gen/types';
import type { MayRow } from './search';

export type Change = Omit<UpdateRequestInput, 'id' | 'ifMatch'>;

// Outcome is what came of one row: as it is now, or why it was refused.
export interface Outcome { row: MayRow; now?: RequestRowFragment; fault?: Fault }

const slots = [...'abcdefghij'];
const together = 4; // calls at a time: a person's rate limit is the server's to say, and is waited for

// inBatches runs a mutation of ten slots for every row, and returns what came of each in the rows' order.
export async function inBatches<I extends object>(c: Client, doc: TypedDocumentNode<never, never>, list: MayRow[], input: (r: MayRow) => I): Promise<Outcome[]> {
  const parts = Array.from({ length: Math.ceil(list.length / slots.length) }, (_, i) => list.slice(i * slots.length, (i + 1) * slots.length));
  const out: Outcome[][] = [];
  const next = async (): Promise<void> => {
    const i = parts.findIndex((part, n) => part.length > 0 && !(n in out));
    const part = parts[i];
    if (!part) return;
    out[i] = [];
    const variables = Object.fromEntries(slots.flatMap((s, n) => [[s, input(part[n] ?? part[0] as MayRow)], ...(n > 0 ? [[`with_${s}`, n < part.length]] : [])]));
    const { data, error } = await c.mutation(doc, variables as never).toPromise();
    out[i] = part.map((row, n) => {
      const now = (data as Record<string, { request: RequestRowFragment } | null> | undefined)?.[slots[n] as string]?.request;
      if (now) return { row, now };
      const own = error?.graphQLErrors.filter((e) => e.path?.[0] === slots[n]) ?? [];
      return { row, fault: faultOf(own.length > 0 ? { ...error, graphQLErrors: own } as never : error) ?? { code: '', message: t('It was refused.'), details: [] } };
    });
    if (out[i]?.some((o) => o.fault?.code === 'precondition_failed')) tell('outdated', null);
    await next();
  };
  await Promise.all(Array.from({ length: together }, next));
  return out.flat();
}

const valuesOf = (r: object, c: Change) => Object.fromEntries(Object.keys(c).map((k) => [k, (r as Record<string, unknown>)[k] ?? null])) as Change;

// inverse is the change that takes another one back; null where there is none. Of the moves, only a completion and a reopening have one.
export function inverse(was: MayRow, c: Change): Change | null {
  if (!c.status) return valuesOf(was, c);
  return (was.status === 'IN_PROGRESS' && c.status === 'COMPLETED') || (was.status === 'COMPLETED' && c.status === 'IN_PROGRESS') ? { status: was.status } : null;
}
