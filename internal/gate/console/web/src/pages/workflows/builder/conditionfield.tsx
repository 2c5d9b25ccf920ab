// conditionfield is a condition of a phase, in rows of what is known there.
import { useMemo } from 'react';
import { Condition } from '../../../parts/condition';
import { usePhase } from './context';
import { object, objects } from './shape';

interface Props { scope: 'DECISION' | 'DATA'; value: string; onChange: (to: string) => void; label: string; problem?: string | undefined }

export function ConditionField(props: Props) {
  const { definition, id, readOnly, workflow } = usePhase();
  // What the phase itself says makes nothing known to it: without it, the fields are not read anew while it is written.
  const others = JSON.stringify({ transitions: object(definition)['transitions'], phases: objects(object(definition)['phases']).map((p) => (p['id'] === id ? { id, type: p['type'] } : p)) });
  const around = useMemo<unknown>(() => JSON.parse(others), [others]);
  return <Condition {...props} id={workflow || undefined} phaseId={id} definition={around} readOnly={readOnly} />;
}
