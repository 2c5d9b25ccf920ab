import { describe, expect, it } from 'vitest';
import { ratable } from '../pages/requests/search';

describe('a request asks its requester for a rating', () => {
  const now = Date.parse('2026-03-08T12:00:00Z');
  const done = { status: 'COMPLETED', completedAt: '2026-03-01T12:00:01Z', offering: { askSatisfaction: true } };
  it('for a week after it was completed', () => {
    expect(ratable(done, now)).toBe(true);
    expect(ratable(done, now + 1000)).toBe(false);
  });
  it('not before, nor once it was reopened', () => { for (const status of ['PENDING', 'IN_PROGRESS', 'CANCELLED']) expect(ratable({ ...done, status }, now)).toBe(false); });
  it('not where its offering asks nobody', () => { expect(ratable({ ...done, offering: { askSatisfaction: false } }, now)).toBe(false); });
});
