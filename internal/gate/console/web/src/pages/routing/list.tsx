import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { placed, t } from '../../app/text';
import { CreateRule, DeleteRule, Rules, UpdateRule } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { RequestPriority, RoutingAssignment, RuleFragment } from '../../gen/types';
import { Choices, useTeamChoices } from '../../parts/choices';
import { Condition } from '../../parts/condition';
import { useConditionWords } from '../../parts/conditionsaid';
import { Badge, words } from '../../ui/bits';
import { Confirm, Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

type Team = { id: string; name: string };
const whom: Record<RoutingAssignment, string> = { none: t('Nobody: they wait in the inbox'), leastLoaded: t('Person with the fewest open requests'), roundRobin: t('Everybody in turn') };

// RuleList says to whom requests go when they are filed: the first rule that holds counts.
export default function RuleList() {
  const read = usePages(Rules, { first: 50 });
  const [creates, updates, removes] = [useCan('routingrule.create'), useCan('routingrule.update'), useCan('routingrule.delete')];
  const [gone, setGone] = useAsked<RuleFragment | null>('gone', null);
  const [update] = useWrite(UpdateRule);
  const [remove] = useWrite(DeleteRule);
  const toggle = async (r: RuleFragment) => {
    const o = await update({ input: { id: r.id, ifMatch: r.etag, enabled: !r.enabled } });
    if (!o.data) return;
    const { etag } = o.data.updateRoutingRule.routingRule;
    toast({ text: r.enabled ? t('The rule no longer applies.') : t('The rule applies again.'), undo: () => { void update({ input: { id: r.id, ifMatch: etag, enabled: r.enabled } }); } });
  };
  const list = rows(read.data?.routingRules).toSorted((a, b) => a.position - b.position);
  const [edit, setEdit] = useOpened(list);
  const teams = useTeamChoices();
  const said = useConditionWords('ROUTING');
  return (
    <Page title={t('Routing rules')} verb="routingrule.read" intro={t('Who gets new requests. The first matching rule applies.')} actions={creates && <button type="button" onClick={() => { setEdit('new'); }}>{t('New routing rule')}</button>}>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={t('There are no routing rules')}><p>{t('Without a rule, requests wait in the inbox until somebody accepts them.')}</p></Empty> : (
          <><ol className="rows" aria-label={t('Routing rules')}>
            {list.map((r) => (
              <li key={r.id} className="row">
                <div>
                  <span className="line"><span className="soft">{r.position}.</span><Name row={r} may={updates} />{!r.enabled && <Badge value="disabled">{t('Off')}</Badge>}</span>
                  <div className="meta"><span>{placed(t('where {condition}'), { condition: said(r.when) ?? <code>{r.when}</code> })}</span>{r.teamId && <span>{t('to {team}', { team: teams.find((x) => x.id === r.teamId)?.name ?? r.teamId })}</span>}{r.assignTo !== 'none' && <span>{whom[r.assignTo]}</span>}{r.priority && <span>{t('Priority {priority}', { priority: words(r.priority) })}</span>}</div>
                </div>
                <div className="verbs">
                  {updates && <button type="button" className="plain small" aria-label={r.enabled ? t('Disable {name}', { name: r.name }) : t('Enable {name}', { name: r.name })} onClick={() => { void toggle(r); }}>{r.enabled ? t('Disable') : t('Enable')}</button>}
                  {updates && <button type="button" className="plain small" aria-label={t('Edit {name}', { name: r.name })} onClick={() => { setEdit(r); }}>{t('Edit')}</button>}
                  {removes && <button type="button" className="danger-plain small" aria-label={t('Delete {name}', { name: r.name })} onClick={() => { setGone(r); }}>{t('Delete')}</button>}
                </div>
              </li>
            ))}
          </ol>
          <More shown={list.length} total={read.data?.routingRules?.totalCount} page={read.data?.routingRules?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
      {edit && <Editor rule={edit === 'new' ? null : edit} teams={teams} close={() => { setEdit(null); }} saved={read.again} />}
      {gone && <Confirm title={t('Delete “{name}”?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id, ifMatch: gone.etag } }); if (!o.fault) toast({ text: t('The rule was deleted.') }); setGone(null); read.again(); }}><p>{t('Requests that it has routed stay where they are.')}</p></Confirm>}
    </Page>
  );
}

function Editor({ rule: r, teams, close, saved }: { rule: RuleFragment | null; teams: Team[]; close: () => void; saved: () => void }) {
  const [draft, set, forget, base] = useDraft(`rule ${r?.id ?? 'new'}`, { name: r?.name ?? '', when: r?.when ?? '', teamId: r?.teamId ?? '', assignTo: r?.assignTo ?? 'none', priority: r?.priority ?? '', position: r ? String(r.position) : '', enabled: r?.enabled ?? true }, r?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, making] = useWrite(CreateRule, true);
  const [update, saving] = useWrite(UpdateRule, true);
  const send = async () => {
    if (!draft.teamId && !draft.priority) { setFault({ code: 'validation_error', message: '', details: [{ field: 'teamId', message: t('Choose a team, a priority or both: the rule would do nothing.') }] }); return; }
    const fields = { name: draft.name, when: draft.when, teamId: draft.teamId || null, assignTo: draft.assignTo as RoutingAssignment, priority: (draft.priority || null) as RequestPriority | null, enabled: draft.enabled, ...(draft.position ? { position: Number(draft.position) } : {}) };
    const o = r ? await update({ input: { id: r.id, ...base.match, ...fields } }) : await create({ input: fields });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    saved();
    toast({ text: r ? t('The rule was saved and applies from now on.') : t('The rule was created and applies from now on.') });
  };
  return (
    <Dialog title={r ? t('Routing rule “{name}”', { name: r.name }) : t('New routing rule')} close={close} wide>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Condition scope="ROUTING" label={t('When')} value={draft.when} problem={faultAt(fault, 'when')} onChange={(when) => { set({ ...draft, when }); }} />
        <h3>{t('Then')}</h3>
        <div className="pair">
          <Field label={t('Team')} fault={faultAt(fault, 'teamId')}><select value={draft.teamId} onChange={(e) => { set({ ...draft, teamId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={teams} now={draft.teamId} /></select></Field>
          <Field label={t('Assign to')} fault={faultAt(fault, 'assignTo')}><select value={draft.assignTo} disabled={draft.teamId === '' && draft.assignTo === 'none'} onChange={(e) => { set({ ...draft, assignTo: e.target.value as RoutingAssignment }); }}>{Object.entries(whom).map(([v, says]) => <option key={v} value={v}>{says}</option>)}</select></Field>
        </div>
        <div className="pair">
          <Field label={t('Set priority to')} fault={faultAt(fault, 'priority')}><select value={draft.priority} onChange={(e) => { set({ ...draft, priority: e.target.value as RequestPriority }); }}><option value="">{t('Unchanged')}</option>{enums.RequestPriority.map((p) => <option key={p} value={p}>{words(p)}</option>)}</select></Field>
          <Field label={t('Position')} optional hint={t('Leave empty to put the rule last.')} fault={faultAt(fault, 'position')}><input type="number" min={1} value={draft.position} onChange={(e) => { set({ ...draft, position: e.target.value }); }} /></Field>
        </div>
        <Check label={t('Enabled')} checked={draft.enabled} set={(enabled) => { set({ ...draft, enabled }); }} />
        <Rest base={base} fault={fault} fields={['name', 'when', 'teamId', 'assignTo', 'priority', 'position']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{r ? t('Save') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
