// rate is where requesters say how satisfied they are, as they can by the link that was mailed to them.
import { useState } from 'react';
import { useWrite } from '../../../app/data';
import type { Fault } from '../../../app/fault';
import { can, useViewer } from '../../../app/session';
import { t } from '../../../app/text';
import { RateRequest } from '../../../gen/documents';
import { useDraft } from '../../../ui/draft';
import { Field, Rest, faultAt } from '../../../ui/field';
import { toast } from '../../../ui/toast';
import type { FullRequest } from '../detail';
import { ratable } from '../search';

const choices: [number, string][] = [[5, t('Very satisfied')], [4, t('Satisfied')], [3, t('Neither')], [2, t('Dissatisfied')], [1, t('Very dissatisfied')]];

// Rate asks once the request is completed; the answer can be changed as long as it asks.
export function Rate({ request: r }: { request: FullRequest }) {
  const viewer = useViewer();
  const [changing, setChanging] = useState(false);
  if (r.requesterId !== viewer.id || !can(viewer, 'request.rate', r) || !ratable(r)) return null;
  const given = choices.find(([n]) => n === r.satisfaction)?.[1];
  if (!given || changing) return <Form request={r} close={() => { setChanging(false); }} />;
  return <p className="notice line"><span>{t('Your rating: {answer}', { answer: given })}</span><button type="button" className="plain small" onClick={() => { setChanging(true); }}>{t('Change')}</button></p>;
}

function Form({ request: r, close }: { request: FullRequest; close: () => void }) {
  const [draft, set, forget] = useDraft(`rating ${r.id}`, { satisfaction: r.satisfaction ?? 0, comment: r.satisfactionComment ?? '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(RateRequest, true);
  const send = async () => {
    const o = await run({ input: { id: r.id, satisfaction: draft.satisfaction, comment: draft.comment.trim() || null } });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    toast({ text: t('Thank you. Your rating is saved.') });
  };
  return (
    <form className="card rating stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
      <fieldset>
        <legend>{t('How satisfied are you with the outcome?')}</legend>
        <div className="line">
          {choices.map(([n, says]) => <label key={n} className="rate"><input type="radio" name="satisfaction" checked={draft.satisfaction === n} onChange={() => { set({ ...draft, satisfaction: n }); }} /> {says}</label>)}
        </div>
      </fieldset>
      {draft.satisfaction > 0 && (
        <>
          <Field label={t('Anything you want to add?')} optional fault={faultAt(fault, 'comment')}><textarea dir="auto" className="short" maxLength={1000} value={draft.comment} onChange={(e) => { set({ ...draft, comment: e.target.value }); }} /></Field>
          <Rest fault={fault} fields={['comment']} />
          <footer>
            {r.satisfaction && <button type="button" className="plain" onClick={() => { forget(); close(); }}>{t('Cancel')}</button>}
            <button type="submit" disabled={busy}>{t('Send')}</button>
          </footer>
        </>
      )}
    </form>
  );
}
