import { describe, expect, it } from 'vitest';
import { changeSaid, placeSaid, withGone, type Change } from '../pages/workflows/builder/changewords';

const after = {
  phases: [
    { id: 'start', type: 'START' }, { id: 'work', type: 'PROCESS', name: 'Ask the price' }, { id: 'dear', type: 'DECISION', name: 'Dear?' }, { id: 'lead', type: 'APPROVAL', name: 'The lead' },
    { id: 'order', type: 'API_CALL', name: 'Order' }, { id: 'both', type: 'PARALLEL', name: 'Both', end: 'join' }, { id: 'done', type: 'END' },
  ],
};
const names = new Map([['usr_1', 'Ana'], ['team_1', 'Leads'], ['cal_1', 'Office hours'], ['wf_1', 'Buy']]);
const said = (path: string, from: unknown, to: unknown, before: unknown = after) => { const s = changeSaid({ path: `definition.${path}`, from, to }, { before, after, names }); return `${s.phase} | ${s.label || s.path} | ${s.from} | ${s.to}`; };
const field = (more: object) => ({ key: 'price', label: 'Price', type: 'number', ...more });

describe('the place of a problem', () => {
  const phase = (type: string) => ({ id: 'p', type });
  it.each([
    ['DECISION', 'config.rules[1].transition', 'Rules 2 › Name'], ['APPROVAL', 'config.approvers', 'Approvers'], ['APPROVAL', 'config.approvers[0].answer', 'Approvers 1 › Person in the answer'],
    ['TIMER', 'config.duration', 'How long'], ['PROCESS', 'config.form.fields[2].label', 'Form of the task 3 › Label'], ['PROCESS', 'config.later', ''], ['PROCESS', '', ''],
  ])('of a %s at %s is said by its label', (type, path, says) => { expect(placeSaid(phase(type), path)).toBe(says); });
});

describe('a difference of two definitions', () => {
  it.each([
    ['phases[work].name', 'Old', 'Ask the price', 'Ask the price | Name | Old | Ask the price'],
    ['phases[work].config.title', null, 'Buy', 'Ask the price | Title of the task |  | Buy'],
    ['phases[work].config.dueMinutes', 90, 2880, 'Ask the price | Due within | 90 minutes | 2 days'],
    ['phases[lead].config.deadline', '3d', null, 'The lead | Deadline | 3 days | '],
    ['phases[lead].config.mode', 'any', 'all', 'The lead | Approved when | The first decision counts | Everybody must approve'],
    ['phases[lead].config.approvers', [{ type: 'user', id: 'usr_1' }], [{ type: 'user', id: 'usr_1' }, { type: 'team', id: 'team_1' }, { type: 'user', id: 'usr_9' }], 'The lead | Approvers |  | Leads, Unknown person'],
    ['phases[work].participants', null, [{ role: 'responsible', type: 'team', id: 'team_1' }], 'Ask the price | Who takes part |  | Responsible: Leads'],
    ['phases[work].sla.calendarId', 'cal_1', 'cal_9', 'Ask the price | Calendar | Office hours | Unknown calendar'],
    ['phases[done].requestAction', 'complete', 'cancel', 'Done | What happens to the request | Complete it | Cancel it'],
    ['phases[dear].config.rules', [{ when: 'a > 1', transition: 'x' }, { when: 'b', transition: 'y' }], [{ when: 'a > 2', transition: 'x' }, { when: 'b', transition: 'y' }], 'Dear? | Rules | x: a > 1 | x: a > 2'],
    ['phases[dear].config.rules', [{ when: 'a', transition: 'x' }, { when: 'b', transition: 'y' }], [{ when: 'b', transition: 'y' }, { when: 'a', transition: 'x' }], 'Dear? | Rules | x: a; y: b | y: b; x: a'],
    ['phases[order].config.headers.authorization', null, 'Bearer ${secrets.SHOP}', 'Order | Headers › authorization |  | Bearer ${secrets.SHOP}'],
    ['phases[work].config.form.fields', [field({})], [field({ required: true }), { key: 'why', label: 'Why', type: 'text' }], 'Ask the price | Form of the task | Price (Required: None) | Price (Required: Yes), Why'],
    ['phases[both].branches', [{ name: 'A', start: 'x' }], [{ name: 'A', start: 'x' }, { name: 'B', start: 'y' }], 'Both | Branches |  | B'],
    ['phases[new]', null, { id: 'new', type: 'APPROVAL', name: 'The board', config: { approvers: [{ type: 'user', id: 'usr_1' }], deadline: '2d' } }, 'The board | Phase |  | Approval · Ana · 2 days'],
    ['phases[new]', null, { id: 'new', type: 'DECISION', name: 'Dear?', config: { rules: [{ when: 'a > 1', transition: 'yes' }] } }, 'Dear? | Phase |  | Decision · yes: a > 1'],
    ['phases[work].participants', null, [{ role: 'responsible', type: 'requester' }, { role: 'informed', type: 'answer', answer: 'line_manager' }], 'Ask the price | Who takes part |  | Responsible: The requester, Informed: Person in the answer “Line manager”'],
    ['transitions[lead.expired]', 'order', 'done', 'The lead | “Expired” leads to | Order | Done'],
  ])('is said in the words of the forms: %s', (path, from, to, words) => { expect(said(path, from, to)).toBe(words); });
  it('says conditions in words where they have some', () => {
    const rules = [{ when: 'phases.work.price > 500', transition: 'dear' }, { when: 'later()', transition: 'late' }];
    const words = { before: after, after, names, said: (cel: string) => (cel.includes('price') ? 'Price is more than 500' : null) };
    expect(changeSaid({ path: 'definition.phases[dear].config.rules', from: [], to: rules }, words).to).toBe('dear: Price is more than 500; late: later()');
  });
  it('names a phase that is gone', () => {
    const gone: Change = { path: 'definition.phases[old]', from: { id: 'old', type: 'TIMER', name: 'A week' }, to: null };
    expect(said('transitions[start.next]', 'old', 'work', withGone(after, [gone]))).toBe('Start | “Done” leads to | A week | Ask the price');
    expect(said('transitions[old.next]', 'work', null, withGone(after, [gone]))).toBe('A week | “Done” leads to | Ask the price | ');
  });
  it('has its path where no form shows it, and is short', () => {
    expect(said('phases[work].config.later', 1, { a: 2 })).toBe('Ask the price | config.later | 1 | {"a":2}');
    expect(said('later', null, true)).toBe(' | later |  | true');
    expect(said('phases[work].config.instructions', null, 'x'.repeat(500)).length).toBeLessThan(200);
  });
});
