import { describe, expect, it } from 'vitest';
import type { Definition } from '../pages/workflows/builder/definition';
import { answered, body, called, fitting, invalid, turnOf, waiting, type Ask, type Call, type Step } from '../pages/workflows/builder/try/answers';
import { takenBy } from '../pages/workflows/builder/try/kept';
import { answerSaid, asksSaid, calledSaid, callSaid, endSaid, leaves, passes, wentSaid, wrong } from '../pages/workflows/builder/try/words';

const d: Definition = {
  phases: [
    { id: 'start', type: 'START' }, { id: 'work', type: 'PROCESS', name: 'Work' }, { id: 'dear', type: 'DECISION', config: { rules: [{ when: 'request.fields.amount > 100', transition: 'board' }], default: 'cheap' } },
    { id: 'board', type: 'APPROVAL', name: 'Approve', config: { approvers: [] } }, { id: 'buy', type: 'API_CALL' }, { id: 'end', type: 'END', name: 'Done' },
  ],
  transitions: [
    { from: 'start', name: 'next', to: 'work' }, { from: 'work', name: 'next', to: 'dear' }, { from: 'work', name: 'Send back', to: 'end' }, { from: 'dear', name: 'board', to: 'board' }, { from: 'dear', name: 'cheap', to: 'end' },
    { from: 'board', name: 'approved', to: 'buy' }, { from: 'board', name: 'rejected', to: 'work' }, { from: 'buy', name: 'next', to: 'end' },
  ],
};
const at = '2026-12-01T10:00:00Z';
const ask = (of: Partial<Ask>): Ask => ({ kind: 'TASK', title: 'Work', dueAt: null, who: [{ type: 'user', id: 'usr_1', name: 'Ana' }], mode: null, quorum: null, sequential: false, outcomes: [], answer: null, source: null, ...of });
const call = (of: Partial<Call>): Call => ({ attempt: 1, sent: { method: 'POST', url: 'https://shop.example/' }, answer: null, source: null, ...of });
const step = (of: Partial<Step>): Step => ({ phaseId: 'work', branch: null, name: 'Work', type: 'PROCESS', status: 'COMPLETED', startedAt: at, finishedAt: at, transition: null, to: null, input: null, output: null, error: null, requestStatus: null, rules: [], told: [], asks: [], calls: [], ...of });

