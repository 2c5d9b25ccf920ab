// heading names a request and says how it stands. Its title is changed where it stands.
import { Pencil } from 'lucide-react';
import { useRef, useState, type KeyboardEvent } from 'react';
import { can, useViewer } from '../../../app/session';
import { placed, t } from '../../../app/text';
import { Who } from '../../../parts/who';
import { Badge, Time } from '../../../ui/bits';
import { focusSoon } from '../../../ui/focus';
import { open } from '../bulk';
import type { FullRequest } from '../detail';
import { Sla } from '../row';
import { asleep, responseDue } from '../search';
import { useChange } from '../verbs';

export function Heading({ request: r, as: H }: { request: FullRequest; as: 'h1' | 'h3' }) {
  const may = open(r) && can(useViewer(), 'request.update', r);
  const change = useChange();
  const [draft, set] = useState<string | null>(null);
  const pencil = useRef<HTMLButtonElement>(null);
  const done = (to: string | null) => {
    set(null);
    focusSoon(() => pencil.current);
    if (to && to !== r.title) void change(r, { title: to }, t('The title was changed.'));
  };
  const press = (e: KeyboardEvent<HTMLInputElement>) => {
    if (!['Enter', 'Escape'].includes(e.key)) return; // not said
    e.preventDefault(); // nor does Escape close what it stands in
    e.stopPropagation();
    done(e.key === 'Enter' ? e.currentTarget.value.trim() : null); // not said
  };
  return (
    <div className="request-head">
      <div className="title-line">
        <H dir="auto" className={draft === null ? 'peek-title' : 'hidden'} onDoubleClick={() => { if (may) set(r.title); }}>{r.title}</H>
        {draft !== null && <input autoFocus dir="auto" className="title-input" aria-label={t('Title')} maxLength={300} value={draft} onChange={(e) => { set(e.target.value); }} onKeyDown={press} onBlur={(e) => { if (draft !== null) done(e.target.value.trim()); }} />}
        {may && draft === null && <button ref={pencil} type="button" className="icon small" aria-label={t('Change the title')} title={t('Change the title')} onClick={() => { set(r.title); }}><Pencil size={14} aria-hidden /></button>}
      </div>
      <Standing request={r} />
    </div>
  );
}

// Standing is how a request stands: its number, its status, its clock, and for whom it is.
function Standing({ request: r }: { request: FullRequest }) {
  const until = r.status === 'PENDING' && asleep(r) ? r.snoozedUntil : null;
  return (
    <div className="line standing">
      <span className="number">#{r.number}</span>
      <Badge value={r.status} />
      {r.sla && open(r) && <Sla state={r.sla.state} dueAt={responseDue(r) ?? r.sla.resolutionDueAt} />}
      {r.waiting && <Badge value="PAUSED">{t('Waiting for the requester')}</Badge>}
      {until && <Badge value="PAUSED">{placed(t('Snoozed until {when}'), { when: <Time at={until} full /> })}</Badge>}
      <span className="line soft small-text"><Who id={r.requesterId} person={r.requester} /><Time at={r.createdAt} /></span>
    </div>
  );
}
