// incident is what keeps an execution from going on, as a row, with the ways to resolve it.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useWrite } from '../app/data';
import { parse } from '../app/digits';
import type { Fault } from '../app/fault';
import { useCan } from '../app/session';
import { t } from '../app/text';
import { ResolveIncident } from '../gen/documents';
import type { IncidentRowFragment } from '../gen/types';
import { Badge, phaseName, Time, words } from '../ui/bits';
import { Confirm } from '../ui/dialog';
import { Field, Rest, faultAt } from '../ui/field';
import { toast } from '../ui/toast';

interface Props { incident: IncidentRowFragment; linked?: boolean; move?: () => void; done?: () => void }

export function IncidentRow({ incident: i, linked, move, done }: Props) {
  const phase = phaseName(i.execution, i.phaseId);
  const may = useCan('incident.resolve');
  const [how, ask] = useState<'RETRY' | 'SKIP' | ''>('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [left, setLeft] = useState('');
  const [error, setError] = useState('');
  const [resolve] = useWrite(ResolveIncident, true);
  const of = i.execution?.request?.title ?? i.execution?.workflow?.name;
  const named = linked && of ? `${phase}, ${of}` : phase;
  const close = () => { ask(''); setFault(null); setLeft(''); setError(''); };
  const act = async () => {
    if (!how) return;
    let variables: Record<string, unknown> | undefined;
    try {
      if (left.trim()) variables = { [i.phaseId]: parse(left) };
      setError('');
    } catch (e) {
      setError((e as Error).message);
      return;
    }
    const o = await resolve({ input: { id: i.id, action: how, ...(variables ? { variables: variables as never } : {}) } });
    setFault(o.fault);
    if (o.fault) return;
    toast({ text: how === 'RETRY' ? t('The phase runs again.') : t('The phase was skipped.') });
    close();
    done?.();
  };
  return (
    <li className="row">
      <div>
        {linked ? <Link to="/app/executions/$id" params={{ id: i.executionId }} className="name" dir="auto">{of ?? i.executionId}</Link> : <strong>{phase}</strong>}{linked ? null : `: ${i.message}`}
        <div className="meta">
          <Badge value={i.status === 'OPEN' ? 'FAILED' : 'COMPLETED'}>{i.status === 'OPEN' ? t('Waits for somebody') : words(i.resolution ?? 'RESOLVED')}</Badge>
          {linked && <span>{phase}: {i.message}</span>}<code>{i.code}</code>{i.toVersion && <span>{t('to version {version}', { version: String(i.toVersion) })}</span>}<Time at={i.resolvedAt ?? i.createdAt} />
        </div>
      </div>
      {may && i.status === 'OPEN' && (
        <div className="verbs">
          <button type="button" className="small" aria-label={t('Retry {name}', { name: named })} onClick={() => { ask('RETRY'); }}>{t('Retry')}</button>
          <button type="button" className="plain small" aria-label={t('Skip {name}', { name: named })} onClick={() => { ask('SKIP'); }}>{t('Skip')}</button>
          {move && <button type="button" className="plain small" aria-label={t('Move from {name}', { name: named })} onClick={move}>{t('Move')}</button>}
        </div>
      )}
      {how && (
        <Confirm title={how === 'RETRY' ? t('Retry “{name}”?', { name: phase }) : t('Skip “{name}”?', { name: phase })} verb={how === 'RETRY' ? t('Retry') : t('Skip')} close={close} act={act}>
          <p>{how === 'RETRY' ? t('The phase runs again from its beginning.') : t('The phase is skipped. The phases after it get the variables that you give here, or none.')}</p>
          <Field label={t('Variables of the phase')} hint={how === 'RETRY' ? t('Optional, as JSON. Its expressions read them; for the START of an inbound webhook: title, priority and fields of the request.') : t('Optional, as JSON: what the phase should have left behind.')} fault={error || faultAt(fault, 'variables')}>
            <textarea className="mono" rows={4} spellCheck={false} value={left} placeholder="{ }" onChange={(e) => { setLeft(e.target.value); }} />
          </Field>
          <Rest fault={fault} fields={['variables']} />
        </Confirm>
      )}
    </li>
  );
}