describe('the words of a step', () => {
  const rule = { when: 'request.fields.amount > 100', transition: 'board', holds: true, error: null };
  it('say where it goes on, and why', () => {
    expect(wentSaid(step({ phaseId: 'dear', type: 'DECISION', transition: 'board', to: 'board', rules: [rule] }), d)).toBe('Continues with “Approve” because this is true: request.fields.amount > 100');
    expect(wentSaid(step({ phaseId: 'dear', type: 'DECISION', transition: 'board', to: 'board', rules: [rule] }), d, () => 'Amount is more than 100')).toBe('Continues with “Approve” because this is true: Amount is more than 100');
    expect(wentSaid(step({ phaseId: 'dear', type: 'DECISION', transition: 'cheap', to: 'end', rules: [{ ...rule, holds: false }] }), d)).toBe('Continues with “Done” because none of the conditions is true.');
    expect(wentSaid(step({ transition: 'next', to: 'dear' }), d)).toBe('Continues with “Dear”.');
    expect(wentSaid(step({ transition: 'Send back', to: 'end' }), d)).toBe('Continues with “Done” by “Send back”.');
    expect(wentSaid(step({}), d)).toBe('');
  });
  it('say who is asked, for what and how long', () => {
    expect(asksSaid(ask({ dueAt: '2026-12-03T10:00:00Z' }), step({}))).toBe('Asks Ana to do “Work”. It is due after 2 days.');
    expect(asksSaid(ask({ who: [] }), step({}))).toBe('Asks everybody who works requests to do “Work”.');
    expect(asksSaid(ask({ who: [{ type: 'team', id: 'team_1', name: null }] }), step({}))).toBe('Asks a team to do “Work”.');
    expect(asksSaid(ask({ who: [{ type: 'serviceTeam', id: 'serviceTeam', name: null }, { type: 'answer', id: 'manager', name: null }] }), step({}))).toBe('Asks “The team of the service”, “Person in the answer “Manager”” to do “Work”.');
    const three = ['Ana', 'Bo', 'Cy'].map((name) => ({ type: 'user', id: name, name }));
    expect(asksSaid(ask({ kind: 'APPROVAL', title: 'Buy', who: three, mode: 'quorum', quorum: 2, sequential: true, dueAt: '2026-12-01T11:30:00Z' }), step({}))).toBe('Asks Ana, Bo, Cy for a decision: “Buy”. 2 of 3 must approve. They decide one after the other. The decision expires after 90 minutes.');
    expect(asksSaid(ask({ kind: 'APPROVAL', title: 'Buy', mode: 'any' }), step({}))).toBe('Asks Ana for a decision: “Buy”.');
    expect(asksSaid(ask({ kind: 'SIGN_OFF' }), step({}))).toBe('Asks Ana to sign off the outcome.');
  });
  it('say what was answered', () => {
    expect(answerSaid(ask({}))).toBe('');
    expect(answerSaid(ask({ answer: { outcome: 'Send back' }, source: 'LAST' }))).toBe('Answer: Send back. This was the answer last time.');
    expect(answerSaid(ask({ answer: {} }))).toBe('Answer: Done.');
    expect(answerSaid(ask({ kind: 'APPROVAL', answer: { decisions: { usr_1: 'APPROVE', usr_2: 'REJECT' } } }))).toBe('Answer: Approve, Reject.');
    expect(answerSaid(ask({ kind: 'SIGN_OFF', answer: { outcome: 'next', signOff: 'REJECT' } }))).toBe('Answer: Reject.');
  });
  it('say what is sent, and what comes of it', () => {
    expect([callSaid(call({})), callSaid(call({ attempt: 2 }))]).toEqual(['Would send POST https://shop.example/', 'Attempt 2: would send POST https://shop.example/']);
    expect([calledSaid(call({})), calledSaid(call({ answer: { status: 201 } })), calledSaid(call({ answer: { failure: 'no answer' } }))]).toEqual(['', 'Answer: 201.', 'It fails: no answer']);
  });
  it('say which workflow is started, and what comes of it', () => {
    const starts = call({ sent: { workflowId: 'wf_1', executionId: 'exe_1', input: { a: 1 } } });
    expect([callSaid(starts, new Map([['wf_1', 'Order a laptop']])), callSaid(starts)]).toEqual(['Would start the workflow “Order a laptop”.', 'Would start the workflow “Unknown workflow”.']);
    expect([{}, { answer: { phases: {} } }, { answer: { phases: {} }, source: 'LAST' as const }, { answer: { failure: 'no money' } }].map((of) => calledSaid({ ...starts, ...of }))).toEqual(['', 'It runs to its end.', 'It runs to its end. This was the answer last time.', 'It fails: no money']);
  });
  it('say what else happens', () => {
    expect(passes(step({ type: 'TIMER', finishedAt: '2026-12-02T10:00:00Z' }))[0]).toMatch(/^Waits for 24 hours, until .*2026.*\.$/);
    expect(passes(step({ type: 'DATA', output: { total: 5, net: 4 } }))).toEqual(['Sets total, net.']);
    const errors = [{ field: 'fields.cost', message: 'The cost is missing.' }];
    expect([passes(step({ type: 'DATA', input: { valid: false, errors } })), passes(step({ type: 'DATA', output: { valid: true, errors: [] } }))]).toEqual([['Invalid: The cost is missing.'], ['All values are valid.']]);
    expect(invalid(step({ type: 'DATA', input: { valid: false, errors } }))).toEqual([{ field: 'cost', message: 'The cost is missing.' }]);
    expect(leaves(step({ told: [{ type: 'user', id: 'usr_1', name: 'Ana' }], requestStatus: 'IN_PROGRESS' }))).toEqual(['Tells Ana.', 'The request is “In progress” then.']);
    expect(wrong(step({ error: { message: 'No.' }, rules: [{ ...rule, holds: null, error: 'no such key' }] }))).toEqual(['“request.fields.amount > 100” cannot be evaluated: no such key', 'No.']);
  });
  it('say how the trial ends', () => {
    const end = (of: object) => endSaid({ status: 'WAITING', stopped: null, error: null, ...of }, d);
    expect(end({ stopped: { phaseId: 'board', reason: 'ANSWER', message: '' } })).toBe('It stops at “Approve” until it has an answer.');
    expect(end({ stopped: { phaseId: 'buy', reason: 'INCIDENT', message: '' } })).toBe('Somebody would have to look at “Buy” before it continues.');
    expect(end({ stopped: { phaseId: 'buy', reason: 'LIMIT', message: 'A trial takes at most 1,000 phases.' } })).toBe('A trial takes at most 1,000 phases.');
    expect([end({ status: 'COMPLETED' }), end({ status: 'FAILED', error: { phaseId: 'work', message: '' } }), end({ status: 'CANCELLED' })]).toEqual(['It runs to its end.', 'It fails at “Work”.', 'It ends as “Cancelled”.']);
  });
});

