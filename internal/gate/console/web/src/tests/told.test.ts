import { describe, expect, it } from 'vitest';
import { cause, told } from '../pages/requests/one/told';

describe('what the log says of a request', () => {
  it('is told in words and names', () => {
    const named = new Map<unknown, string>([['usr_1', 'Ana']]);
    const changes = { priority: { from: 'MEDIUM', to: 'HIGH' }, assigneeId: { from: null, to: 'usr_1' }, waiting: { from: false, to: true }, tags: { from: {}, to: { env: 'prod', hot: '' } }, proposalId: { to: 'prp_1' }, updatedAt: { from: 1, to: 2 } };
    expect(told(changes, named)).toEqual([
      { name: 'Priority:', from: 'Medium', to: 'High' }, { name: 'Assignee:', from: null, to: 'Ana' }, { name: 'Waiting:', from: 'No', to: 'Yes' }, { name: 'Tags:', from: '', to: 'env=prod, hot' },
    ]);
    expect(cause(changes)).toBe('as an AI agent proposed');
    expect(['mail', 'mcp', 'new'].map((to) => cause({ via: { to } }))).toEqual(['by mail', 'through an MCP client', 'through new']);
    expect(cause({ title: { from: 'a', to: 'b' } })).toBe('');
  });
});
