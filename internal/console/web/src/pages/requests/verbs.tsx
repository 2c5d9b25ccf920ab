// verbs are what can be done to a request by one press.
import { useState } from 'react';
import { useWrite } from '../../app/data';
import { AcceptRequest, DeclineRequest, UpdateRequest } from '../../gen/documents';
import type { RequestRowFragment, UpdateRequestInput } from '../../gen/types';
import { Confirm } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { useDraft } from '../../ui/draft';
import { toast } from '../../ui/toast';
import type { Fault } from '../../app/fault';

export function useAccept() {
  const [run] = useWrite(AcceptRequest);
  return async (r: Pick<RequestRowFragment, 'id' | 'title'>) => {
    const { fault } = await run({ input: { id: r.id } });
    if (!fault) toast({ text: `Accepted “${r.title}”.` });
    return !fault;
  };
}

type Change = Omit<UpdateRequestInput, 'id' | 'ifMatch'>;

// useChange updates a request and offers to take it back: by what the fields were, on the row as this change has left it.
export function useChange() {
  const [run] = useWrite(UpdateRequest);
  return async (r: RequestRowFragment, change: Change, says: string) => {
    const was = Object.fromEntries(Object.keys(change).map((k) => [k, (r as Record<string, unknown>)[k] ?? null])) as Change;
    const { data, fault } = await run({ input: { id: r.id, ifMatch: r.etag, ...change } });
    if (fault || !data) return;
    const etag = data.updateRequest.request.etag;
    const undo = change.status ? undefined : () => {
      void run({ input: { id: r.id, ifMatch: etag, ...was } }).then((o) => { if (!o.fault) toast({ text: 'Taken back.' }); });
    };
    toast({ text: says, ...(undo ? { undo } : {}) });
  };
}

// Decline asks why: the requester reads it, and the audit log keeps it.
export function Decline({ request, close, done }: { request: Pick<RequestRowFragment, 'id' | 'title'>; close: () => void; done?: () => void }) {
  const [run] = useWrite(DeclineRequest, true);
  const [draft, set, forget] = useDraft(`decline ${request.id}`, { reason: '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const act = async () => {
    const o = await run({ input: { id: request.id, reason: draft.reason } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    done?.();
    close();
    toast({ text: `Declined “${request.title}”.` });
  };
  return (
    <Confirm title={`Decline “${request.title}”?`} verb="Decline" close={close} act={act} ready={draft.reason.trim() !== ''}>
      <Field label="Reason" hint="The requester reads it, and it stays in the audit log." fault={faultAt(fault, 'reason')}>
        <textarea required value={draft.reason} onChange={(e) => { set({ reason: e.target.value }); }} />
      </Field>
      <Rest fault={fault} fields={['reason']} />
    </Confirm>
  );
}
