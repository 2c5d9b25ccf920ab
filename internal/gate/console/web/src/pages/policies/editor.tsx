import { useState } from 'react';
import { useClient, type CombinedError } from 'urql';
import { rows, useWrite } from '../../app/data';
import { differing } from '../../app/digits';
import { faultOf, type Fault } from '../../app/fault';
import { t } from '../../app/text';
import { CreatePolicy, Policies, ReplayPolicies, UpdatePolicy } from '../../gen/documents';
import type { AccessEffect, PoliciesQuery, PolicyRowFragment, ReplayPoliciesQuery } from '../../gen/types';
import { ruled } from '../../parts/resources';
import { Badge, words } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Check, Field, Rest, below, faultAt, faultBelow } from '../../ui/field';
import { toast } from '../../ui/toast';
import { conditionOf, linesOf, objectOf, operators, textOf, type Line } from './condition';

export const actions = ['read', 'create', 'update', 'delete', '*'];
const effects: Record<AccessEffect, string> = { Allow: t('Grants access, unless another policy denies it.'), Deny: t('Deny takes precedence over Allow.'), RequireApproval: t('AI agents wait until a person approves. People do not have to wait.') };

// Editor writes a policy, by a builder or as JSON, and tries it on past decisions before it counts.
export function Editor({ policy: p, close }: { policy: PolicyRowFragment | null; close: () => void }) {
  const written = linesOf((p?.condition ?? {}) as Record<string, unknown>);
  const [draft, set, forget, base] = useDraft(`policy ${p?.id ?? 'new'}`, {
    name: p?.name ?? '', description: p?.description ?? '', enabled: p?.enabled ?? true, effect: p?.effect ?? 'Allow', action: p?.action ?? 'read', resource: p?.resource ?? 'Request', // not said
    text: textOf(p?.condition ?? {}), lines: written ?? [], json: written === null,
  }, p?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [tried, setTried] = useState<{ of: string; came: NonNullable<ReplayPoliciesQuery['replayAccessPolicies']> } | null>(null);
  const [trying, setTrying] = useState(false);
  const [create, making] = useWrite(CreatePolicy, true);
  const [update, saving] = useWrite(UpdatePolicy, true);
  const client = useClient();
  const { lines } = draft;
  const setLines = (l: Line[]) => { set({ ...draft, lines: l }); };
  const change = (i: number, to: Partial<Line>) => { setLines(lines.map((x, j) => (j === i ? { ...x, ...to } : x))); };
  const twice = (i: number) => lines.slice(0, i).some((l) => l.path.trim() !== '' && l.path.trim() === lines[i]?.path.trim());
  const condition = draft.json ? objectOf(draft.text) : lines.some((_l, i) => twice(i)) ? null : conditionOf(lines);
  const built = draft.json && condition ? linesOf(condition) : null;
  const input = { name: draft.name, description: draft.description || null, enabled: draft.enabled, effect: draft.effect as AccessEffect, action: draft.action, resource: draft.resource, condition: condition ?? {} };
  const send = async () => {
    if (!condition) return;
    const { condition: _same, ...others } = input;
    const untouched = draft.json ? draft.text === textOf(p?.condition ?? {}) : JSON.stringify(lines) === JSON.stringify(written);
    const changed = p ? differing(untouched ? others : input, p) : {};
    const o = !p ? await create({ input }) : Object.keys(changed).length > 0 ? await update({ input: { id: p.id, ...base.match, ...changed } }) : null;
    setFault(o?.fault ?? null);
    if (o?.fault) return;
    forget();
    close();
    toast({ text: p ? t('The policy was saved and applies from now on.') : t('The policy was created and applies from now on.') });
  };
  const asked = JSON.stringify([draft.enabled, draft.effect, draft.action, draft.resource, condition]);
  const came = tried?.of === asked ? tried.came : null; // what came of another draft says nothing of this one
  // replay asks what would have become of past decisions. Without one of the other policies the answer would be wrong: there is none then.
  const replay = async (): Promise<Fault | null> => {
    const others = new Map<string, PolicyRowFragment>(); // a page read later comes with those ahead of it
    for (let after: string | null | undefined = null; after !== undefined;) {
      const page: { data?: PoliciesQuery | undefined; error?: CombinedError | undefined } = await client.query(Policies, { first: 100, ...(after ? { after } : {}) }, { requestPolicy: 'network-only' }).toPromise();
      if (page.error) return faultOf(page.error);
      for (const x of rows(page.data?.accessPolicies)) if (x.enabled && x.id !== p?.id) others.set(x.id, x);
      const info = page.data?.accessPolicies?.pageInfo;
      after = info?.hasNextPage ? info.endCursor ?? undefined : undefined;
    }
    const policies = [...others.values(), ...(draft.enabled ? [input] : [])].map(({ effect, action, resource, condition: c }) => ({ effect, action, resource, condition: c as unknown }));
    const o = await client.query(ReplayPolicies, { policies, last: 500 }, { requestPolicy: 'network-only' }).toPromise();
    const answer = o.data?.replayAccessPolicies;
    setTried(answer && !o.error ? { of: asked, came: answer } : null);
    const said = faultOf(o.error);
    return said && { ...said, details: said.details.map((d) => ({ ...d, field: d.field.replace(/^policies\[\d+\]\./, '') })) }; // of this one: the others are kept as they are
  };
  const tryOut = async () => {
    if (trying) return;
    setTrying(true);
    setFault(await replay());
    setTrying(false);
  };
  // loose is what is said of the condition and of no path in it.
  const loose = below(fault, 'condition').filter((f) => !lines.some((l) => l.path.trim() && below(fault, `condition.${l.path.trim()}`).includes(f)));
  const loses = came?.changed.filter((c) => c.before && !c.after).length ?? 0;
  return (
    <Dialog title={p ? t('Policy “{name}”', { name: p.name }) : t('New access policy')} close={close} side>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Description')} optional><input dir="auto" value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} /></Field>
        <div className="pair">
          <Field label={t('Effect')} hint={effects[draft.effect]} fault={faultAt(fault, 'effect')}><select value={draft.effect} onChange={(e) => { set({ ...draft, effect: e.target.value as AccessEffect }); }}>{Object.keys(effects).map((x) => <option key={x} value={x}>{words(x)}</option>)}</select></Field>
          <Field label={t('Action')} fault={faultAt(fault, 'action')}><select value={draft.action} onChange={(e) => { set({ ...draft, action: e.target.value }); }}>{actions.map((a) => <option key={a} value={a}>{a === '*' ? t('any (*)') : a}</option>)}</select></Field>
          <Field label={t('Resource')} fault={faultAt(fault, 'resource')}><select value={draft.resource} onChange={(e) => { set({ ...draft, resource: e.target.value }); }}>{['*', ...ruled].map((r) => <option key={r} value={r}>{r === '*' ? t('any (*)') : r}</option>)}</select></Field>
        </div>
        <div className="tabs" role="group" aria-label={t('How the condition is written')}>
          <button type="button" aria-pressed={!draft.json} disabled={draft.json && !built} onClick={() => { if (built) set({ ...draft, json: false, lines: built }); }}>{t('Builder')}</button>
          <button type="button" aria-pressed={draft.json} disabled={!draft.json && !condition} onClick={() => { if (!draft.json) set({ ...draft, json: true, text: textOf(condition) }); }}>{t('JSON')}</button>
        </div>
        {draft.json ? (
          <Field label={t('Condition')} hint={t('Paths such as resource.tags.env, principal.teamIds, context.ip. All entries must apply.')} fault={condition ? faultBelow(fault, 'condition') : t('This is not a JSON object.')}>
            <textarea className="mono" rows={8} spellCheck={false} value={draft.text} onChange={(e) => { set({ ...draft, text: e.target.value }); }} />
          </Field>
        ) : (
          <fieldset>
            <legend>{t('Condition')}</legend>
            <div className="stack">
              {lines.map((l, i) => (
                <div key={i} className="pair">
                  <Field label={t('Path {n}', { n: i + 1 })} fault={twice(i) ? t('This path is already used above. Use JSON for two conditions on one path.') : l.path.trim() ? faultBelow(fault, `condition.${l.path.trim()}`) : undefined}><input className="mono" value={l.path} placeholder={'resource.tags.env'} onChange={(e) => { change(i, { path: e.target.value }); }} /></Field>
                  <Field label={t('Operator {n}', { n: i + 1 })}><select value={l.op} onChange={(e) => { change(i, { op: e.target.value }); }}>{operators.map((o) => <option key={o}>{o}</option>)}</select></Field>
                  <Field label={t('Value {n}', { n: i + 1 })}><input value={l.value} onChange={(e) => { change(i, { value: e.target.value }); }} /></Field>
                  <button type="button" className="quiet small" onClick={() => { setLines(lines.filter((_x, j) => j !== i)); }}>{t('Remove condition {n}', { n: i + 1 })}</button>
                </div>
              ))}
              <button type="button" className="plain" disabled={lines.some((l) => !l.path.trim())} onClick={() => { setLines([...lines, { path: '', op: 'eq', value: '' }]); }}>{t('Add condition')}</button>
              {lines.length === 0 && <p className="soft">{t('Without a condition, the policy always applies.')}</p>}
              {loose.length > 0 && <p className="fault" role="alert">{faultAt(fault, ...loose)}</p>}
            </div>
          </fieldset>
        )}
        <Check label={t('Enabled')} checked={draft.enabled} set={(enabled) => { set({ ...draft, enabled }); }} />
        <Rest base={base} fault={fault} fields={['name', 'effect', 'action', 'resource', ...below(fault, 'condition')]} />
        <div role="status">{(trying || came) && <p className="notice">{trying ? t('Trying…') : came && t('Of the last {examined} decisions, {changed} would change: {refused} would be denied, {allowed} allowed. The log contains every denial and a sample of what was allowed: {sample} of these.', { examined: came.examined, changed: came.changed.length, refused: loses, allowed: came.changed.length - loses, sample: came.allowed })}</p>}</div>
        {came && came.changed.length > 0 && <ul className="stack-tight">{came.changed.slice(0, 20).map((c) => <li key={c.decisionId}><Badge value={c.after ? 'allowed' : 'denied'} /> {c.decision.principalName}: {c.decision.action} {c.decision.resourceType} {c.decision.resourceId && <code>{c.decision.resourceId}</code>}</li>)}{came.changed.length > 20 && <li className="soft">{t('and {n} more', { n: came.changed.length - 20 })}</li>}</ul>}
        <footer>
          <button type="button" className="plain" disabled={!condition} aria-disabled={trying} onClick={() => { void tryOut(); }}>{t('Try on past decisions')}</button>
          <span className="grow" />
          <button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving || !condition}>{p ? t('Save') : t('Create')}</button>
        </footer>
      </form>
    </Dialog>
  );
}
