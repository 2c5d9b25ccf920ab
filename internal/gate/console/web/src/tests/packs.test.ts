import { describe, expect, it } from 'vitest';
import type { Fault } from '../app/fault';
import { textOf } from '../pages/services/packtext';
import { documentFaults, grouped, madeSaid, opens, placeOf, standsSaid, type Item } from '../pages/services/packwords';

const item = (kind: string, key: string, id: string | null = null): Item => ({ kind, key, name: key.toUpperCase(), action: id ? 'keep' : 'make', id });
const pack = [item('Workflow', 'order'), item('Team', 'desk', 'team_1'), item('Offering', 'laptop'), item('Service', 'it'), item('Offering', 'phone')];

describe('what a pack makes', () => {
  it('is said in plain words, services first', () => {
    expect(madeSaid(pack)).toBe('1 service, 2 offerings, 1 workflow, 1 team');
    expect(madeSaid(['RoutingRule', 'SavedReply', 'SavedReply', 'AccessPolicy', 'Schedule', 'Calendar'].map((kind, i) => item(kind, `${i}`)))).toBe('1 calendar, 1 routing rule, 2 saved replies, 1 schedule, 1 access policy');
    expect(madeSaid([item('Mailbox', 'in')])).toBe('1 Mailbox');
  });
  it('stands by kind, in the order of the file', () => {
    expect(grouped(pack).map((g) => `${g.many}: ${g.items.map((i) => i.key).join()}`)).toEqual(['Services: it', 'Offerings: laptop,phone', 'Workflows: order', 'Teams: desk']);
  });
  it('says what is there already', () => {
    expect(standsSaid(pack)).toBe('1 of them exists already and stays as it is.');
    expect(standsSaid([...pack, item('Team', 'board', 'team_2')])).toBe('2 of them exist already and stay as they are.');
    expect(standsSaid(pack.filter((i) => i.id === null))).toBe('');
    expect(standsSaid(pack.filter((i) => i.id !== null))).toBe('Everything in this pack is there.');
  });
  it('is found where it is, once it is there', () => {
    expect(pack.map(placeOf)).toEqual([null, { to: '/app/people' }, null, null, null]);
    expect([item('Offering', 'a', 'off_1'), item('Schedule', 'a', 'sch_1'), item('AccessPolicy', 'a', 'pol_1'), item('InboundWebhook', 'a', 'whi_1'), item('SavedReply', 'a', 'rep_1'), item('Mailbox', 'a', 'mbx_1')].map(placeOf))
      .toEqual([{ to: '/app/catalogue/off_1' }, { to: '/app/schedules/sch_1' }, { to: '/app/policies', search: { open: 'pol_1' } }, { to: '/app/inbound-webhooks/whi_1' }, null, null]);
    expect(opens(pack)).toBeNull();
    expect(opens([...pack, item('Workflow', 'w', 'wf_1')])).toEqual({ name: 'W', to: '/app/workflows/wf_1' });
    expect(opens([item('Workflow', 'w', 'wf_1'), item('Service', 's', 'svc_1')])).toEqual({ name: 'S', to: '/app/services/svc_1' });
  });
});

describe('what is wrong with a pack', () => {
  const fault = (...details: [string, string][]): Fault => ({ code: 'validation_error', message: 'Invalid.', details: details.map(([field, message]) => ({ field, message })) });
  it('is said by its documents', () => {
    expect(documentFaults(fault(
      ['Workflow/order: definition.phases[2].config.title', 'is required (line 12).'], ['Offering/laptop: workflowId', 'is in neither the file nor the company (line 40).'],
      ['Workflow/order: name', 'is required (line 9).'], ['Document 3', 'must be an object with kind, key and spec (line 50).'], ['Team/desk', 'is there twice (line 60).'],
    ))).toEqual({ rest: null, all: [
      { document: 'Workflow/order', says: ['definition.phases[2].config.title: is required (line 12).', 'name: is required (line 9).'] },
      { document: 'Offering/laptop', says: ['workflowId: is in neither the file nor the company (line 40).'] },
      { document: 'Document 3', says: ['must be an object with kind, key and spec (line 50).'] }, { document: 'Team/desk', says: ['is there twice (line 60).'] },
    ] });
  });
  it('is said as it is where it is of no document', () => {
    const broken = fault(['source', 'is not valid YAML in line 3']);
    expect(documentFaults(broken)).toEqual({ all: [], rest: broken });
    expect(documentFaults({ ...broken, code: 'forbidden', details: [] }).rest).toEqual({ ...broken, code: 'forbidden', details: [] });
    expect(documentFaults(fault(['source', 'is not valid YAML'], ['Team/desk: name', 'is required.'])).rest?.details).toEqual([{ field: 'source', message: 'is not valid YAML' }]);
    expect(documentFaults(null)).toEqual({ all: [], rest: null });
  });
});

describe('a file', () => {
  it('is read as UTF-8', async () => {
    expect(await textOf(new File(['kind: Pack\nkey: büro\n'], 'a.yaml'))).toEqual({ source: 'kind: Pack\nkey: büro\n' });
    expect(await textOf(new File([new Uint8Array([0x6b, 0xfc])], 'a.yaml'))).toEqual({ says: 'This is not a YAML file in UTF-8.' });
  });
  it('has at most 256 KiB', async () => {
    expect(await textOf(new File([new Uint8Array(262_144).fill(32)], 'a.yaml'))).toHaveProperty('source');
    expect(await textOf(new File([new Uint8Array(262_145).fill(32)], 'a.yaml'))).toHaveProperty('says', expect.stringContaining('The file is too large'));
  });
});
