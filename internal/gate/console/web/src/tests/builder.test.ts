import { describe, expect, it } from 'vitest';
import { parse } from '../app/digits';
import { exits, nameTaken, outsOf, phaseOf, read, write, type Definition } from '../pages/workflows/builder/definition';
import { edit, type Command } from '../pages/workflows/builder/edit';
import { flat, ordered, outlined } from '../pages/workflows/builder/lanes';
import { copied, pasteable } from '../pages/workflows/builder/paste';
import { none, noted, stepped } from '../pages/workflows/builder/patch';
import { problemsOf } from '../pages/workflows/builder/problems';
import { renamedIn, wayRenamedIn } from '../pages/workflows/builder/refer';
import { addable, added, outcomeOf } from '../pages/workflows/builder/kinds';
import { object } from '../pages/workflows/builder/shape';
import { wantingIn, wants } from '../pages/workflows/builder/wants';

const of = (text: string): Definition => { const d = read(text); if (!d) throw new Error('no definition'); return d; };
const written = `{"phases":[{"id":"start","type":"START"},{"id":"call","type":"API_CALL","config":{"method":"POST","url":"https://a.example/","body":{"price":1.10,"serial":9007199254740993}}},
  {"id":"check","type":"DECISION","config":{"rules":[{"when":"phases.call.status == 200","transition":"dear"}],"default":"cheap"}},{"id":"lead","type":"APPROVAL","config":{"approvers":[],"mode":"any"}},
  {"id":"work","type":"PROCESS","config":{"title":"Order \${phases.call.status}"}},{"id":"done","type":"END","requestAction":"complete"}],
  "transitions":[{"from":"start","name":"next","to":"call"},{"from":"call","name":"next","to":"check"},{"from":"check","name":"dear","to":"lead"},{"from":"check","name":"cheap","to":"work"},
  {"from":"lead","name":"approved","to":"work"},{"from":"lead","name":"rejected","to":"done"},{"from":"work","name":"next","to":"done"}]}`;
const d = of(written);
const ways = (x: Definition) => x.transitions.map((w) => `${w.from} ${w.name} ${w.to}`).sort();

