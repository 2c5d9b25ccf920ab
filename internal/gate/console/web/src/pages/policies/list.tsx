import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import { faultOf, type Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { placed, t } from '../../app/text';
import { DecisionOne, Decisions, DeletePolicy, Explain, Policies, UpdatePolicy } from '../../gen/documents';
import type { ExplainQuery, PolicyRowFragment } from '../../gen/types';
import { useAccountChoices, usePersonChoices } from '../../parts/choices';
import { ruled } from '../../parts/resources';
import { Badge, Time } from '../../ui/bits';
import { Confirm } from '../../ui/dialog';
import { Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';
import { actions, Editor } from './editor';

// PolicyList is the rules about who may do what to which rows, why, and what came of them.
export default function PolicyList() {
  const read = usePages(Policies, { first: 100 });
  const viewer = useViewer();
  const [edit, setEdit] = useOpened(rows(read.data?.accessPolicies));
  const [gone, setGone] = useAsked<PolicyRowFragment | null>('gone', null);
  const [remove] = useWrite(DeletePolicy);
  const [update] = useWrite(UpdatePolicy);
  const toggle = async (p: PolicyRowFragment) => {
    const o = await update({ input: { id: p.id, enabled: !p.enabled, ifMatch: p.etag } });
    if (!o.data) return;
    const { etag } = o.data.updateAccessPolicy.accessPolicy;
    toast({ text: p.enabled ? t('The policy no longer applies.') : t('The policy applies again.'), undo: () => { void update({ input: { id: p.id, enabled: p.enabled, ifMatch: etag } }); } });
  };
  const [updates, removes] = [can(viewer, 'accesspolicy.update'), can(viewer, 'accesspolicy.delete')];
  return (
    <Page title={t('Access policies')} verb="accesspolicy.read" intro={t('Who can do what with which records. Deny takes precedence over Allow; what no policy allows is denied.')} actions={can(viewer, 'accesspolicy.create') && <button type="button" onClick={() => { setEdit('new'); }}>{t('New access policy')}</button>}>
      <Loaded read={read}>
        {({ accessPolicies }) => (rows(accessPolicies).length === 0 ? <Empty title={t('There are no policies')}><p>{t('Without policies, only owners have access.')}</p></Empty> : (
          <><ul className="rows">
            {rows(accessPolicies).map((p) => (
              <li key={p.id} className="row">
                <div>
                  <span className="line"><Badge value={p.effect} /><Name row={p} may={updates} />{!p.enabled && <Badge value="disabled">{t('Off')}</Badge>}</span>
                  <div className="meta"><span>{placed(t('{action} on {resource}'), { action: <code>{p.action}</code>, resource: <code>{p.resource}</code> })}</span>{Object.keys((p.condition ?? {}) as object).length > 0 ? <span>{placed(t('where {condition}'), { condition: <code>{JSON.stringify(p.condition)}</code> })}</span> : <span>{t('always')}</span>}<Time at={p.updatedAt} /></div>
                </div>
                <div className="verbs">
                  {updates && <button type="button" className="plain small" aria-label={p.enabled ? t('Disable {name}', { name: p.name }) : t('Enable {name}', { name: p.name })} onClick={() => { void toggle(p); }}>{p.enabled ? t('Disable') : t('Enable')}</button>}
                  {updates && <button type="button" className="plain small" aria-label={t('Edit {name}', { name: p.name })} onClick={() => { setEdit(p); }}>{t('Edit')}</button>}
                  {removes && <button type="button" className="danger-plain small" aria-label={t('Delete {name}', { name: p.name })} onClick={() => { setGone(p); }}>{t('Delete')}</button>}
                </div>
              </li>
            ))}
          </ul>
          {accessPolicies?.pageInfo.hasNextPage && <More shown={rows(accessPolicies).length} total={accessPolicies.totalCount} page={accessPolicies.pageInfo} next={read.next} />}</>
        ))}
      </Loaded>
      <WhyMay />
      <Recent />
      {edit && <Editor policy={edit === 'new' ? null : edit} close={() => { setEdit(null); }} />}
      {gone && <Confirm title={t('Delete “{name}”?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id, ifMatch: gone.etag } }); if (!o.fault) toast({ text: t('The policy was deleted.') }); setGone(null); }}><p>{t('It stops applying immediately.')}</p></Confirm>}
    </Page>
  );
}

// WhyMay explains what policies say of a question, first of all of the decision that the address names.
function WhyMay() {
  const { decision } = useSearch({ strict: false }) as { decision?: string };
  const node = useRead(DecisionOne, { id: decision ?? '' }, !decision).data?.node;
  const named = node && 'principalId' in node ? node : null;
  const about = named ? { principalId: named.principalId, action: named.action, resourceType: named.resourceType, resourceId: named.resourceId ?? '' } : null;
  return (
    <>
      {named && <p className="notice"><Badge value={named.allowed ? 'allowed' : 'denied'} /> {named.principalName}: {named.action} {named.resourceType}. <DecidedBy by={named.decidedBy} /> <Time at={named.createdAt} /> {t('What the policies say now is shown below.')}</p>}
      <Ask key={about ? decision : ''} about={about} />
    </>
  );
}

const kinds: Record<string, string> = {
  scope: t('Scope'), method: t('Credential'), role: t('Role'), policy: t('Policy'), approval: t('Approval'), operator: t('platform|Operator'), operation: t('Operation'), status: t('Status'),
};

function DecidedBy({ by }: { by: { kind: string; id?: string | null; name?: string | null } }) {
  const name = by.name ? `“${by.name}”` : by.id;
  return <>{name ? t('Decided by: {what} {name}.', { what: kinds[by.kind] ?? by.kind, name }) : t('Decided by default: no policy allows it.')}</>;
}

interface Question { principalId: string; action: string; resourceType: string; resourceId: string }

function Ask({ about }: { about: Question | null }) {
  const [people, accounts] = [usePersonChoices(false, {}), useAccountChoices()];
  const client = useClient();
  const [ask, set] = useState<Question>(about ?? { principalId: '', action: 'read', resourceType: 'Request', resourceId: '' }); // not said
  const [answered, setAnswered] = useState<{ of: Question; answer: ExplainQuery['explainAccess'] } | null>(null);
  const answer = answered?.of === ask ? answered.answer : null; // an answer to another question is none
  const [fault, setFault] = useState<Fault | null>(null);
  const latest = useRef(ask);
  latest.current = ask;
  const send = async () => {
    const o = await client.query(Explain, { ...ask, resourceId: ask.resourceId.trim() || null }, { requestPolicy: 'network-only' }).toPromise();
    if (latest.current !== ask) return;
    setFault(faultOf(o.error));
    setAnswered({ of: ask, answer: o.data?.explainAccess ?? null });
  };
  const asked = useRef(false);
  useEffect(() => {
    if (!about || asked.current) return;
    asked.current = true;
    void send();
  });
  return (
    <Section title={t('Check access')}>
      <form className="card stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <div className="pair">
          <Field label={t('Person')} fault={faultAt(fault, 'principalId')}>
            <select value={ask.principalId} onChange={(e) => { set({ ...ask, principalId: e.target.value }); }}>
              <option value="">{t('Choose…')}</option>
              {people.map((u) => <option key={u.id} value={u.id}>{u.name} ({u.email})</option>)}
              {accounts.map((a) => <option key={a.id} value={a.id}>{t('{name} (service account)', { name: a.name })}</option>)}
            </select>
          </Field>
          <Field label={t('Action')} fault={faultAt(fault, 'action')}><select value={ask.action} onChange={(e) => { set({ ...ask, action: e.target.value }); }}>{actions.filter((a) => a !== '*').map((a) => <option key={a}>{a}</option>)}</select></Field>
          <Field label={t('Resource')} fault={faultAt(fault, 'resourceType')}><select value={ask.resourceType} onChange={(e) => { set({ ...ask, resourceType: e.target.value }); }}>{ruled.map((r) => <option key={r}>{r}</option>)}</select></Field>
          <Field label={t('ID')} fault={faultAt(fault, 'resourceId')}><input className="mono" value={ask.resourceId} placeholder={'req_…'} onChange={(e) => { set({ ...ask, resourceId: e.target.value }); }} /></Field>
        </div>
        <Rest fault={fault} fields={['principalId', 'action', 'resourceType', 'resourceId']} />
        <div role="status">
          {answer && (
            <div className="stack-tight">
              <span className="line"><Badge value={answer.allowed ? 'allowed' : 'denied'}>{answer.allowed ? t('Allowed') : t('Not allowed')}</Badge> <DecidedBy by={answer.decidedBy} /></span>
              {answer.unmet.length > 0 && <ul className="changes">{answer.unmet.map((u, i) => <li key={i}>{placed(u.have === null || u.have === undefined ? t('{path} is missing, required: {wanted}') : t('{path} is {have}, required: {wanted}'), { path: <code>{u.path}</code>, have: <code>{JSON.stringify(u.have)}</code>, wanted: <>{u.op} <code>{JSON.stringify(u.want)}</code></> })}</li>)}</ul>}
            </div>
          )}
        </div>
        <footer><button type="submit" disabled={!ask.principalId}>{t('Explain')}</button></footer>
      </form>
    </Section>
  );
}

function Recent() {
  const { outcome = 'denied' } = useSearch({ strict: false }) as { outcome?: 'denied' | 'allowed' };
  const navigate = useNavigate();
  const setOutcome = (to: string) => { void navigate({ to: '/app/policies', search: { outcome: to } as never, replace: true, resetScroll: false }); };
  const read = usePages(Decisions, { first: 50, filter: { outcome: [outcome] } });
  return (
    <Section title={t('Recent decisions')} actions={<>
      <button type="button" className="plain small" aria-pressed={outcome === 'denied'} onClick={() => { setOutcome('denied'); }}>{t('Denied')}</button>
      <button type="button" className="plain small" aria-pressed={outcome === 'allowed'} onClick={() => { setOutcome('allowed'); }}>{t('Allowed')}</button>
    </>}>
      <Loaded read={read} skeleton={3}>
        {({ accessDecisions }) => (rows(accessDecisions).length === 0 ? <Empty title={outcome === 'denied' ? t('Nothing was denied') : t('Nothing was allowed')} /> : (
          <><div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">{t('Who')}</th><th scope="col">{t('Action')}</th><th scope="col">{t('Record')}</th><th scope="col">{t('Decided by')}</th><th scope="col">{t('When')}</th></tr></thead>
              <tbody>{rows(accessDecisions).map((d) => <tr key={d.id}><td>{d.principalName}<span className="sub"><code>{d.id}</code></span></td><td>{d.action} {d.resourceType}</td><td>{d.resourceId && <code>{d.resourceId}</code>}</td><td>{kinds[d.decidedBy.kind] ?? d.decidedBy.kind} {d.decidedBy.name ?? ''}</td><td className="tight"><Time at={d.createdAt} /></td></tr>)}</tbody>
            </table>
          </div>
          <More shown={rows(accessDecisions).length} total={accessDecisions?.totalCount} page={accessDecisions?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
    </Section>
  );
}
