// conditionfield is a condition of a phase, in rows of what is known there.
import { useCallback, useRef } from 'react';
import { Condition } from '../../../parts/condition';
import { useOthers, usePhase } from './context';

interface Props { scope: 'DECISION' | 'DATA'; value: string; onChange: (to: string) => void; label: string; problem?: string | undefined }

export function ConditionField({ onChange, ...props }: Props) {
  const { definition, id, readOnly, workflow } = usePhase();
  const around = useOthers(definition, id); // what the phase itself says makes nothing known to it
  const latest = useRef(onChange);
  latest.current = onChange;
  const change = useCallback((to: string) => { latest.current(to); }, []);
  return <Condition {...props} onChange={change} id={workflow || undefined} phaseId={id} definition={around} readOnly={readOnly} live />;
}