describe('a command', () => {
  const task = { id: 'task', type: 'PROCESS', name: 'Task' };
  it('adds a phase on a way', () => {
    const now = edit(d, { do: 'add', phase: task, at: { from: 'check', name: 'cheap' } });
    expect(ways(now)).toEqual(expect.arrayContaining(['check cheap task', 'task next work']));
    expect(ways(now)).toHaveLength(8);
  });
  it('adds an approval whose refusal ends', () => {
    const now = edit(d, { do: 'add', phase: { id: 'lead', type: 'APPROVAL', config: { approvers: [], mode: 'any' } }, at: { from: 'work', name: 'next' } });
    expect(ways(now)).toEqual(expect.arrayContaining(['work next lead_2', 'lead_2 approved done', 'lead_2 rejected done']));
  });
  it('adds an approval whose refusal cancels the request, by one end of all approvals', () => {
    const add = (to: Definition) => edit(to, added(to, 'APPROVAL', { from: 'work', name: 'next' }));
    const now = add(d);
    expect(ways(now)).toEqual(expect.arrayContaining(['work next approval', 'approval approved done', 'approval rejected end']));
    expect(phaseOf(now, 'end')).toEqual({ id: 'end', type: 'END', name: 'Rejected', requestAction: 'cancel' });
    const two = add(now);
    expect(ways(two)).toEqual(expect.arrayContaining(['approval_2 approved approval', 'approval_2 rejected end']));
    expect(two.phases.filter((p) => p.type === 'END').map((p) => p.id).sort()).toEqual(['done', 'end']);
    expect(outcomeOf(now, phaseOf(now, 'work') as Definition['phases'][number])?.to).toBe('done'); // what goes well does not end there
    const one = edit(two, { do: 'remove', id: 'approval' });
    expect(phaseOf(one, 'end')).toBeDefined(); // the other approval leads there
    const none = edit(one, { do: 'remove', id: 'approval_2' });
    expect([phaseOf(none, 'end'), ways(none)]).toEqual([undefined, ways(d)]);
  });
  it('removes a phase and closes the ways around it', () => {
    expect(ways(edit(d, { do: 'remove', id: 'lead' }))).toEqual(['call next check', 'check cheap work', 'check dear work', 'start next call', 'work next done']);
    expect(edit(d, { do: 'remove', id: 'start' })).toBe(d);
    expect(edit(d, { do: 'remove', id: 'done' })).toBe(d); // the last END
  });
  it('renames a phase wherever it is named', () => {
    const now = write(edit(d, { do: 'rename', id: 'call', to: 'shop' }));
    expect(now).not.toMatch(/"call"|phases\.call/);
    expect(now).toContain('${phases.shop.status}');
    expect(edit(d, { do: 'rename', id: 'call', to: 'work' })).toBe(d);
  });
  it('moves a phase along its line', () => {
    const now = edit(d, { do: 'move', id: 'call', by: 1 });
    expect(now).toBe(d); // behind it is a decision
    const two = edit(d, { do: 'add', phase: task, at: { from: 'work', name: 'next' } });
    const up = edit(two, { do: 'move', id: 'task', by: -1 });
    expect(ways(up)).toEqual(expect.arrayContaining(['check cheap task', 'lead approved task', 'task next work', 'work next done']));
    expect(write(edit(up, { do: 'move', id: 'task', by: 1 }))).toBe(write(two));
  });
  it('lets the ways out follow what a phase says', () => {
    const check = phaseOf(d, 'check') as Definition['phases'][number];
    const rules = (...names: string[]) => ({ ...check, config: { rules: names.map((transition) => ({ when: 'true', transition })), default: 'cheap' } });
    expect(ways(edit(d, { do: 'set', phase: rules('costly') }))).toContain('check costly lead'); // called otherwise
    expect(ways(edit(d, { do: 'set', phase: rules('dear', 'free') }))).toContain('check free work'); // one more
    expect(exits(edit(d, { do: 'set', phase: rules() }), 'check').map((w) => w.name)).toEqual(['cheap']);
  });
  it('leads an approval that expires where a refusal leads, also while somebody writes the deadline anew', () => {
    const lead = phaseOf(d, 'lead') as Definition['phases'][number];
    const until = (x: Definition, deadline?: string) => edit(x, { do: 'set', phase: { ...lead, config: { ...lead['config'] as object, ...(deadline === undefined ? {} : { deadline }) } } });
    const now = until(d, '3d');
    expect(ways(now)).toContain('lead expired done');
    const asked = edit(now, { do: 'connect', at: { from: 'lead', name: 'expired' }, to: 'check' }); // somebody leads it elsewhere
    const cleared = until(asked, '');
    expect(ways(cleared)).toContain('lead expired check');
    expect(wants(phaseOf(cleared, 'lead') as never).map((w) => w.path)).toEqual(['config.approvers', 'config.deadline']);
    expect(ways(until(cleared, '5d'))).toContain('lead expired check');
    expect(exits(until(asked), 'lead').map((w) => w.name)).toEqual(['approved', 'rejected']);
    const unknown = edit(edit(d, { do: 'disconnect', at: { from: 'lead', name: 'rejected' } }), { do: 'connect', at: { from: 'lead', name: 'approved' }, to: 'check' });
    expect(ways(until(unknown, '3d'))).toEqual(expect.arrayContaining(['lead approved check', 'lead expired done']));
  });
  it('leads what is not valid to an end, and nowhere where there is none', () => {
    const data = (onInvalid?: string) => ({ id: 'valid', type: 'DATA', config: { kind: 'validate', rules: [{ check: 'true' }], ...(onInvalid ? { onInvalid } : {}) } });
    const valid = edit(d, { do: 'add', phase: data(), at: { from: 'check', name: 'cheap' } });
    expect(ways(edit(valid, { do: 'set', phase: data('route') }))).toEqual(expect.arrayContaining(['valid next work', 'valid invalid done']));
    expect(ways(edit(d, { do: 'add', phase: data('route'), at: { from: 'check', name: 'cheap' } }))).toEqual(expect.arrayContaining(['valid next work', 'valid invalid done']));
    const endless = { phases: valid.phases.filter((p) => p.type !== 'END'), transitions: valid.transitions.filter((w) => w.to !== 'done') };
    const routed = edit(endless, { do: 'set', phase: data('route') });
    expect(ways(routed).filter((w) => w.startsWith('valid'))).toEqual(['valid next work']);
    expect(problemsOf(routed, []).map((f) => `${f.id}: ${f.message}`)).toContain('valid: The outcome “Invalid” leads nowhere yet.');
  });
  it('pastes an approval whose expiry leads where its refusal does', () => {
    const lead = phaseOf(d, 'lead') as Definition['phases'][number];
    const part = { phases: [{ ...lead, config: { approvers: [], mode: 'any', deadline: '3d' } }, { id: 'ask', type: 'PROCESS' }], transitions: [{ from: 'lead', name: 'rejected', to: 'ask' }] };
    expect(ways(edit(d, { do: 'paste', part, at: { from: 'work', name: 'next' } }))).toEqual(expect.arrayContaining(['lead_2 approved done', 'lead_2 rejected ask', 'lead_2 expired ask', 'ask next done']));
  });
  it('keeps the end of a way that a rule calls otherwise, and lets what asks for it follow', () => {
    const asks = edit(d, { do: 'add', phase: { id: 'later', type: 'DECISION', config: { rules: [{ when: 'phases.check.outcome == "dear"', transition: 'again' }], default: 'no' } }, at: { from: 'work', name: 'next' } });
    const check = phaseOf(asks, 'check') as Definition['phases'][number];
    const now = edit(asks, { do: 'set', phase: { ...check, config: { rules: [{ when: 'true', transition: 'costly' }], default: 'cheap' } } });
    expect(ways(now)).toContain('check costly lead');
    expect(object(phaseOf(now, 'later')?.['config'])['rules']).toEqual([{ when: 'phases.check.outcome == "costly"', transition: 'again' }]);
  });
  it.each([['dear', 'cheap', true], ['cheap', 'dear', true], ['dear', 'dearer', false], ['dear', 'dear', false], ['', 'dear', false]])('has its name refused where another way has it: %j to %j', (name, to, taken) => {
    expect(nameTaken(d, { from: 'check', name }, to)).toBe(taken);
  });
  it('calls a way out otherwise, with the rule that names it', () => {
    const now = edit(d, { do: 'call', at: { from: 'check', name: 'dear' }, name: 'over 500' });
    expect(outsOf(phaseOf(now, 'check') as never).names).toEqual(['cheap', 'over 500']);
    expect(ways(now)).toContain('check over 500 lead');
    expect(edit(d, { do: 'call', at: { from: 'lead', name: 'approved' }, name: 'yes' })).toBe(d); // an approval's own
  });
  it('calls a way out otherwise where conditions ask for it', () => {
    const asks = edit(d, { do: 'set', phase: { ...phaseOf(d, 'check'), id: 'check', type: 'DECISION', config: { rules: [{ when: `phases.lead.outcome == "approved" || phases['work'].outcome != 'next'`, transition: 'dear' }], default: 'cheap' } } });
    const now = edit(asks, { do: 'call', at: { from: 'work', name: 'next' }, name: "it's sent" });
    expect(phaseOf(now, 'check')?.['config']).toEqual({ rules: [{ when: `phases.lead.outcome == "approved" || phases['work'].outcome != 'it\\'s sent'`, transition: 'dear' }], default: 'cheap' });
    expect(phaseOf(edit(asks, { do: 'call', at: { from: 'check', name: 'dear' }, name: 'next' }), 'check')?.['config']).toEqual({ rules: [{ when: `phases.lead.outcome == "approved" || phases['work'].outcome != 'next'`, transition: 'next' }], default: 'cheap' });
  });
  it.each([
    ['when', 'phases.a.x + phases . a.y', 'phases.b.x + phases . b.y'], ['when', "phases['a'].x == 'phases.a'", "phases['b'].x == 'phases.a'"], ['when', 'phases.ab + my.phases.a', 'phases.ab + my.phases.a'], ['when', '"\\"phases.a" + phases.a', '"\\"phases.a" + phases.b'],
    ['when', '"a" in phases && "a" in phases.c.list && has(phases.a)', '"b" in phases && "a" in phases.c.list && has(phases.b)'],
    ['input', { name: '${phases.a.x}', set: 'phases.a', list: [{ id: '${phases.a.y}' }] }, { name: '${phases.b.x}', set: 'phases.a', list: [{ id: '${phases.b.y}' }] }],
    ['title', 'See phases.a: ${phases.a.x}', 'See phases.a: ${phases.b.x}'], ['instructions', 'Write ${phases.a.x}', 'Write ${phases.a.x}'],
  ])('renames a phase in expressions alone: %s %s', (key, was, to) => { expect(renamedIn({ config: { [key]: was } }, new Map([['a', 'b']]))).toEqual({ config: { [key]: to } }); });
  it.each([
    ['phases.a.outcome in ["no", "yes"]', 'phases.a.outcome in ["no", "over 5"]'], ["'yes' != phases.a.outcome", "'over 5' != phases.a.outcome"], ['!(has(phases.a) && phases["a"].outcome in ["yes"])', '!(has(phases.a) && phases["a"].outcome in ["over 5"])'],
    ['phases.b.outcome == "yes" || phases.a.note == "yes"', 'phases.b.outcome == "yes" || phases.a.note == "yes"'], ['"phases.a.outcome == \'yes\'"', '"phases.a.outcome == \'yes\'"'],
  ])('calls a way out otherwise wherever rows ask for it: %s', (was, to) => { expect(wayRenamedIn({ when: was }, 'a', 'yes', 'over 5')).toEqual({ when: to }); });
  it('pastes phases between workflows, with other ids where they are taken', () => {
    const part = pasteable(parse(write(copied(d, ['call', 'check', 'lead']))));
    const now = edit(d, { do: 'paste', part: part as Definition, at: { from: 'work', name: 'next' } });
    expect(ways(now)).toEqual(expect.arrayContaining(['work next call_2', 'call_2 next check_2', 'check_2 dear lead_2', 'check_2 cheap done', 'lead_2 approved done']));
    expect(write(now)).toContain('phases.call_2.status == 200');
    expect(pasteable(parse('{"phases":[{"id":"s","type":"START"}],"transitions":[]}'))).toBeNull();
    expect(pasteable('text')).toBeNull();
  });
});

