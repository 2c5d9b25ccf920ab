import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import { faultOf, type Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
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
    toast({ text: p.enabled ? 'The policy does not count any more.' : 'The policy counts again.', undo: () => { void update({ input: { id: p.id, enabled: p.enabled, ifMatch: etag } }); } });
  };
  const [updates, removes] = [can(viewer, 'accesspolicy.update'), can(viewer, 'accesspolicy.delete')];
  return (
    <Page title="Access policies" verb="accesspolicy.read" intro="Who may do what to which rows. Deny beats Allow; what nothing allows is refused." actions={can(viewer, 'accesspolicy.create') && <button type="button" onClick={() => { setEdit('new'); }}>New access policy</button>}>
      <Loaded read={read}>
        {({ accessPolicies }) => (rows(accessPolicies).length === 0 ? <Empty title="There are no policies"><p>Nobody but owners may do anything now.</p></Empty> : (
          <><ul className="rows">
            {rows(accessPolicies).map((p) => (
              <li key={p.id} className="row">
                <div>
                  <span className="line"><Badge value={p.effect} /><Name row={p} may={updates} />{!p.enabled && <Badge value="disabled">Off</Badge>}</span>
                  <div className="meta"><span><code>{p.action}</code> on <code>{p.resource}</code></span>{Object.keys((p.condition ?? {}) as object).length > 0 ? <span>where <code>{JSON.stringify(p.condition)}</code></span> : <span>always</span>}<Time at={p.updatedAt} /></div>
                </div>
                <div className="verbs">
                  {updates && <button type="button" className="plain small" onClick={() => { void toggle(p); }}>{p.enabled ? 'Switch off' : 'Switch on'}<span className="hidden"> {p.name}</span></button>}
                  {updates && <button type="button" className="plain small" onClick={() => { setEdit(p); }}>Edit<span className="hidden"> {p.name}</span></button>}
                  {removes && <button type="button" className="danger-plain small" onClick={() => { setGone(p); }}>Delete<span className="hidden"> {p.name}</span></button>}
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
      {gone && <Confirm title={`Delete “${gone.name}”?`} verb="Delete" close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id, ifMatch: gone.etag } }); if (!o.fault) toast({ text: 'The policy is gone.' }); setGone(null); }}><p>It stops counting at once.</p></Confirm>}
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
      {named && <p className="notice"><Badge value={named.allowed ? 'allowed' : 'denied'} /> {named.principalName}: {named.action} {named.resourceType}, <DecidedBy by={named.decidedBy} /> <Time at={named.createdAt} />. What policies say of it now stands below.</p>}
      <Ask key={about ? decision : ''} about={about} />
    </>
  );
}

function DecidedBy({ by }: { by: { kind: string; id?: string | null; name?: string | null } }) {
  return <>decided by {by.kind} {by.name ? `“${by.name}”` : by.id ?? 'the rule that what nothing allows is refused'}</>;
}

interface Question { principalId: string; action: string; resourceType: string; resourceId: string }

function Ask({ about }: { about: Question | null }) {
  const [people, accounts] = [usePersonChoices(false, {}), useAccountChoices()];
  const client = useClient();
  const [ask, set] = useState<Question>(about ?? { principalId: '', action: 'read', resourceType: 'Request', resourceId: '' });
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
    <Section title="Why may somebody do something?">
      <form className="card stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <div className="pair">
          <Field label="Person" fault={faultAt(fault, 'principalId')}>
            <select value={ask.principalId} onChange={(e) => { set({ ...ask, principalId: e.target.value }); }}>
              <option value="">Choose…</option>
              {people.map((u) => <option key={u.id} value={u.id}>{u.name} ({u.email})</option>)}
              {accounts.map((a) => <option key={a.id} value={a.id}>{a.name} (service account)</option>)}
            </select>
          </Field>
          <Field label="Action" fault={faultAt(fault, 'action')}><select value={ask.action} onChange={(e) => { set({ ...ask, action: e.target.value }); }}>{actions.filter((a) => a !== '*').map((a) => <option key={a}>{a}</option>)}</select></Field>
          <Field label="Resource" fault={faultAt(fault, 'resourceType')}><select value={ask.resourceType} onChange={(e) => { set({ ...ask, resourceType: e.target.value }); }}>{ruled.map((r) => <option key={r}>{r}</option>)}</select></Field>
          <Field label="Id" fault={faultAt(fault, 'resourceId')}><input className="mono" value={ask.resourceId} placeholder="req_…" onChange={(e) => { set({ ...ask, resourceId: e.target.value }); }} /></Field>
        </div>
        <Rest fault={fault} fields={['principalId', 'action', 'resourceType', 'resourceId']} />
        <div role="status">
          {answer && (
            <div className="stack-tight">
              <span className="line"><Badge value={answer.allowed ? 'allowed' : 'denied'}>{answer.allowed ? 'May' : 'May not'}</Badge> <DecidedBy by={answer.decidedBy} /></span>
              {answer.unmet.length > 0 && <ul className="changes">{answer.unmet.map((u, i) => <li key={i}><code>{u.path}</code> is {u.have === null || u.have === undefined ? 'missing' : <code>{JSON.stringify(u.have)}</code>}, wanted {u.op} <code>{JSON.stringify(u.want)}</code></li>)}</ul>}
            </div>
          )}
        </div>
        <footer><button type="submit" disabled={!ask.principalId}>Explain</button></footer>
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
    <Section title="What was decided" actions={<>
      <button type="button" className="plain small" aria-pressed={outcome === 'denied'} onClick={() => { setOutcome('denied'); }}>Refused</button>
      <button type="button" className="plain small" aria-pressed={outcome === 'allowed'} onClick={() => { setOutcome('allowed'); }}>Allowed</button>
    </>}>
      <Loaded read={read} skeleton={3}>
        {({ accessDecisions }) => (rows(accessDecisions).length === 0 ? <Empty title={outcome === 'denied' ? 'Nothing was refused' : 'Nothing was allowed'} /> : (
          <><div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">Who</th><th scope="col">Wanted to</th><th scope="col">Row</th><th scope="col">Decided by</th><th scope="col">When</th></tr></thead>
              <tbody>{rows(accessDecisions).map((d) => <tr key={d.id}><td>{d.principalName}<span className="sub"><code>{d.id}</code></span></td><td>{d.action} {d.resourceType}</td><td>{d.resourceId && <code>{d.resourceId}</code>}</td><td>{d.decidedBy.kind} {d.decidedBy.name ?? ''}</td><td className="tight"><Time at={d.createdAt} /></td></tr>)}</tbody>
            </table>
          </div>
          <More shown={rows(accessDecisions).length} total={accessDecisions?.totalCount} page={accessDecisions?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
    </Section>
  );
}
