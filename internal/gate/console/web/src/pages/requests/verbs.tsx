// verbs are what can be done to a request by one press.
import { useState } from 'react';
import { useClient } from 'urql';
import { useWrite } from '../../app/data';
import { AcceptRequest, DeclineRequest, ReopenRequest, RequestOne, UpdateRequest } from '../../gen/documents';
import type { RequestRowFragment, UpdateRequestInput } from '../../gen/types';
import { Confirm, Dialog } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { useDraft } from '../../ui/draft';
import { toast } from '../../ui/toast';
import { sentence, type Fault } from '../../app/fault';
import { plural, t } from '../../app/text';
import { inBatches, type Outcome } from './batches';
import type { MayRow } from './search';

export function useAccept() {
  const [run] = useWrite(AcceptRequest);
  return async (r: Pick<RequestRowFragment, 'id' | 'title'>) => {
    const { fault } = await run({ input: { id: r.id } });
    if (!fault) toast({ text: t('Accepted “{title}”.', { title: r.title }) });
    return !fault;
  };
}

type Change = Omit<UpdateRequestInput, 'id' | 'ifMatch'>;

// fieldsOf are the values that a row has for the fields of a change.
const fieldsOf = (r: object, change: Change) => Object.fromEntries(Object.keys(change).map((k) => [k, (r as Record<string, unknown>)[k] ?? null])) as Change;

// usePut updates a request. One whose other fields have changed meanwhile, as by its workflow, is updated all the same; one whose same
// fields have changed is not.
function usePut() {
  const c = useClient();
  const [run] = useWrite(UpdateRequest, true);
  return async (r: RequestRowFragment, change: Change) => {
    const send = (etag: string) => run({ input: { id: r.id, ifMatch: etag, ...change } });
    let o = await send(r.etag);
    for (let tries = 0; o.fault?.code === 'precondition_failed' && tries < 3; tries++) { // an answer that was under way may be older than the refusal
      const now = (await c.query(RequestOne, { id: r.id }, { requestPolicy: 'network-only' }).toPromise()).data?.request;
      if (!now || JSON.stringify(fieldsOf(now, change)) !== JSON.stringify(fieldsOf(r, change))) break;
      o = await send(now.etag);
    }
    if (o.fault) toast({ text: sentence(o.fault), bad: true });
    return o.data?.updateRequest.request;
  };
}

// useUndo returns what takes a change back that has made one row of another: it sets the fields to what they were.
export function useUndo() {
  const put = usePut();
  return (was: RequestRowFragment, now: RequestRowFragment, change: Change) => () => {
    void put(now, fieldsOf(was, change)).then((back) => { if (back) toast({ text: t('Undone.') }); });
  };
}

// useChange updates a request and offers to take it back.
export function useChange() {
  const put = usePut();
  const undo = useUndo();
  return async (r: RequestRowFragment, change: Change, says: string) => {
    const changed = await put(r, change);
    if (changed) toast({ text: says, ...(change.status ? {} : { undo: undo(r, changed, change) }) });
  };
}

// useComplete completes a request. What takes that back opens it again.
export function useComplete() {
  const put = usePut();
  const [reopen] = useWrite(ReopenRequest);
  return async (r: RequestRowFragment) => {
    if (!await put(r, { status: 'COMPLETED' })) return;
    const undo = () => { void reopen({ input: { id: r.id, reason: null } }).then((o) => { if (!o.fault) toast({ text: t('Undone.') }); }); };
    toast({ text: t('Completed “{title}”.', { title: r.title }), undo });
  };
}

// Decline asks why: the requester reads it, and the audit log keeps it. It declines several requests at once where they are given, and tells
// what came of each.
interface DeclineProps { request: Pick<RequestRowFragment, 'id' | 'title'>; list?: MayRow[]; told?: (list: Outcome[]) => void; close: () => void }
export function Decline({ request, list = [], told, close }: DeclineProps) {
  const c = useClient();
  const [run] = useWrite(DeclineRequest, true);
  const [draft, set, forget, base] = useDraft(`decline ${request.id}`, { reason: '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const many = list.length > 1;
  const act = async () => {
    const done = many ? await inBatches(c, list, () => ({ transition: 'decline', reason: draft.reason })) : [];
    const o = many ? { fault: done.every((d) => d.fault) ? done[0]?.fault ?? null : null } : await run({ input: { id: request.id, reason: draft.reason } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    if (!many) toast({ text: t('Declined “{title}”.', { title: request.title }) });
    else told?.(done);
  };
  return (
    <Confirm title={many ? plural(list.length, 'Decline {n} request?', 'Decline {n} requests?') : t('Decline “{title}”?', { title: request.title })} verb={t('Decline')} close={close} act={act} ready={draft.reason.trim() !== ''}>
      <Field label={t('Reason')} hint={t('The requester sees it, and it stays in the audit log.')} fault={faultAt(fault, 'reason')}>
        <textarea required dir="auto" value={draft.reason} onChange={(e) => { set({ reason: e.target.value }); }} />
      </Field>
      <Rest base={base} fault={fault} fields={['reason']} />
    </Confirm>
  );
}

// Reopen opens a completed request again, and asks why if somebody wants to say so.
export function Reopen({ request, close }: { request: Pick<RequestRowFragment, 'id' | 'title'>; close: () => void }) {
  const [run, busy] = useWrite(ReopenRequest, true);
  const [draft, set, forget, base] = useDraft(`reopen ${request.id}`, { reason: '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const act = async () => {
    const o = await run({ input: { id: request.id, reason: draft.reason.trim() || null } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    toast({ text: t('Reopened “{title}”.', { title: request.title }) });
  };
  return (
    <Dialog title={t('Reopen “{title}”?', { title: request.title })} close={close}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void act(); }}>
        <p>{t('It is in progress again, and its service level clock runs again.')}</p>
        <Field label={t('Reason')} optional hint={t('Staff see it in the history of the request.')} fault={faultAt(fault, 'reason')}>
          <textarea dir="auto" maxLength={1000} value={draft.reason} onChange={(e) => { set({ reason: e.target.value }); }} />
        </Field>
        <Rest base={base} fault={fault} fields={['reason']} />
        <footer>
          <button type="button" className="plain" onClick={close}>{t('Cancel')}</button>
          <button type="submit" disabled={busy}>{t('Reopen')}</button>
        </footer>
      </form>
    </Dialog>
  );
}