// numbers are the same in each run.
function random(seed: number) {
  let s = seed;
  return (below: number) => { s = (Math.imul(s, 1664525) + 1013904223) >>> 0; return Math.floor((s / 2 ** 32) * below); };
}

function anyCommand(x: Definition, next: (below: number) => number): Command {
  const phase = x.phases[next(x.phases.length)] as Definition['phases'][number];
  const at = x.transitions[next(x.transitions.length)] ?? { from: 'start', name: 'next' };
  const types = ['PROCESS', 'DECISION', 'APPROVAL', 'TIMER', 'END'];
  const config = phase.type === 'DECISION' ? { rules: [{ when: 'true', transition: `way${next(3)}` }], default: 'cheap' } : { amount: parse('1.10') };
  const all: Command[] = [
    { do: 'add', phase: { id: `p${next(5)}`, type: types[next(5)] ?? 'END', config: { default: 'cheap', approvers: [] } }, at: { from: at.from, name: at.name } },
    { do: 'connect', at: { from: at.from, name: `n${next(2)}` }, to: phase.id }, { do: 'disconnect', at }, { do: 'call', at, name: `c${next(4)}` },
    { do: 'move', id: phase.id, by: next(2) === 0 ? 1 : -1 }, { do: 'rename', id: phase.id, to: `r${next(9)}` }, { do: 'remove', id: phase.id },
    { do: 'paste', part: copied(x, [phase.id, at.to as string]), at }, { do: 'set', phase: { ...phase, config } },
  ];
  return all[next(all.length)] as Command;
}

