// own is what the author of a comment may do with it: change it, have the requester read a note, and delete it.
import { useState } from 'react';
import { useWrite } from '../../../app/data';
import type { Fault } from '../../../app/fault';
import { can, useViewer } from '../../../app/session';
import { t } from '../../../app/text';
import { ChangeComment, DropComment } from '../../../gen/documents';
import { Writer } from '../../../parts/writer';
import { Confirm, Dialog } from '../../../ui/dialog';
import { useDraft } from '../../../ui/draft';
import { Field, Rest, faultAt } from '../../../ui/field';
import { Menu } from '../../../ui/menu';
import { toast } from '../../../ui/toast';
import type { Comment } from './spoken';

// Own stands in the header of a comment; for anybody else's it is nothing.
export function Own({ comment: c }: { comment: Comment }) {
  const viewer = useViewer();
  const [asked, ask] = useState<'edit' | 'publish' | 'delete' | null>(null);
  const [drop] = useWrite(DropComment);
  const [change] = useWrite(ChangeComment);
  if (c.authorId !== viewer.id) return null;
  const items = [
    ...(can(viewer, 'comment.update') ? [{ label: t('Edit'), run: () => { ask('edit'); } }] : []),
    ...(c.visibility === 'internal' && can(viewer, 'comment.update') ? [{ label: t('Make public'), run: () => { ask('publish'); } }] : []),
    ...(can(viewer, 'comment.delete') ? [{ label: t('Delete'), bad: true, run: () => { ask('delete'); } }] : []),
  ];
  if (items.length === 0) return null;
  const close = () => { ask(null); };
  const remove = async () => {
    const o = await drop({ input: { id: c.id } });
    if (!o.fault) toast({ text: t('Your comment was deleted.') });
    close();
  };
  const publish = async () => {
    const o = await change({ input: { id: c.id, ifMatch: c.etag, visibility: 'public' } });
    if (!o.fault) toast({ text: t('The note is public.') });
    close();
  };
  return (
    <>
      <span className="grow" />
      <Menu label={t('Actions for your comment')} items={() => items} />
      {asked === 'edit' && <Change comment={c} close={close} />}
      {asked === 'publish' && <Confirm title={t('Make this note public?')} verb={t('Make public')} close={close} act={publish}><p>{t('The requester reads it with its files, and is told by mail.')}</p></Confirm>}
      {asked === 'delete' && <Confirm title={t('Delete your comment?')} verb={t('Delete')} close={close} act={remove}><p>{t('It is deleted with its files. Mails that were sent with it cannot be taken back.')}</p></Confirm>}
    </>
  );
}

// Change edits what a comment says. A plain text stays one.
function Change({ comment: c, close }: { comment: Comment; close: () => void }) {
  const [draft, set, forget, base] = useDraft(`edit ${c.id}`, { body: c.body }, c.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(ChangeComment, true);
  const send = async () => {
    const o = draft.body === c.body ? null : await run({ input: { id: c.id, ...base.match, body: draft.body } });
    setFault(o?.fault ?? null);
    if (o?.fault) return;
    forget();
    close();
    const etag = o?.data?.updateComment?.comment?.etag;
    if (etag) toast({ text: t('Your comment was changed.'), undo: () => { void run({ input: { id: c.id, ifMatch: etag, body: c.body } }); } });
  };
  const field = { label: t('Comment'), fault: faultAt(fault, 'body') };
  return (
    <Dialog title={t('Edit your comment')} close={close} wide>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        {c.format === 'markdown' ? <Writer {...field} required value={draft.body} set={(body) => { set({ body }); }} />
          : <Field {...field}><textarea dir="auto" required rows={6} maxLength={10_000} value={draft.body} onChange={(e) => { set({ body: e.target.value }); }} /></Field>}
        <Rest base={base} fault={fault} fields={['body']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy || draft.body.trim() === ''}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}
