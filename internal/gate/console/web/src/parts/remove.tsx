// remove asks before a row is deleted. Where the server refuses because others use the row, the dialog stays, says so, and offers what
// can be done instead, such as to archive it.
import { useState, type ReactNode } from 'react';
import type { Fault } from '../app/fault';
import { t } from '../app/text';
import { Confirm } from '../ui/dialog';
import { Rest } from '../ui/field';

// Act ends the dialog itself when it has succeeded, and returns the refusal when not.
type Act = () => Promise<Fault | null>;

interface Props { title: string; close: () => void; act: Act; instead?: { verb: string; act: Act } | null; children: ReactNode }

export function Remove({ title, close, act, instead, children }: Props) {
  const [fault, setFault] = useState<Fault | null>(null);
  const other = fault?.code === 'conflict' ? instead : null;
  return (
    <Confirm title={title} verb={other ? other.verb : t('Delete')} close={close} act={async () => { setFault(await (other ?? { act }).act()); }}>
      {children}
      <Rest fault={fault} fields={[]} />
    </Confirm>
  );
}
