import { useState } from 'react';
import { useWrite } from '../../../app/data';
import { differing } from '../../../app/digits';
import type { Fault } from '../../../app/fault';
import { t } from '../../../app/text';
import { UpdateRequest } from '../../../gen/documents';
import * as enums from '../../../gen/enums';
import type { RequestPriority } from '../../../gen/types';
import { Writer } from '../../../parts/writer';
import { toSend, type Answers, type FormField } from '../../../ui/answer';
import { words } from '../../../ui/bits';
import { Dialog } from '../../../ui/dialog';
import { useDraft } from '../../../ui/draft';
import { Field, Rest, below, faultAt, faultBelow } from '../../../ui/field';
import { FormFields, asked } from '../../../ui/formfields';
import { tagsOf, textOf } from '../../../ui/tags';
import { toast } from '../../../ui/toast';
import { fieldOf, instantOf, tomorrow } from '../../../ui/zone';
import type { FullRequest } from '../detail';
import { useChange, useUndo } from '../verbs';

// Edit changes what a request says. It sends what differs from the row as it was when the dialog was opened.
export function Edit({ request, close }: { request: FullRequest; close: () => void }) {
  const [r] = useState(request);
  const fields = (r.offering?.form as { fields?: FormField[] } | null)?.fields ?? [];
  const [draft, set, forget, base] = useDraft(`edit ${r.id}`, { title: r.title, description: r.description ?? '', priority: r.priority as string, tags: textOf(r.tags), answers: (r.fields ?? {}) as Answers }, r.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [sending, setSending] = useState(false);
  const [run, busy] = useWrite(UpdateRequest, true);
  const undo = useUndo();
  const marked = r.format === 'markdown' || !r.description; // a plain text stays one
  const answered = JSON.stringify(draft.answers) !== JSON.stringify(r.fields ?? {});
  const gone = Object.keys(r.fields ?? {}).filter((k) => fields.length > 0 && !fields.some((f) => f.key === k)); // questions that the form has no more
  const send = async () => {
    const now = { title: draft.title, description: draft.description || null, format: marked && draft.description ? 'markdown' as const : r.format, priority: draft.priority as RequestPriority, tags: tagsOf(draft.tags, r.tags), ...(answered ? { fields: toSend(fields, draft.answers, (r.fields ?? {}) as Answers) } : {}) };
    const changed = differing(now, r);
    const o = Object.keys(changed).length > 0 ? await run({ input: { id: r.id, ...base.match, ...changed } }) : null;
    setFault(o?.fault ?? null);
    if (o?.fault) return;
    forget();
    close();
    const saved = o?.data?.updateRequest.request;
    toast({ text: t('“{title}” was saved.', { title: draft.title }), ...(saved ? { undo: undo(r, saved, changed) } : {}) });
  };
  return (
    <Dialog title={t('Edit “{title}”', { title: r.title })} close={close} wide>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Title')} fault={faultAt(fault, 'title')}><input dir="auto" maxLength={300} value={draft.title} onChange={(e) => { set({ ...draft, title: e.target.value }); }} /></Field>
        {marked ? <Writer label={t('Description')} optional fault={faultAt(fault, 'description')} value={draft.description} set={(description) => { set({ ...draft, description }); }} />
          : <Field label={t('Description')} optional fault={faultAt(fault, 'description')}><textarea dir="auto" value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} /></Field>}
        <FormFields fields={fields} answers={draft.answers} set={(answers) => { set({ ...draft, answers }); }} fault={fault} offering={r.offering?.id} sending={setSending} />
        <div className="pair">
          <Field label={t('Priority')} fault={faultAt(fault, 'priority')}><select value={draft.priority} onChange={(e) => { set({ ...draft, priority: e.target.value }); }}>{enums.RequestPriority.map((p) => <option key={p} value={p}>{words(p)}</option>)}</select></Field>
          <Field label={t('Tags')} optional hint={t('One per line, such as env=production.')} fault={faultBelow(fault, 'tags')}><textarea rows={2} value={draft.tags} onChange={(e) => { set({ ...draft, tags: e.target.value }); }} /></Field>
        </div>
        {answered && gone.length > 0 && <p className="notice">{t('The form has changed. Saving removes the answers to what it no longer asks: {names}.', { names: gone.join(', ') })}</p>}
        <Rest base={base} fault={fault} fields={['title', 'description', 'priority', ...below(fault, 'tags'), ...asked(fault, fields)]} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy || sending}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}

// Snooze puts a request off: the inbox does not show it until then.
export function Snooze({ request: r, close }: { request: FullRequest; close: () => void }) {
  const change = useChange();
  const [until, set] = useState(() => tomorrow());
  const at = instantOf(until);
  const send = async () => {
    await change(r, { snoozedUntil: at.toISOString() }, t('Snoozed “{title}”.', { title: r.title }));
    close();
  };
  return (
    <Dialog title={t('Snooze “{title}”', { title: r.title })} close={close}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Until')} hint={t('The inbox does not show it until then.')}><input type="datetime-local" required min={fieldOf(new Date())} value={until} onChange={(e) => { set(e.target.value); }} /></Field>
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={Number.isNaN(at.getTime())}>{t('Snooze')}</button></footer>
      </form>
    </Dialog>
  );
}