describe('the answers of a trial', () => {
  const [first, second] = [step({ asks: [ask({ answer: { outcome: 'next' } }), ask({ kind: 'SIGN_OFF', answer: { outcome: 'next' } })] }), step({ asks: [ask({})] })];
  const board = step({ phaseId: 'board', type: 'APPROVAL', asks: [ask({ kind: 'APPROVAL', answer: { decision: 'REJECT' } })] });
  const steps = [step({ phaseId: 'start', type: 'START' }), first, board, second];
  it('are told apart by how often a phase asks', () => {
    expect([turnOf(steps, first, 0), turnOf(steps, first, 1), turnOf(steps, board, 0), turnOf(steps, second, 0)]).toEqual([0, 0, 0, 1]);
    expect(answered({}, steps, second, 0, { outcome: 'Send back' })).toEqual({ work: [{ outcome: 'next' }, { outcome: 'Send back' }] });
    expect(answered({ work: [{ outcome: 'next' }] }, steps, first, 1, { outcome: 'next', signOff: 'APPROVE' })).toEqual({ work: [{ outcome: 'next', signOff: 'APPROVE' }] });
  });
  it('lead another way when an earlier one is changed', () => {
    expect(answered({ work: [{ outcome: 'next' }, {}], board: [{ decision: 'REJECT' }] }, steps, first, 0, { outcome: 'Send back' })).toEqual({ work: [{ outcome: 'Send back' }], board: [{ decision: 'REJECT' }] });
    expect(called({ buy: { status: 200 } }, step({ phaseId: 'buy' }), { failure: 'no' })).toEqual({ buy: { failure: 'no' } });
  });
  it('go with the phases and ways out that they are about', () => {
    const given = { gone: [{ outcome: 'next' }], work: [{ outcome: 'next' }, { outcome: 'Gone' }, { outcome: 'next' }], board: [{ decision: 'EXPIRE' }], dear: [{}], buy: { status: 200 } };
    expect(fitting(given, d)).toEqual({ work: [{ outcome: 'next' }], buy: { status: 200 } });
    const calls = (wait: boolean) => ({ ...d, phases: [...d.phases, { id: 'part', type: 'CALL_WORKFLOW', config: { workflowId: 'wf_1', wait } }] });
    expect([true, false].map((wait) => fitting({ part: { phases: {} } }, calls(wait)))).toEqual([{ part: { phases: {} } }, {}]);
  });
  it('are JSON or a text where a server answers', () => {
    expect([body(' ', JSON.parse), body('{"id":1}', JSON.parse), body('ok', JSON.parse)]).toEqual([undefined, { id: 1 }, 'ok']);
  });
});

it('the path of a trial is that of an execution', () => {
  const { phases, ways } = takenBy({ status: 'WAITING', stopped: null, error: null, steps: [step({ transition: 'next', to: 'dear' }), step({ phaseId: 'dear', status: 'WAITING' })] });
  expect([...phases]).toEqual([['work', 'COMPLETED'], ['dear', 'WAITING']]);
  expect(ways.has('work next')).toBe(true);
});

describe('a trial in branches', () => {
  const open = (phaseId: string, branch: string, answer: unknown = null) => step({ phaseId, branch, finishedAt: answer ? at : null, status: answer ? 'COMPLETED' : 'WAITING', asks: [ask({ answer })] });
  const stopped = { phaseId: 'work', reason: 'ANSWER' as const, message: '' };
  it('waits in each for an answer, and asks the first of one phase first', () => {
    const steps = [step({ phaseId: 'start' }), open('work', '1', {}), open('work', '2'), open('work', '3'), open('board', 'Board')];
    expect(waiting({ stopped, steps }).map((s) => `${s.phaseId} ${s.branch}`)).toEqual(['work 2', 'board Board']);
    expect(endSaid({ stopped, status: 'WAITING', error: null, steps }, d)).toBe('It stops at “Work”, “Approve” until there are answers.');
    expect(waiting({ stopped: { ...stopped, reason: 'INCIDENT' }, steps: steps.slice(3) })).toHaveLength(2);
    expect(waiting({ stopped: null, steps })).toEqual([]);
  });
  it('waits in one where there are no branches', () => {
    expect(waiting({ stopped, steps: [step({ finishedAt: null }), step({ phaseId: 'work', finishedAt: null })] })).toHaveLength(1);
  });
  it('goes on from a block to its end', () => {
    expect(wentSaid(step({ phaseId: 'dear', type: 'PARALLEL', transition: 'end', to: 'end' }), d)).toBe('Continues with “Done”.');
  });
});
