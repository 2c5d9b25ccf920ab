// acts are what can be done to requests in a list: to one by its menu, to those that are selected by the bar.
import { Suspense, lazy, useState, type ReactNode } from 'react';
import { useAsked } from '../../app/asked';
import { sentence } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { Dialog } from '../../ui/dialog';
import { Menu, type Item } from '../../ui/menu';
import { toast } from '../../ui/toast';
import type { Change, Outcome } from './batches';
import { Ask, Cancel, movesOf, open, useBulk, type Asking } from './bulk';
import type { MayRow } from './search';
import { Decline } from './verbs';

const Move = lazy(() => import('./move').then((m) => ({ default: m.Move })));

type Question = Exclude<Asking, ''> | 'decline' | 'cancel' | 'move';
interface Act { label: string; keys?: string; bad?: boolean; first?: boolean; beside?: boolean; may: (r: MayRow) => boolean; run: (list: MayRow[]) => void }

// useActs returns what can be done to all of a list of requests, what asks for more, and the dialogs for it.
export function useActs(): { of: (list: MayRow[]) => Act[]; ask: (what: Question, list: MayRow[]) => void; dialogs: ReactNode } {
  const viewer = useViewer();
  const [asking, setAsking] = useAsked<{ what: Question; list: MayRow[] } | null>('acts', null);
  const [outcomes, tell] = useState<Outcome[]>([]);
  const bulk = useBulk(tell);
  const close = () => { setAsking(null); };
  const told = (list: Outcome[]) => {
    const done = list.filter((o) => o.now).length;
    if (done < list.length) tell(list);
    else toast({ text: plural(done, '{n} request was changed.', '{n} requests were changed.') });
  };
  const ask = (what: Question, list: MayRow[]) => { if (list.length > 0) setAsking({ what, list }); };
  const change = (to: Change, says: (title: string) => string) => (list: MayRow[]) => { void bulk.change(list, () => to, says(list[0]?.title ?? '')); };
  const asks = (what: Question) => (list: MayRow[]) => { ask(what, list); };
  const updates = (r: MayRow) => open(r) && can(viewer, 'request.update', r);
  const waits = (r: MayRow) => r.status === 'PENDING';
  const acts: Act[] = [
    { label: t('Accept'), first: true, may: (r) => waits(r) && can(viewer, 'request.accept', r), run: change({ status: 'IN_PROGRESS' }, (title) => t('Accepted “{title}”.', { title })) },
    { label: t('Complete'), first: true, may: (r) => r.status === 'IN_PROGRESS' && can(viewer, 'request.complete', r), run: change({ status: 'COMPLETED' }, (title) => t('Completed “{title}”.', { title })) },
    { label: t('Reopen'), may: (r) => r.status === 'COMPLETED' && can(viewer, 'request.accept', r), run: change({ status: 'IN_PROGRESS' }, (title) => t('Reopened “{title}”.', { title })) },
    { label: t('Assign to me'), beside: true, may: (r) => updates(r) && r.assigneeId !== viewer.id, run: change({ assigneeId: viewer.id }, (title) => t('“{title}” is assigned to you.', { title })) },
    { label: t('Assign'), may: updates, run: asks('assignee') },
    { label: t('Team'), may: updates, run: asks('team') },
    { label: t('Priority'), may: updates, run: asks('priority') },
    { label: t('Add tag'), may: updates, run: asks('tag') },
    { label: t('Snooze'), beside: true, may: (r) => waits(r) && updates(r), run: asks('snooze') },
    { label: t('Move'), beside: true, may: (r) => waits(r) && updates(r) && can(viewer, 'request.create'), run: asks('move') },
    { label: t('Decline'), bad: true, may: (r) => waits(r) && can(viewer, 'request.accept', r) && can(viewer, 'request.cancel', r), run: asks('decline') },
    { label: t('Cancel request'), bad: true, may: (r) => open(r) && can(viewer, 'request.cancel', r), run: asks('cancel') },
  ];
  const of = (list: MayRow[]) => (list.length === 0 ? [] : acts.filter((a) => list.every((r) => a.may(r))));
  const { what, list } = asking ?? { what: '', list: [] };
  const [one] = list;
  const dialogs = (
    <>
      {one && what === 'decline' && <Decline request={one} list={list} told={told} close={close} />}
      {one && what === 'move' && <Suspense fallback={null}><Move request={one} list={list} told={told} close={close} /></Suspense>}
      {one && what === 'cancel' && <Cancel list={list} close={close} act={() => { close(); void bulk.change(list, () => ({ status: 'CANCELLED' })); }} />}
      {one && what !== '' && what !== 'decline' && what !== 'move' && what !== 'cancel' && <Ask what={what} list={list} close={close} act={(about, to) => { void bulk.change(about, to); }} />}
      {outcomes.length > 0 && <Results list={outcomes} close={() => { tell([]); }} />}
    </>
  );
  return { of, ask, dialogs };
}