describe('any commands', () => {
  it.each(Array.from({ length: 40 }, (_x, i) => i + 1))('can all be taken back and done again: %i', (seed) => {
    const next = random(seed);
    let [now, history] = [d, none];
    const texts = [write(now)];
    for (let i = 0; i < 100; i++) {
      const to = edit(now, anyCommand(now, next));
      if (to === now) continue;
      history = noted(history, now, to);
      now = to;
      texts.push(write(now));
      const ids = new Set(now.phases.map((p) => p.id));
      expect(ids.size).toBe(now.phases.length);
      expect(now.transitions.filter((w) => !ids.has(w.from) || !ids.has(w.to))).toEqual([]);
      expect(new Set(now.transitions.map((w) => `${w.from} ${w.name}`)).size).toBe(now.transitions.length);
      const { entries, loose } = outlined(now);
      expect(flat([...entries, ...loose]).map((p) => p.id).sort()).toEqual([...ids].sort());
    }
    expect(texts.length).toBeGreaterThan(30);
    for (const [back, order] of [[true, [...texts].reverse()], [false, texts]] as const) {
      for (const text of order.slice(1)) {
        const step = stepped(history, now, back);
        ({ history, definition: now } = step ?? { history, definition: now });
        expect(write(now)).toBe(text);
      }
      expect(stepped(history, now, back)).toBeNull();
    }
  });
  it('are kept a hundred at most, and the letters of one field are one step', () => {
    let [now, history] = [d, none];
    for (let i = 0; i < 120; i++) {
      const to = edit(now, { do: 'set', phase: { id: 'work', type: 'PROCESS', name: `${i}` } });
      history = noted(history, now, to);
      now = to;
    }
    expect(history.done).toHaveLength(100);
    const typed = ['A', 'Ab', 'Abc'].reduce(({ h, x }, name, i) => { const to = edit(x, { do: 'set', phase: { id: 'work', type: 'PROCESS', name } }); return { h: noted(h, x, to, 'work', i * 100), x: to }; }, { h: none, x: d });
    expect(typed.h.done).toHaveLength(1);
    expect(write(stepped(typed.h, typed.x, true)?.definition)).toBe(write(d));
  });
});

