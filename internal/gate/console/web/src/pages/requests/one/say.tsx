// say is where people answer: the requester in the open, staff also among themselves. What is written to the one is not lost, nor sent,
// by turning to the other.
import { Lock, Send } from 'lucide-react';
import { useId, useRef, useState, type KeyboardEvent } from 'react';
import { useWrite } from '../../../app/data';
import type { Fault } from '../../../app/fault';
import { useCan, useViewer } from '../../../app/session';
import { t } from '../../../app/text';
import { AddComment } from '../../../gen/documents';
import { Attach, Attaching, useFiles } from '../../../parts/files';
import { Writer, type Writing } from '../../../parts/writer';
import { nameOf } from '../../../parts/who';
import { useDraft } from '../../../ui/draft';
import { Check, Rest, faultAt } from '../../../ui/field';
import { toast } from '../../../ui/toast';
import { keyLabel } from '../../../keys/registry';
import type { FullRequest } from '../detail';
import { reopenable } from '../search';
import { useChange } from '../verbs';
import { mayOf } from './actions';
import { useMentions } from './mentions';
import { useReplies } from './replies';

const tabs = ['reply', 'note'] as const;

export function Say({ request: r }: { request: FullRequest }) {
  const viewer = useViewer();
  const notes = useCan('comment.internal');
  const id = useId();
  const [draft, set, forget, base] = useDraft(`comment ${r.id}`, { reply: '', note: '', tab: 'reply' as (typeof tabs)[number] });
  const tab = notes ? draft.tab : 'reply';
  const body = draft[tab];
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(AddComment, true);
  const change = useChange();
  const [waits, setWaits] = useState(false);
  const waitable = tab === 'reply' && r.status === 'IN_PROGRESS' && !r.waiting && r.requesterId !== viewer.id && mayOf(viewer, r).update;
  const mentions = useMentions(r.id);
  const writer = useRef<Writing>(null);
  const replies = useReplies(r.id, body, (text) => { writer.current?.insert(text); });
  const both = { reply: useFiles(), note: useFiles() };
  const files = both[tab]; // what is attached to the one is not sent with the other
  const ready = body.trim() !== '' && !busy && files.ready;
  const requester = r.requesterId === viewer.id;
  const send = async () => {
    const o = await run({ input: { requestId: r.id, body, format: 'markdown', visibility: tab === 'note' ? 'internal' : 'public', ...(files.ids.length > 0 ? { attachmentIds: files.ids } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    files.clear();
    const left = { ...draft, [tab]: '' };
    if (left.reply || left.note) set(left);
    else forget();
    if (waits && waitable) void change(r, { waiting: true }, t('The service level clock stops until the requester answers.'));
    setWaits(false);
    toast({ text: tab === 'note' ? t('Your note was added.') : t('Your reply was sent.') });
  };
  const turn = (e: KeyboardEvent) => {
    if (e.key !== 'ArrowRight' && e.key !== 'ArrowLeft') return;
    const to = tab === 'reply' ? 'note' : 'reply';
    set({ ...draft, tab: to });
    globalThis.document.getElementById(`${id}${to}`)?.focus();
  };
  const says = tab === 'note' ? t('Add note for staff') : requester ? t('Reply to staff') : t('Reply to {name}', { name: nameOf(viewer, r.requesterId, r.requester) ?? t('the requester') });
  return (
    <>
    <form
      className={`card say${tab === 'note' ? ' internal' : ''}`} // not said
      {...files.on} onSubmit={(e) => { e.preventDefault(); if (ready) void send(); }}
    >
      {notes && (
        <div role="tablist" aria-label={t('Who reads it')} className="say-tabs" onKeyDown={turn}>
          {tabs.map((name) => (
            <button
              key={name} id={`${id}${name}`} type="button" role="tab" className="quiet" aria-selected={tab === name} aria-controls={`${id}panel`} tabIndex={tab === name ? 0 : -1}
              onClick={() => { set({ ...draft, tab: name }); }}
            >{name === 'note' && <Lock size={13} aria-hidden />} {name === 'note' ? t('Internal note') : t('Reply')}{tab !== name && draft[name] && <span className="unsent" title={t('Not sent yet')} />}</button>
          ))}
        </div>
      )}
      <div {...(notes ? { role: 'tabpanel', id: `${id}panel`, 'aria-labelledby': `${id}${tab}` } : {})} className="stack-say">
        <Writer
          ref={writer} key={tab} label={t('Comment')} unlabelled placeholder={tab === 'note' ? t('Only staff see this.') : requester ? t('Write to staff…') : t('Write to the requester…')}
          hint={requester && reopenable(r) ? t('A public comment reopens your request.') : undefined}
          completions={replies.completion ? [mentions, replies.completion] : [mentions]} fault={faultAt(fault, 'body')} value={body} set={(to) => { set({ ...draft, [tab]: to }); }} required send={() => { if (ready) void send(); }}
        />
        <Attaching files={files} />
        <Rest base={body ? base : undefined} fault={fault} fields={['body']} />
        <div className="line">
          {waitable ? <Check label={t('Then wait for an answer')} checked={waits} set={setWaits} /> : <span className="soft small-text">{replies.completion ? t('@ for people, / for saved replies.') : t('Type @ to mention somebody.')}</span>}
          <span className="grow" />
          <Attach files={files} />
          {replies.button}
          <button type="submit" disabled={!ready} title={keyLabel('mod+Enter')} dir="auto">{tab === 'note' ? <Lock size={14} aria-hidden /> : <Send size={14} aria-hidden />} {says}</button>
        </div>
      </div>
    </form>
    {replies.opened}
    </>
  );
}
