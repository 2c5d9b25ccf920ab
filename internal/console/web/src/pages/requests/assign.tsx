import { useState } from 'react';
import { rows, useRead } from '../../app/data';
import { useViewer } from '../../app/session';
import { Assignables } from '../../gen/documents';
import type { RequestRowFragment } from '../../gen/types';
import { Dialog } from '../../ui/dialog';
import { Field } from '../../ui/field';
import { useChange } from './verbs';

// Assign gives a request to somebody.
export function Assign({ request, close }: { request: RequestRowFragment; close: () => void }) {
  const read = useRead(Assignables, {});
  const viewer = useViewer();
  const change = useChange();
  const [who, setWho] = useState(request.assigneeId ?? viewer.id);
  return (
    <Dialog title={`Assign “${request.title}”`} close={close}>
      <form
        className="stack"
        onSubmit={(e) => { e.preventDefault(); close(); void change(request, { assigneeId: who || null }, who ? 'Assigned.' : 'Nobody deals with it now.'); }}
      >
        <Field label="Assignee">
          <select autoFocus value={who} onChange={(e) => { setWho(e.target.value); }}>
            <option value="">Nobody</option>
            <option value={viewer.id}>{viewer.name} (you)</option>
            {rows(read.data?.users).filter((u) => u.id !== viewer.id).map((u) => <option key={u.id} value={u.id}>{u.name}</option>)}
          </select>
        </Field>
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit">Save</button></footer>
      </form>
    </Dialog>
  );
}
