// escalation reads and writes the escalations of an offering, and says what of one is missing before the server is asked.
import type { Fault } from '../../app/fault';
import { t } from '../../app/text';
import type { EscalationAction, SlaClock, SlaEscalationInput } from '../../gen/types';

// Escalation is one as it is being written. afterMinutes is null, and teamId '', for none yet.
export interface Escalation { afterMinutes: number | null; of: SlaClock; do: EscalationAction; teamId: string }

export const place = 'sla.escalations'; // where faults of them are said
export const blank: Escalation = { afterMinutes: null, of: 'resolution', do: 'notify', teamId: '' };

type Read = readonly { afterMinutes: number; of: SlaClock; do: EscalationAction; teamId?: string | null }[];

export const written = (read: Read | null | undefined): Escalation[] => (read ?? []).map((e) => ({ afterMinutes: e.afterMinutes, of: e.of, do: e.do, teamId: e.teamId ?? '' }));

export const sent = (all: Escalation[]): SlaEscalationInput[] => all.map((e) => ({ afterMinutes: e.afterMinutes ?? 0, of: e.of, do: e.do, teamId: e.teamId || null }));

// lacking is what the rows still need, at its place; null for nothing. The server says the rest, as that one is there twice.
export function lacking(all: Escalation[]): Fault | null {
  const details = all.flatMap((e, i) => [
    ...(e.afterMinutes === null ? [{ field: `${place}[${i}].afterMinutes`, message: t('Say after how long.') }] : []),
    ...(e.do === 'reassign' && e.teamId === '' ? [{ field: `${place}[${i}].teamId`, message: t('Choose the team that gets it.') }] : []),
  ]);
  return details.length > 0 ? { code: 'validation_error', message: '', details } : null;
}
