// bulk changes several requests at once: each by the operation that changes one, so that each is refused or done by itself.
import { useState } from 'react';
import { useWrite } from '../../app/data';
import { sentence } from '../../app/fault';
import { can, useViewer, type Viewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { AcceptRequest, UpdateRequest } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { RequestPriority, UpdateRequestInput } from '../../gen/types';
import { usePersonChoices, useTeamChoices } from '../../parts/choices';
import { words } from '../../ui/bits';
import { Confirm, Dialog } from '../../ui/dialog';
import { Field } from '../../ui/field';
import { toast } from '../../ui/toast';
import type { MayRow } from './search';

export type Change = Omit<UpdateRequestInput, 'id' | 'ifMatch'>;
type Outcome = { row: MayRow; etag: string; was: Change };

const together = 4; // calls at a time: a person's rate limit is the server's to say, and is waited for

// each runs a job for every row, a few at a time, and returns what came of it.
async function each<T>(list: MayRow[], job: (r: MayRow) => Promise<T | string>): Promise<{ done: T[]; refused: string[] }> {
  const done: T[] = [];
  const refused: string[] = [];
  const left = [...list];
  await Promise.all(Array.from({ length: together }, async () => {
    for (let r = left.shift(); r; r = left.shift()) {
      const o = await job(r);
      if (typeof o === 'string') refused.push(o);
      else done.push(o);
    }
  }));
  return { done, refused };
}

const said = (n: number, [why, ...others]: string[]) =>
  [plural(n, '{n} request was changed.', '{n} requests were changed.'), why && t('{n} refused: {why}', { n: 1 + others.length, why })].filter(Boolean).join(' ');

// useBulk changes or accepts many requests, and offers to take a change back.
export function useBulk() {
  const [update] = useWrite(UpdateRequest, true);
  const [accept] = useWrite(AcceptRequest, true);
  const change = async (list: MayRow[], to: (r: MayRow) => Change) => {
    const { done, refused } = await each<Outcome>(list, async (row) => {
      const c = to(row);
      const was = Object.fromEntries(Object.keys(c).map((k) => [k, (row as Record<string, unknown>)[k] ?? null])) as Change;
      const o = await update({ input: { id: row.id, ifMatch: row.etag, ...c } });
      return o.data ? { row, etag: o.data.updateRequest.request.etag, was } : sentence(o.fault ?? { code: '', message: t('It was refused.'), details: [] });
    });
    const undo = () => {
      void each(done.map((d) => ({ ...d.row, etag: d.etag })), async (row) => {
        const back = done.find((d) => d.row.id === row.id);
        const o = await update({ input: { id: row.id, ifMatch: row.etag, ...back?.was } });
        return o.fault ? sentence(o.fault) : true;
      }).then((o) => { toast({ text: o.refused.length > 0 ? plural(o.refused.length, '{n} change could not be undone.', '{n} changes could not be undone.') : t('Undone.'), bad: o.refused.length > 0 }); });
    };
    toast({ text: said(done.length, refused), bad: refused.length > 0, ...(done.some((d) => !('status' in d.was)) ? { undo } : {}) }); // a status has no way back
  };
  const take = async (list: MayRow[]) => {
    const { done, refused } = await each(list, async (r) => {
      const o = await accept({ input: { id: r.id } });
      return o.fault ? sentence(o.fault) : true;
    });
    toast({ text: said(done.length, refused), bad: refused.length > 0 });
  };
  return { change, take };
}

export type Asking = 'assignee' | 'team' | 'priority' | 'tag' | 'status' | '';

// Bar stands at the bottom while rows are selected, and says how many.
export function Bar({ list, ask, clear, take }: { list: MayRow[]; ask: (what: Asking) => void; clear: () => void; take: (list: MayRow[]) => void }) {
  const viewer = useViewer();
  const pending = list.filter((r) => r.status === 'PENDING' && can(viewer, 'request.accept', r));
  const changeable = list.some((r) => open(r) && can(viewer, 'request.update', r));
  return (
    <div className="bulk" role="toolbar" aria-label={t('Selected requests')}>
      <strong role="status">{plural(list.length, '{n} selected', '{n} selected')}</strong>
      {changeable && <button type="button" className="plain small" onClick={() => { ask('assignee'); }}>{t('Assign')}</button>}
      {changeable && <button type="button" className="plain small" onClick={() => { ask('team'); }}>{t('Team')}</button>}
      {changeable && <button type="button" className="plain small" onClick={() => { ask('priority'); }}>{t('Priority')}</button>}
      {changeable && <button type="button" className="plain small" onClick={() => { ask('tag'); }}>{t('Add tag')}</button>}
      {pending.length > 0 && <button type="button" className="small" onClick={() => { take(pending); }}>{t('Accept {n}', { n: pending.length })}</button>}
      <button type="button" className="quiet small" onClick={clear}>{t('Clear selection')}</button>
    </div>
  );
}

// open reports whether a request can still be changed.
export const open = (r: MayRow) => r.status === 'PENDING' || r.status === 'IN_PROGRESS';

// transitions are the ways from one status to another, and the right that each takes. Only staff open a request again by its status.
const transitions = [
  ['PENDING', 'IN_PROGRESS', 'request.accept'], ['IN_PROGRESS', 'COMPLETED', 'request.complete'], ['COMPLETED', 'IN_PROGRESS', 'request.accept'], ['PENDING', 'CANCELLED', 'request.cancel'], ['IN_PROGRESS', 'CANCELLED', 'request.cancel'],
] as const;

// movesOf are the statuses to which the person may bring a request.
export const movesOf = (v: Viewer, r: MayRow) => transitions.filter(([from, , verb]) => r.status === from && can(v, verb, r)).map(([, to]) => to);

const titles = { assignee: t('Assign'), team: t('Give to a team'), priority: t('Set the priority'), tag: t('Add a tag'), status: t('Set the status') };

// Ask asks for the value of one field, for one request or many. A cancellation has no way back: it asks once more.
export function Ask({ what, list, close, act }: { what: Exclude<Asking, ''>; list: MayRow[]; close: () => void; act: (of: MayRow[], to: (r: MayRow) => Change) => void }) {
  const viewer = useViewer();
  const people = usePersonChoices(what !== 'assignee');
  const teams = useTeamChoices(what !== 'team');
  const one = list.length === 1 ? list[0] : undefined;
  const [value, set] = useState(what === 'assignee' ? viewer.id : what === 'priority' ? one?.priority ?? 'MEDIUM' : what === 'status' ? one?.status ?? '' : '');
  const [key, setKey] = useState('');
  const [sure, setSure] = useState(false);
  const moves: [string, string][] = transitions.map(([, to]) => to).filter((to) => list.some((r) => movesOf(viewer, r).includes(to))).map((to) => [to, words(to)]);
  const options: [string, string][] = {
    assignee: [['', t('Nobody')], [viewer.id, t('{name} (you)', { name: viewer.name })], ...people.filter((u) => u.id !== viewer.id).map((u) => [u.id, u.name] as [string, string])] as [string, string][],
    team: [['', t('No team')], ...teams.map((team) => [team.id, team.name] as [string, string])] as [string, string][],
    priority: enums.RequestPriority.map((p) => [p, words(p)] as [string, string]),
    tag: [], status: [...new Map(moves)].map(([v, label]) => [v, label] as [string, string]),
  }[what];
  const chosen = what === 'status' && !options.some(([v]) => v === value) ? options[0]?.[0] ?? '' : value;
  const of = what === 'status' ? list.filter((r) => movesOf(viewer, r).some((to) => to === chosen)) : list;
  const send = () => {
    act(of, (r) => ({
      assignee: { assigneeId: chosen || null }, team: { teamId: chosen || null }, priority: { priority: chosen as RequestPriority },
      tag: { tags: { ...(r.tags as Record<string, string>), [key.trim()]: value } }, status: { status: chosen as 'COMPLETED' },
    })[what]);
    close();
  };
  if (sure) {
    return (
      <Confirm title={of.length === 1 ? t('Cancel “{title}”?', { title: of[0]?.title ?? '' }) : plural(of.length, 'Cancel {n} request?', 'Cancel {n} requests?')} verb={plural(of.length, 'Cancel request', 'Cancel {n} requests')} keep={plural(of.length, 'Keep it', 'Keep them')} close={close} act={send}>
        <p>{plural(of.length, 'This is final: what its workflow still waits for ends with it.', 'This is final: what their workflows still wait for ends with them.')}</p>
        {of.length < list.length && <p className="soft">{t('You may cancel {n} of the {total}; the others stay as they are.', { n: of.length, total: list.length })}</p>}
      </Confirm>
    );
  }
  return (
    <Dialog title={one ? t('{what}: “{title}”', { what: titles[what], title: one.title }) : plural(list.length, '{what}: {n} request', '{what}: {n} requests', { what: titles[what] })} close={close}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); if (chosen === 'CANCELLED') setSure(true); else send(); }}>
        {what === 'tag' ? (
          <div className="pair">
            <Field label={t('Tag')}><input required maxLength={64} value={key} placeholder={'env'} onChange={(e) => { setKey(e.target.value); }} /></Field>
            <Field label={t('Value')}><input maxLength={256} value={value} placeholder={'production'} onChange={(e) => { set(e.target.value); }} /></Field>
          </div>
        ) : (
          <Field label={{ assignee: t('Assignee'), team: t('Team'), priority: t('Priority'), status: t('Status') }[what]}>
            <select value={chosen} onChange={(e) => { set(e.target.value); }}>{options.map(([v, label]) => <option key={v} value={v}>{label}</option>)}</select>
          </Field>
        )}
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={what === 'tag' ? !key.trim() : what === 'status' && options.length === 0}>{t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}
