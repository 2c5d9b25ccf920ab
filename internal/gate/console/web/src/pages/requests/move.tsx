import { useState } from 'react';
import { rows, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { t } from '../../app/text';
import { MoveRequest, OfferingForm } from '../../gen/documents';
import { useOfferingChoices } from '../../parts/choices';
import { toSend, type Answers, type FormField } from '../../ui/answer';
import { Dialog } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { FormFields } from '../../ui/formfields';
import { toast } from '../../ui/toast';
import type { FullRequest } from './detail';

// Move files a request against another offering. It asks which one, and then what that offering's form asks; answers that the
// request has under the same keys stand there already.
export function Move({ request: r, close }: { request: FullRequest; close: () => void }) {
  const services = useOfferingChoices();
  const [to, setTo] = useState('');
  const [answers, setAnswers] = useState((r.fields ?? {}) as Answers);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(MoveRequest, true);
  const chosen = useRead(OfferingForm, { id: to }, to === '').data?.offering;
  const fields = chosen?.id === to ? (chosen.form as { fields?: FormField[] } | null)?.fields ?? [] : [];
  const act = async () => {
    const o = await run({ input: { id: r.id, ifMatch: r.etag, offeringId: to, fields: toSend(fields, answers) } });
    setFault(o.fault);
    if (o.fault) return;
    close();
    toast({ text: t('Moved to “{name}”.', { name: chosen?.name ?? '' }) });
  };
  return (
    <Dialog title={t('Move “{title}”', { title: r.title })} close={close}>
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
        <FormFields fields={fields} answers={answers} set={setAnswers} fault={fault} offering={chosen?.id} />
        <Rest fault={fault} fields={['offeringId', ...fields.map((f) => `fields.${f.key}`)]} />
        <footer>
          <button type="button" className="plain" onClick={close}>{t('Cancel')}</button>
          <button type="submit" disabled={busy || chosen?.id !== to || to === ''}>{t('Move')}</button>
        </footer>
      </form>
    </Dialog>
  );
}
