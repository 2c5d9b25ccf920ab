import { describe, expect, it } from 'vitest';
import { blank, lacking, sent, written, type Escalation } from '../pages/services/escalation';

const two: Escalation[] = [{ ...blank, afterMinutes: 120, of: 'response' }, { afterMinutes: 2880, of: 'resolution', do: 'reassign', teamId: 'team_1' }];

describe('the escalations of an offering', () => {
  it('are sent as they are read', () => {
    const read = [{ afterMinutes: 120, of: 'response', do: 'notify', teamId: null }, { afterMinutes: 2880, of: 'resolution', do: 'reassign', teamId: 'team_1' }] as const;
    expect(written(read)).toEqual(two);
    expect(sent(two)).toEqual(read);
    expect([written(null), sent([])]).toEqual([[], []]);
  });
  it('say at their row what they lack', () => {
    expect(lacking(two)).toBeNull();
    expect(lacking([...two, blank, { ...blank, afterMinutes: 5, do: 'reassign' }])?.details.map((d) => d.field)).toEqual(['sla.escalations[2].afterMinutes', 'sla.escalations[3].teamId']);
  });
});