describe('a new phase', () => {
  it.each(addable)('of the type %s says what it needs, until it has that', (type) => {
    const { phase } = added(d, type, { from: 'work', name: 'next' });
    const given: Record<string, object> = { APPROVAL: { approvers: [{ type: 'user', id: 'usr_1' }] }, API_CALL: { url: 'https://a.example/' }, WEBHOOK_CALLOUT: { url: 'https://a.example/' }, DATA: { set: { a: '1' } }, CALL_WORKFLOW: { workflowId: 'wf_1' } };
    const own = type === 'FOR_EACH' ? { in: 'request.fields.rooms' } : {}; // beside the type
    expect(wants(phase).map((w) => w.path)).toEqual([...Object.keys(given[type] ?? {}).map((k) => `config.${k}`), ...Object.keys(own)]);
    expect(wants({ ...phase, ...own, config: { ...object(phase['config']), ...given[type] } })).toEqual([]);
  });
  it('says it once, also where the server has said it', () => {
    const path = 'config.approvers';
    expect(wantingIn(d, []).map((f) => `${f.id} ${f.path}`)).toEqual([`lead ${path}`]);
    expect(wantingIn(d, [{ id: 'lead', path, message: 'Is required.' }])).toEqual([]);
    expect(wants({ id: 'x', type: 'PROCESS', participants: [{ role: 'informed', type: 'answer', answer: ' ' }, { role: 'informed', type: 'assignee' }] }).map((w) => w.path)).toEqual(['participants[0].answer']);
    expect(wants({ id: 'x', type: 'DECISION', config: { rules: [{ when: 'true' }, { when: ' ' }] } }).map((w) => w.path)).toEqual(['config.rules[1].when']);
  });
});

describe('a definition', () => {
  it('keeps its digits and its order', () => { expect(JSON.stringify(d)).toBe(JSON.stringify(parse(written))); expect(write(d)).toMatch(/1\.10,\s*"serial": 9007199254740993/); });
  it.each(['', '[]', '{"phases":[]}', '{"phases":[{"id":"a"}],"transitions":[]}', '{"phases":[{"id":"a","type":"END"},{"id":"a","type":"END"}],"transitions":[]}'])('is not read from %j', (text) => { expect(read(text)).toBeNull(); });
  it('is outlined in lanes that end where they meet', () => {
    const { entries } = outlined(d);
    expect(entries.map((e) => e.phase.id)).toEqual(['start', 'call', 'check', 'work', 'done']);
    expect(entries[2]?.lanes.map((l) => `${l.exit.name}: ${flat(l.entries).map((p) => p.id).join()}`)).toEqual(['dear: lead', 'cheap: ']);
  });
  it('of 200 phases is edited, outlined and looked through at once, and what did not change stays the same object', () => {
    let big = d;
    for (let i = 0; i < 200; i++) big = edit(big, { do: 'add', phase: { id: 'task', type: i % 9 === 0 ? 'APPROVAL' : 'PROCESS', config: { approvers: [] } }, at: { from: 'work', name: 'next' } });
    expect(ordered(big)).toHaveLength(206);
    const times = Array.from({ length: 21 }, (_x, i) => {
      const begun = performance.now();
      const now = edit(big, { do: 'move', id: 'task_100', by: i % 2 === 0 ? 1 : -1 });
      expect(ordered(now)).toHaveLength(206);
      problemsOf(now, []);
      write(now);
      expect(now.phases.filter((p) => !big.phases.includes(p))).toEqual([]);
      expect(now.transitions.filter((w) => !big.transitions.includes(w)).length).toBeLessThan(4);
      big = now;
      return performance.now() - begun;
    }).toSorted((a, b) => a - b);
    expect(times[10]).toBeLessThan(100); // it takes 3 ms, and much more on a busy machine
  });
  it('is outlined once', () => { expect(outlined(d)).toBe(outlined(d)); });
});
