// replies are the texts that staff save to answer with. What stands in double braces is filled in for the request.
import { MessageSquareText } from 'lucide-react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useClient } from 'urql';
import { useAsked } from '../../../app/asked';
import { rows, useRead, useWrite } from '../../../app/data';
import { faultOf, sentence, type Fault } from '../../../app/fault';
import { atLeast, useCan, useViewer } from '../../../app/session';
import { t } from '../../../app/text';
import { ChangeReply, DropReply, FilledReply, SavedReplies, SaveReply } from '../../../gen/documents';
import type { ReplyFragment, SavedReplyScope } from '../../../gen/types';
import { useTeamChoices } from '../../../parts/choices';
import type { Completion } from '../../../parts/mention';
import { Confirm, Dialog } from '../../../ui/dialog';
import { Field, Rest, faultAt } from '../../../ui/field';
import { Menu, Panel } from '../../../ui/menu';
import { toast } from '../../../ui/toast';

// useReplies returns the button that opens the list, for a form, what it opens, which stands beside that form: it has forms of its own;
// and what a / in the text offers. What is chosen is handed to `put`.
export function useReplies(requestId: string, body: string, put: (text: string) => void) {
  const button = useRef<HTMLButtonElement>(null);
  const [open, set] = useState(false);
  const [editing, edit] = useAsked<ReplyFragment | 'new' | null>('reply', null);
  const [gone, setGone] = useAsked<ReplyFragment | null>('reply gone', null); // not said
  const [drop] = useWrite(DropReply);
  const client = useClient();
  const may = useCan('savedreply.read');
  const filled = useCallback(async (r: { id: string }) => {
    const o = await client.query(FilledReply, { id: r.id, requestId }, { requestPolicy: 'network-only' }).toPromise();
    const fault = faultOf(o.error);
    if (fault) toast({ text: sentence(fault), bad: true });
    return fault ? null : o.data?.filledReply ?? '';
  }, [client, requestId]);
  const choose = async (r: ReplyFragment) => {
    const text = await filled(r);
    set(false);
    if (text !== null) put(text);
  };
  const completion = useMemo((): Completion => ({
    sign: '/', label: t('Saved replies'),
    find: async (q) => {
      const found = await client.query(SavedReplies, { q: q.trim() || null }).toPromise();
      return rows(found.data?.savedReplies).map((r) => ({ id: r.id, name: r.name, soft: r.body.replace(/\s+/g, ' ').slice(0, 60), put: () => filled(r) }));
    },
  }), [client, filled]);
  return {
    completion: may ? completion : null,
    button: may && <button ref={button} type="button" className="quiet small" aria-haspopup="dialog" aria-expanded={open} onClick={() => { set(!open); }}><MessageSquareText size={14} aria-hidden /> {t('Saved replies')}</button>,
    opened: <>
      {open && button.current && <Panel at={button.current} label={t('Saved replies')} close={() => { set(false); }}><List choose={choose} edit={(r) => { set(false); edit(r); }} remove={(r) => { set(false); setGone(r); }} /></Panel>}
      {editing && <Save reply={editing === 'new' ? null : editing} body={body} close={() => { edit(null); }} />}
      {gone && <Confirm title={t('Delete the reply “{name}”?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await drop({ input: { id: gone.id } }); if (!o.fault) toast({ text: t('The reply was deleted.') }); setGone(null); }} />}
    </>,
  };
}

interface ListProps { choose: (r: ReplyFragment) => Promise<void>; edit: (r: ReplyFragment | 'new') => void; remove: (r: ReplyFragment) => void }

function List({ choose, edit, remove }: ListProps) {
  const viewer = useViewer();
  const [q, set] = useState('');
  const list = rows(useRead(SavedReplies, { q: q.trim() || null }).data?.savedReplies);
  return (
    <form className="replies" onSubmit={(e) => { e.preventDefault(); if (list[0]) void choose(list[0]); }}>
      <input type="search" dir="auto" aria-label={t('Find a reply')} placeholder={t('Find a reply')} maxLength={200} value={q} onChange={(e) => { set(e.target.value); }} />
      <ul>
        {list.map((r) => (
          <li key={r.id} className="line">
            <button type="button" className="quiet grow" title={r.body} onClick={() => { void choose(r); }}><span dir="auto">{r.name}</span></button>
            {(r.userId === viewer.id || atLeast(viewer, 'admin')) && <Menu label={t('Actions for {name}', { name: r.name })} items={() => [{ label: t('Edit'), run: () => { edit(r); } }, { label: t('Delete'), bad: true, run: () => { remove(r); } }]} />}
          </li>
        ))}
        {list.length === 0 && <li className="soft">{t('No reply was found.')}</li>}
      </ul>
      <button type="button" className="quiet small" onClick={() => { edit('new'); }}>{t('Save a reply…')}</button>
    </form>
  );
}

function Save({ reply, body, close }: { reply: ReplyFragment | null; body: string; close: () => void }) {
  const teams = useTeamChoices(false);
  const share = useCan('savedreply.share');
  const [draft, set] = useState({ name: reply?.name ?? '', body: reply?.body ?? body, scope: (reply?.scope ?? 'me') as SavedReplyScope, teamId: '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, making] = useWrite(SaveReply, true);
  const [change, saving] = useWrite(ChangeReply, true);
  const act = async () => {
    const o = reply ? await change({ input: { id: reply.id, ifMatch: reply.etag, name: draft.name, body: draft.body } })
      : await create({ input: { name: draft.name, body: draft.body, scope: draft.scope, teamId: draft.scope === 'team' ? draft.teamId : null } });
    setFault(o.fault);
    if (o.fault) return;
    close();
    toast({ text: t('The reply “{name}” was saved.', { name: draft.name }) });
  };
  return (
    <Dialog title={reply ? t('Reply “{name}”', { name: reply.name }) : t('New reply')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void act(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" required maxLength={200} value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Text')} fault={faultAt(fault, 'body')} hint={t('Placeholders: {list}', { list: '{{requester.name}} {{request.number}} {{request.title}} {{me.name}}' })}><textarea dir="auto" rows={7} required maxLength={10_000} value={draft.body} onChange={(e) => { set({ ...draft, body: e.target.value }); }} /></Field>
        {!reply && share && (
          <Field label={t('For')} fault={faultAt(fault, 'scope')}>
            <select value={draft.scope} onChange={(e) => { set({ ...draft, scope: e.target.value as SavedReplyScope }); }}><option value="me">{t('Me')}</option><option value="team">{t('A team')}</option><option value="company">{t('Everybody in the company')}</option></select>
          </Field>
        )}
        {!reply && draft.scope === 'team' && <Field label={t('Team')} fault={faultAt(fault, 'teamId')}><select required value={draft.teamId} onChange={(e) => { set({ ...draft, teamId: e.target.value }); }}><option value="">{t('Choose…')}</option>{teams.map((team) => <option key={team.id} value={team.id}>{team.name}</option>)}</select></Field>}
        <Rest fault={fault} fields={['name', 'body', 'scope', 'teamId']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}
