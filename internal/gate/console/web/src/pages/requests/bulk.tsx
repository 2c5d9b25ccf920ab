// bulk changes requests, one or several at once, and offers to take that back.
import { useState } from 'react';
import { useClient } from 'urql';
import { tell } from '../../app/bus';
import { faultOf, sentence } from '../../app/fault';
import { can, useViewer, type Viewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { UpdateRequest } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { RequestPriority } from '../../gen/types';
import { usePersonChoices, useTeamChoices } from '../../parts/choices';
import { words } from '../../ui/bits';
import { Confirm, Dialog } from '../../ui/dialog';
import { Field } from '../../ui/field';
import { toast } from '../../ui/toast';
import { fieldOf, instantOf, tomorrow } from '../../ui/zone';
import { inBatches, inverse, type Change, type Outcome } from './batches';
import type { MayRow } from './search';

const said = (n: number, [why, ...others]: string[]) =>
  [(n > 0 || !why) && plural(n, '{n} request was changed.', '{n} requests were changed.'), why && t('{n} refused: {why}', { n: 1 + others.length, why })].filter(Boolean).join(' ');

// useBulk changes requests, and offers to take that back. Who wants to show what came of each row takes the outcomes where some were
// refused; a single one is said as `says`.
export function useBulk(refused?: (list: Outcome[]) => void) {
  const c = useClient();
  const send = async (list: MayRow[], to: (r: MayRow) => Change): Promise<Outcome[]> => {
    const [one] = list;
    if (list.length > 1 || !one) return inBatches(c, list, (r) => ({ change: to(r) }));
    const { data, error } = await c.mutation(UpdateRequest, { input: { id: one.id, ifMatch: one.etag, ...to(one) } }).toPromise();
    const fault = faultOf(error);
    if (fault?.code === 'precondition_failed') tell('outdated', null);
    return [fault || !data ? { row: one, fault: fault ?? { code: '', message: t('It was refused.'), details: [] } } : { row: one, now: data.updateRequest.request }];
  };
  const change = async (list: MayRow[], to: (r: MayRow) => Change, says?: string) => {
    const outcomes = await send(list, to);
    const done = outcomes.flatMap((o) => (o.now ? [{ row: o.row, now: o.now, back: inverse(o.row, to(o.row)) }] : []));
    const backs = done.filter((d) => d.back);
    const undo = async () => {
      const back = await send(backs.map((d) => ({ ...d.row, ...d.now })), (r) => backs.find((d) => d.row.id === r.id)?.back ?? {});
      const failed = back.filter((o) => o.fault).length;
      toast({ text: failed > 0 ? plural(failed, '{n} change could not be undone.', '{n} changes could not be undone.') : t('Undone.'), bad: failed > 0 });
    };
    const why = outcomes.flatMap((o) => (o.fault ? [sentence(o.fault)] : []));
    if (why.length > 0 && list.length > 1) refused?.(outcomes);
    toast({ text: list.length === 1 ? why[0] ?? says ?? said(1, []) : said(done.length, why), bad: why.length > 0, ...(backs.length > 0 ? { undo: () => { void undo(); } } : {}) });
  };
  return { change };
}

export type Asking = 'assignee' | 'team' | 'priority' | 'tag' | 'status' | 'snooze' | '';

// open reports whether a request can still be changed.
export const open = (r: MayRow) => r.status === 'PENDING' || r.status === 'IN_PROGRESS';

// transitions are the ways from one status to another, and the right that each takes. Only staff open a request again by its status.
const transitions = [
  ['PENDING', 'IN_PROGRESS', 'request.accept'], ['IN_PROGRESS', 'COMPLETED', 'request.complete'], ['COMPLETED', 'IN_PROGRESS', 'request.accept'], ['PENDING', 'CANCELLED', 'request.cancel'], ['IN_PROGRESS', 'CANCELLED', 'request.cancel'],
] as const;

// movesOf are the statuses to which the person may bring a request.
export const movesOf = (v: Viewer, r: MayRow) => transitions.filter(([from, , verb]) => r.status === from && can(v, verb, r)).map(([, to]) => to);

const titles = { assignee: t('Assign'), team: t('Assign to a team'), priority: t('Set the priority'), tag: t('Add a tag'), status: t('Set the status'), snooze: t('Snooze') };

// Ask asks for the value of one field, for one request or many. A cancellation has no way back: it asks once more.
export function Ask({ what, list, close, act }: { what: Exclude<Asking, ''>; list: MayRow[]; close: () => void; act: (of: MayRow[], to: (r: MayRow) => Change) => void }) {
  const viewer = useViewer();
  const people = usePersonChoices(what !== 'assignee');
  const teams = useTeamChoices(what !== 'team');
  const one = list.length === 1 ? list[0] : undefined;
  const [value, set] = useState(() => ({ assignee: viewer.id, priority: one?.priority ?? 'MEDIUM', status: one?.status ?? '', snooze: tomorrow(), team: '', tag: '' })[what] as string);
  const [key, setKey] = useState('');
  const [sure, setSure] = useState(false);
  const moves: [string, string][] = transitions.map(([, to]) => to).filter((to) => list.some((r) => movesOf(viewer, r).includes(to))).map((to) => [to, words(to)]);
  const options: [string, string][] = {
    assignee: [['', t('Nobody')], [viewer.id, t('{name} (you)', { name: viewer.name })], ...people.filter((u) => u.id !== viewer.id).map((u) => [u.id, u.name] as [string, string])] as [string, string][],
    team: [['', t('No team')], ...teams.map((team) => [team.id, team.name] as [string, string])] as [string, string][],
    priority: enums.RequestPriority.map((p) => [p, words(p)] as [string, string]),
    tag: [], snooze: [], status: [...new Map(moves)].map(([v, label]) => [v, label] as [string, string]),
  }[what];
  const chosen = what === 'status' && !options.some(([v]) => v === value) ? options[0]?.[0] ?? '' : value;
  const of = what === 'status' ? list.filter((r) => movesOf(viewer, r).some((to) => to === chosen)) : list;
  const send = () => {
    act(of, (r) => ({
      assignee: { assigneeId: chosen || null }, team: { teamId: chosen || null }, priority: { priority: chosen as RequestPriority },
      tag: { tags: { ...(r.tags as Record<string, string>), [key.trim()]: value } }, status: { status: chosen as 'COMPLETED' },
      snooze: { snoozedUntil: what === 'snooze' ? instantOf(value).toISOString() : null },
    })[what]);
    close();
  };
  if (sure) return <Cancel list={of} of={list.length} close={close} act={send} />;
  return (
    <Dialog title={one ? t('{what}: “{title}”', { what: titles[what], title: one.title }) : plural(list.length, '{what}: {n} request', '{what}: {n} requests', { what: titles[what] })} close={close}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); if (chosen === 'CANCELLED') setSure(true); else send(); }}>
        {what === 'tag' ? (
          <div className="pair">
            <Field label={t('Tag')}><input required maxLength={64} value={key} placeholder={'env'} onChange={(e) => { setKey(e.target.value); }} /></Field>
            <Field label={t('Value')}><input maxLength={256} value={value} placeholder={'production'} onChange={(e) => { set(e.target.value); }} /></Field>
          </div>
        ) : what === 'snooze' ? (
          <Field label={t('Until')} hint={t('The inbox does not show it until then.')}><input type="datetime-local" required min={fieldOf(new Date())} value={value} onChange={(e) => { set(e.target.value); }} /></Field>
        ) : (
          <Field label={{ assignee: t('Assignee'), team: t('Team'), priority: t('Priority'), status: t('Status') }[what]}>
            <select value={chosen} onChange={(e) => { set(e.target.value); }}>{options.map(([v, label]) => <option key={v} value={v}>{label}</option>)}</select>
          </Field>
        )}
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={what === 'tag' ? !key.trim() : what === 'status' && options.length === 0}>{what === 'snooze' ? t('Snooze') : t('Save')}</button></footer>
      </form>
    </Dialog>
  );
}

// Cancel asks before requests are cancelled; `of` is how many were meant.
export function Cancel({ list, of = list.length, close, act }: { list: MayRow[]; of?: number; close: () => void; act: () => void }) {
  return (
    <Confirm title={list.length === 1 ? t('Cancel “{title}”?', { title: list[0]?.title ?? '' }) : plural(list.length, 'Cancel {n} request?', 'Cancel {n} requests?')} verb={plural(list.length, 'Cancel request', 'Cancel {n} requests')} keep={plural(list.length, 'Keep it', 'Keep them')} close={close} act={act}>
      <p>{plural(list.length, 'This is final: what its workflow still waits for ends with it.', 'This is final: what their workflows still wait for ends with them.')}</p>
      {list.length < of && <p className="soft">{t('You may cancel {n} of the {total}; the others stay as they are.', { n: list.length, total: of })}</p>}
    </Confirm>
  );
}
