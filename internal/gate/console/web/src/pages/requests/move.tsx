import { useState } from 'react';
import { useClient } from 'urql';
import { rows, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { plural, t } from '../../app/text';
import { MoveRequest, OfferingForm } from '../../gen/documents';
import { useOfferingChoices } from '../../parts/choices';
import { toSend, type Answers, type FormField } from '../../ui/answer';
import { Dialog } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { FormFields, asked } from '../../ui/formfields';
import { toast } from '../../ui/toast';
import { inBatches, type Outcome } from './batches';
import type { MayRow } from './search';

// Move files a request against another offering. It asks which one, and then what that offering's form asks; answers that the
// request has under the same keys stand there already. Several requests are given the same answers, or keep their own where nothing is
// answered; `told` hears what came of each.
interface MoveProps { request: MayRow & { fields?: unknown }; list?: MayRow[]; told?: (list: Outcome[]) => void; close: () => void }
export function Move({ request: r, list = [], told, close }: MoveProps) {
  const client = useClient();
  const many = list.length > 1;
  const services = useOfferingChoices();
  const [to, setTo] = useState('');
  const [answers, setAnswers] = useState((r.fields ?? {}) as Answers);
  const [fault, setFault] = useState<Fault | null>(null);
  const [sending, setSending] = useState(false);
  const [run, busy] = useWrite(MoveRequest, true);
  const chosen = useRead(OfferingForm, { id: to }, to === '').data?.offering;
  const fields = chosen?.id === to ? (chosen.form as { fields?: FormField[] } | null)?.fields ?? [] : [];
  const act = async () => {
    const sent = toSend(fields, answers);
    const input = { offeringId: to, ...(r.fields || Object.keys(sent).length > 0 ? { fields: sent } : {}) };
    const done = many ? await inBatches(client, list, () => ({ transition: 'move', ...input })) : [];
    const o = many ? { fault: done.every((d) => d.fault) ? done[0]?.fault ?? null : null } : await run({ input: { id: r.id, ifMatch: r.etag, ...input } });
    setFault(o.fault);
    if (o.fault) return;
    close();
    if (many) told?.(done);
    else toast({ text: t('Moved to “{name}”.', { name: chosen?.name ?? '' }) });
  };
  return (
    <Dialog title={many ? plural(list.length, 'Move {n} request', 'Move {n} requests') : t('Move “{title}”', { title: r.title })} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void act(); }}>
        <Field label={t('Offering')} hint={t('Its service levels count from when the request was submitted. Its workflow replaces the one that runs.')} fault={faultAt(fault, 'offeringId')}>
          <select required value={to} onChange={(e) => { setTo(e.target.value); setFault(null); }}>
            <option value="">{t('Choose…')}</option>
            {services.map((s) => (
              <optgroup key={s.id} label={s.name}>
                {rows(s.offerings).filter((o) => o.id !== r.offering?.id).map((o) => <option key={o.id} value={o.id}>{o.name}</option>)}
              </optgroup>
            ))}
          </select>
        </Field>
        <FormFields fields={fields} answers={answers} set={setAnswers} fault={fault} offering={chosen?.id} sending={setSending} />
        <Rest fault={fault} fields={['offeringId', ...asked(fault, fields)]} />
        <footer>
          <button type="button" className="plain" onClick={close}>{t('Cancel')}</button>
          <button type="submit" disabled={busy || sending || chosen?.id !== to || to === ''}>{t('Move')}</button>
        </footer>
      </form>
    </Dialog>
  );
}