export type Acts = ReturnType<typeof useActs>;

// aboutOf are the rows that a key is about: those that are selected, or else the one that is marked, as far as it can be done to them.
export function aboutOf(rows: MayRow[], may: (r: MayRow) => boolean): MayRow[] {
  const list = rows.filter(may);
  if (rows.length > 0 && list.length === 0) toast({ text: t('None of these can be changed that way.') });
  return list;
}

export const useMay = () => {
  const viewer = useViewer();
  return { update: (r: MayRow) => open(r) && can(viewer, 'request.update', r), move: (r: MayRow) => movesOf(viewer, r).length > 0 };
};

const itemOf = (a: Act, list: MayRow[]): Item => ({ label: a.label, run: () => { a.run(list); }, ...(a.keys ? { keys: a.keys } : {}), ...(a.bad ? { bad: true } : {}) });

// RowMenu has all verbs of a row.
export function RowMenu({ request: r, acts, more = [] }: { request: MayRow; acts: Acts; more?: Item[] }) {
  return <Menu label={t('Actions for {title}', { title: r.title })} hint={t('Actions')} items={() => { const all = acts.of([r]).map((a) => itemOf(a, [r])); return [...more, ...all]; }} />;
}

// Bar stands at the bottom while rows are selected: how many, and what can be done to all of them.
export function Bar({ list, acts, clear }: { list: MayRow[]; acts: Acts; clear: () => void }) {
  const all = acts.of(list);
  const rest = all.filter((a) => a.bad || a.beside);
  return (
    <div className="bulk" role="toolbar" aria-label={t('Selected requests')}>
      <strong role="status">{plural(list.length, '{n} selected', '{n} selected')}</strong>
      {all.length === 0 && <span className="soft">{t('No action applies to all of them.')}</span>}
      {all.filter((a) => !rest.includes(a)).map((a) => <button key={a.label} type="button" className={`small${a.first ? '' : ' plain'}`} onClick={() => { a.run(list); }}>{a.label}</button>)}
      {rest.length > 0 && <Menu label={t('More actions')} className="plain small" items={() => rest.map((a) => itemOf(a, list))}>{t('More')}</Menu>}
      <button type="button" className="quiet small" onClick={clear}>{t('Clear selection')}</button>
    </div>
  );
}

// Results say what came of each row where some were refused.
function Results({ list, close }: { list: Outcome[]; close: () => void }) {
  const refused = list.filter((o) => o.fault);
  return (
    <Dialog title={plural(refused.length, '{n} of {total} was not changed', '{n} of {total} were not changed', { total: list.length })} close={close}>
      <div className="stack">
        <ul className="results">
          {[...refused, ...list.filter((o) => !o.fault)].map(({ row, fault }) => (
            <li key={row.id}><span className="soft">#{row.number}</span><span dir="auto">{row.title}</span><span className={fault ? 'fault' : 'soft'}>{fault ? sentence(fault) : t('Changed')}</span></li>
          ))}
        </ul>
        <footer><button type="button" onClick={close}>{t('Close')}</button></footer>
      </div>
    </Dialog>
  );
}
