// links are what a request has to do with others: it relates to one, duplicates it, blocks it, or is its parent.
import { Link } from '@tanstack/react-router';
import { Plus, X } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useAsked } from '../../../app/asked';
import { rows, useRead, useWrite } from '../../../app/data';
import type { Fault } from '../../../app/fault';
import { can, useViewer } from '../../../app/session';
import { placed, t } from '../../../app/text';
import { AddLink, DropLink, FindRequests, MergeRequest } from '../../../gen/documents';
import type { RequestLinkType } from '../../../gen/types';
import { Badge } from '../../../ui/bits';
import { Dialog } from '../../../ui/dialog';
import { Field, Rest } from '../../../ui/field';
import { toast } from '../../../ui/toast';
import type { FullRequest } from '../detail';

type Kind = `${RequestLinkType}` | 'blocked' | 'part' | 'duplicated';
type LinkRow = NonNullable<FullRequest['links']>[number];

// kinds are what a request is to the other, as one reads it on its own page; `back` ones are links that lead to it.
const kinds: [Kind, RequestLinkType, boolean, string][] = [
  ['relates', 'relates', false, t('Related to')], ['blocks', 'blocks', false, t('Blocks')], ['blocked', 'blocks', true, t('Blocked by')],
  ['parent', 'parent', false, t('Parent of')], ['part', 'parent', true, t('Part of')], ['duplicates', 'duplicates', false, t('Duplicate of')], ['duplicated', 'duplicates', true, t('Duplicated by')],
];
const isOf = (l: LinkRow, r: FullRequest, [, type, back]: (typeof kinds)[number]) => l.type === type && (type === 'relates' || (l.toId === r.id) === back);

// Links stand below the properties. Staff add and remove them.
export function Links({ request: r }: { request: FullRequest }) {
  const may = can(useViewer(), 'request.update', r);
  const [adding, add] = useAsked('link', false);
  const [drop] = useWrite(DropLink);
  const [again] = useWrite(AddLink);
  const list = r.links ?? [];
  if (list.length === 0 && !may) return null;
  const remove = async (l: LinkRow) => {
    const o = await drop({ input: { id: l.id } });
    if (!o.fault) toast({ text: t('The link was removed.'), undo: () => { void again({ input: { id: l.fromId, type: l.type, requestId: l.toId } }); } });
  };
  return (
    <div className="whole">
      <dt>{t('Linked requests')}</dt>
      <dd className="stack-tight">
        {kinds.map((k) => [k, list.filter((l) => isOf(l, r, k))] as const).filter(([, of]) => of.length > 0).map(([k, of]) => (
          <div key={k[0]}>
            <span className="soft small-text">{k[3]}</span>
            <ul className="linked">
              {of.map((l) => {
                const other = l.fromId === r.id ? l.to : l.from;
                return other && (
                  <li key={l.id} className="line">
                    <Link to="/app/requests/$id" params={{ id: other.id }} className="name" dir="auto">#{other.number} {other.title}</Link> <Badge value={other.status} />
                    {may && <button type="button" className="icon small" aria-label={t('Remove the link to #{number}', { number: other.number })} title={t('Remove the link to #{number}', { number: other.number })} onClick={() => { void remove(l); }}><X size={13} aria-hidden /></button>}
                  </li>
                );
              })}
            </ul>
          </div>
        ))}
        {may && <button type="button" className="quiet small" onClick={() => { add(true); }}><Plus size={13} aria-hidden /> {t('Link a request')}</button>}
        {adding && <Add request={r} close={() => { add(false); }} />}
      </dd>
    </div>
  );
}

function Add({ request: r, close }: { request: FullRequest; close: () => void }) {
  const [kind, setKind] = useState<Kind>('relates');
  const [other, choose] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(AddLink, true);
  const act = async () => {
    const [, type, back] = kinds.find(([k]) => k === kind) ?? ['relates', 'relates', false];
    const o = await run({ input: back ? { id: other, type, requestId: r.id } : { id: r.id, type, requestId: other } });
    setFault(o.fault);
    if (o.fault) return;
    close();
    toast({ text: t('The requests are linked.') });
  };
  return (
    <Dialog title={t('Link a request')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void act(); }}>
        <Field label={t('This request is')}><select value={kind} onChange={(e) => { setKind(e.target.value as Kind); }}>{kinds.map(([k, , , says]) => <option key={k} value={k}>{says}</option>)}</select></Field>
        <Find without={r.id} chosen={other} choose={choose} />
        <Rest fault={fault} fields={[]} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy || other === ''}>{t('verb|Link')}</button></footer>
      </form>
    </Dialog>
  );
}

// Find looks for another request by its number or its words: of those that are to be kept, none that is cancelled.
function Find({ without, chosen, choose, kept = false }: { without: string; chosen: string; choose: (id: string) => void; kept?: boolean }) {
  const [q, set] = useState('');
  const found = useRead(FindRequests, { q: useDeferredValue(q.trim()) || null });
  const list = rows(found.data?.requests).filter((x) => x.id !== without && !(kept && x.status === 'CANCELLED')).slice(0, 8);
  return (
    <>
      <Field label={t('Find a request')} hint={t('By its number or its words.')}><input type="search" dir="auto" autoComplete="off" maxLength={200} value={q} onChange={(e) => { set(e.target.value); choose(''); }} /></Field>
      <fieldset className="found" aria-busy={found.behind}>
        <legend className="hidden">{t('Requests')}</legend>
        {list.map((x) => <label key={x.id} className="line"><input type="radio" name="found" checked={chosen === x.id} onChange={() => { choose(x.id); }} /> <span className="grow" dir="auto">#{x.number} {x.title}</span> <Badge value={x.status} /></label>)}
        {found.data && list.length === 0 && <p className="soft">{t('No request was found.')}</p>}
      </fieldset>
    </>
  );
}

// Merge cancels a request as a duplicate of another one.
export function Merge({ request: r, close }: { request: FullRequest; close: () => void }) {
  const [into, choose] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(MergeRequest, true);
  const act = async () => {
    const o = await run({ input: { id: r.id, into } });
    setFault(o.fault);
    if (o.fault) return;
    close();
    toast({ text: t('“{title}” was closed as a duplicate.', { title: r.title }) });
  };
  return (
    <Dialog title={t('Merge “{title}”', { title: r.title })} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void act(); }}>
        <p>{t('This request is cancelled as a duplicate. Its requester and watchers will watch the one that stays, where its conversation can be read. This is final.')}</p>
        <Find without={r.id} chosen={into} choose={choose} kept />
        <Rest fault={fault} fields={['into']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" className="danger" disabled={busy || into === ''}>{t('Merge')}</button></footer>
      </form>
    </Dialog>
  );
}

// Duplicate says of what a cancelled request was a duplicate, to whoever may read that one; to others, that it was one.
export function Duplicate({ request: r }: { request: FullRequest }) {
  const other = r.status === 'CANCELLED' ? r.links?.find((l) => l.type === 'duplicates' && l.fromId === r.id)?.to : undefined;
  if (!other) return r.mergedAt ? <p className="notice">{t('Closed as a duplicate of another request. You will hear when that one is solved.')}</p> : null;
  return <p className="notice">{placed(t('Closed as a duplicate of {request}.'), { request: <Link to="/app/requests/$id" params={{ id: other.id }}>#{other.number} <bdi>{other.title}</bdi></Link> })}</p>;
}
