import { describe, expect, it } from 'vitest';
import { heldWays } from '../parts/blocks';
import { pathOf, place } from '../parts/picture';
import { broken, insideOf, mayLead, membersOf, scopeOf } from '../pages/workflows/builder/blocks';
import { allExits, allWays, exits, phaseOf, read, wayAt, write, type Definition, type Phase } from '../pages/workflows/builder/definition';
import { edit, type Command } from '../pages/workflows/builder/edit';
import { addable, addableAt, added, branchIn } from '../pages/workflows/builder/kinds';
import { knownAt, type Known } from '../pages/workflows/builder/known';
import { flat, ordered, outlined } from '../pages/workflows/builder/lanes';
import { copied, pasteable } from '../pages/workflows/builder/paste';
import { none, noted, stepped } from '../pages/workflows/builder/patch';
import { problemsOf } from '../pages/workflows/builder/problems';
import { put, text } from '../pages/workflows/builder/shape';
import { wants } from '../pages/workflows/builder/wants';

const of = (written: unknown): Definition => { const d = read(JSON.stringify(written)); if (!d) throw new Error('no definition'); return d; };
const d = of({
  phases: [
    { id: 'start', type: 'START' },
    { id: 'prepare', type: 'PARALLEL', name: 'Prepare', branches: [{ name: 'Laptop', start: 'order' }, { name: 'Access', start: 'access' }], join: 'all', onFault: 'wait', end: 'prepared' },
    { id: 'order', type: 'PROCESS' }, { id: 'unpack', type: 'PROCESS' }, { id: 'access', type: 'APPROVAL', config: { approvers: [], mode: 'any' } },
    { id: 'prepared', type: 'JOIN', next: 'each' },
    { id: 'each', type: 'FOR_EACH', name: 'Each room', in: 'request.fields.rooms', as: 'room', start: 'clean', join: 'all', onFault: 'wait', end: 'cleaned' },
    { id: 'clean', type: 'PROCESS', config: { title: 'Clean ${phases.each.room} of ${phases.each.rooms}' } },
    { id: 'cleaned', type: 'JOIN', next: 'work' },
    { id: 'work', type: 'PROCESS' }, { id: 'done', type: 'END' },
  ],
  transitions: [
    { from: 'start', name: 'next', to: 'prepare' }, { from: 'order', name: 'next', to: 'unpack' }, { from: 'unpack', name: 'next', to: 'prepared' }, { from: 'access', name: 'approved', to: 'prepared' },
    { from: 'access', name: 'rejected', to: 'prepared' }, { from: 'clean', name: 'next', to: 'cleaned' }, { from: 'work', name: 'next', to: 'done' },
  ],
});
const ids = (x: Definition) => x.phases.map((p) => p.id).sort();
const get = (x: Definition, id: string) => phaseOf(x, id) as Phase;
const task = { id: 'task', type: 'PROCESS' };

// one is a block that was added to a workflow of one task.
const small = of({ phases: [{ id: 'start', type: 'START' }, { id: 'work', type: 'PROCESS' }, { id: 'done', type: 'END' }], transitions: [{ from: 'start', name: 'next', to: 'work' }, { from: 'work', name: 'next', to: 'done' }] });

describe('a block', () => {
  it.each([['PARALLEL', ['task', 'task_2']], ['FOR_EACH', ['task']]])('of the type %s is added whole, and removed whole', (type, inside) => {
    const c = added(small, type, { from: 'start', name: 'next' });
    const now = edit(small, c);
    expect(broken(now)).toEqual([]);
    expect(insideOf(now, c.phase.id).sort()).toEqual(inside);
    expect(exits(now, 'start')[0]?.to).toBe(c.phase.id);
    expect(exits(now, text(c.phase['end']))).toMatchObject([{ name: 'next', to: 'work' }]);
    expect(problemsOf(now, []).map((p) => p.path)).toEqual(type === 'FOR_EACH' ? ['in'] : []);
    expect(write(edit(now, { do: 'remove', id: c.phase.id }))).toBe(write(small));
  });
  it('knows what is in it', () => {
    expect(insideOf(d, 'prepare')).toEqual(['order', 'unpack', 'access']);
    expect(insideOf(d, 'prepare', 1)).toEqual(['access']);
    expect(membersOf(d, 'prepared')).toEqual(['prepare', 'order', 'unpack', 'access', 'prepared']);
    expect(scopeOf(d, 'clean')).toMatchObject({ block: 'each', branch: 0, depth: 1 });
    expect(scopeOf(d, 'work')).toBeNull();
    expect(broken(d)).toEqual([]);
  });
  it('is as one when it is removed; its end alone is not', () => {
    const now = edit(d, { do: 'remove', id: 'prepare' });
    expect(ids(now)).toEqual(['clean', 'cleaned', 'done', 'each', 'start', 'work']);
    expect(wayAt(now, { from: 'start', name: 'next' })?.to).toBe('each');
    expect(edit(d, { do: 'remove', id: 'prepared' })).toBe(d);
    expect(edit(d, { do: 'set', phase: { ...get(d, 'prepared'), type: 'PROCESS' } })).toBe(d);
  });
  it('is as one when it is moved, from its beginning and its end', () => {
    const now = edit(d, { do: 'move', id: 'prepare', by: 1 });
    expect(ordered(now).map((p) => p.id)).toEqual(['start', 'each', 'clean', 'cleaned', 'prepare', 'order', 'unpack', 'access', 'prepared', 'work', 'done']);
    expect(broken(now)).toEqual([]);
    expect(ordered(edit(now, { do: 'move', id: 'prepared', by: -1 })).map((p) => p.id)).toEqual(ordered(d).map((p) => p.id));
    expect(ordered(edit(d, { do: 'move', id: 'work', by: -1 })).map((p) => p.id).slice(6)).toEqual(['work', 'each', 'clean', 'cleaned', 'done']);
  });
  it('lets nothing out of a branch by moving', () => {
    for (const [id, by] of [['order', -1], ['unpack', 1], ['access', 1], ['clean', -1], ['clean', 1]] as const) expect(edit(d, { do: 'move', id, by })).toBe(d);
    expect(insideOf(edit(d, { do: 'move', id: 'order', by: 1 }), 'prepare', 0).sort()).toEqual(['order', 'unpack']);
    expect(get(edit(d, { do: 'move', id: 'order', by: 1 }), 'prepare')['branches']).toMatchObject([{ start: 'unpack' }, { start: 'access' }]);
  });
  it('is copied whole, and pasted under other ids', () => {
    const part = pasteable(read(write(copied(d, membersOf(d, 'each'))))) as Definition;
    expect(part.phases.map((p) => p.id)).toEqual(['each', 'clean', 'cleaned']);
    expect(heldWays(part.phases[2] as Phase)).toEqual([]);
    const now = edit(d, { do: 'paste', part, at: { from: 'order', name: 'next' } });
    expect(broken(now)).toEqual([]);
    expect(scopeOf(now, 'clean_2')).toMatchObject({ block: 'each_2', depth: 2, parent: { block: 'prepare', branch: 0 } });
    expect(get(now, 'clean_2')['config']).toEqual({ title: 'Clean ${phases.each_2.room} of ${phases.each_2.rooms}' });
    expect(exits(now, 'cleaned_2')).toMatchObject([{ to: 'unpack' }]);
  });
  it('is renamed with its end and its phases', () => {
    const now = ['prepare', 'order', 'prepared'].reduce((x, id) => edit(x, { do: 'rename', id, to: `${id}_now` }), d);
    expect(get(now, 'prepare_now')).toMatchObject({ branches: [{ start: 'order_now' }, { start: 'access' }], end: 'prepared_now' });
    expect(broken(now)).toEqual([]);
  });
  it('takes phases at the beginning, in the middle and at the end of a branch', () => {
    const first = edit(d, { do: 'add', phase: task, at: { from: 'prepare', name: 'Access' } });
    expect(get(first, 'prepare')['branches']).toMatchObject([{ start: 'order' }, { start: 'task' }]);
    const last = edit(first, { do: 'add', phase: task, at: { from: 'unpack', name: 'next' } });
    expect(insideOf(last, 'prepare', 0).sort()).toEqual(['order', 'task_2', 'unpack']);
    const approval = edit(d, { do: 'add', phase: { id: 'lead', type: 'APPROVAL', config: { approvers: [], mode: 'any' } }, at: { from: 'order', name: 'next' } });
    expect(exits(approval, 'lead').map((w) => `${w.name} ${w.to}`)).toEqual(['approved unpack', 'rejected prepared']);
    expect(ids(edit(d, { do: 'remove', id: 'clean' }))).not.toContain('clean');
  });
  it('says what a branch lacks whose last phase was removed', () => {
    const now = edit(d, { do: 'remove', id: 'access' });
    expect(wants(get(now, 'prepare')).map((w) => w.path)).toEqual(['branches[1].start']);
    expect(edit(now, { do: 'add', phase: task, at: { from: 'prepare', name: 'Access' } })).toMatchObject({ phases: expect.arrayContaining([expect.objectContaining({ id: 'task' })]) as unknown });
  });
  it('is entered and left nowhere else', () => {
    for (const [from, name, to] of [['work', 'next', 'order'], ['order', 'next', 'work'], ['order', 'next', 'access'], ['order', 'next', 'cleaned'], ['unpack', 'next', 'prepare'], ['start', 'next', 'prepared'], ['clean', 'next', 'done'], ['prepared', 'next', 'order'], ['prepare', 'Laptop', 'access']] as const) {
      expect(edit(d, { do: 'connect', at: { from, name }, to }), `${from} ${to}`).toBe(d);
      expect(mayLead(d, { from, name }, to)).toBe(false);
    }
    expect(edit(d, { do: 'connect', at: { from: 'order', name: 'next' }, to: 'prepared' })).not.toBe(d);
    expect(addableAt(d, { from: 'order', name: 'next' })).toEqual(addable.filter((type) => type !== 'END'));
    expect(edit(d, { do: 'add', phase: { id: 'end', type: 'END' }, at: { from: 'order', name: 'next' } })).toBe(d);
  });
  it('stands three deep at most', () => {
    const deep = ['prepare Laptop', 'parallel Branch 1'].reduce((x, at) => { const [from = '', ...name] = at.split(' '); return edit(x, added(x, 'PARALLEL', { from, name: name.join(' ') })); }, d);
    expect(broken(deep)).toEqual([]);
    const at = { from: 'parallel_2', name: 'Branch 1' };
    expect(scopeOf(deep, text((get(deep, 'parallel_2')['branches'] as { start: string }[])[0]?.start))?.depth).toBe(3);
    expect(addableAt(deep, at)).not.toContain('FOR_EACH');
    expect(edit(deep, added(deep, 'FOR_EACH', at))).toBe(deep);
  });
  it('has another branch, loses one with what is in it, and calls one otherwise', () => {
    const c = branchIn(d, get(d, 'prepare')) as Command & { name: string };
    const more = edit(d, c);
    expect(get(more, 'prepare')['branches']).toMatchObject([{}, {}, { name: 'Branch 3', start: 'task' }]);
    expect(exits(more, 'task')).toMatchObject([{ to: 'prepared' }]);
    const [, access, third] = get(more, 'prepare')['branches'] as object[];
    const less = edit(more, { do: 'set', phase: put(get(more, 'prepare'), 'branches', [third, access]) });
    expect(ids(less)).toEqual(ids(more).filter((id) => id !== 'order' && id !== 'unpack'));
    expect(broken(less)).toEqual([]);
    expect(branchIn(d, { id: 'x', type: 'PARALLEL', branches: Array.from({ length: 10 }, (_x, i) => ({ name: `${i}` })) })).toBeNull();
    expect(edit(more, c)).toBe(more); // of this name there is one
  });
  it('has a way for when it is given up, as long as it may be', () => {
    const now = edit(d, { do: 'set', phase: put(get(d, 'prepare'), 'onFault', 'cancel') });
    expect(exits(now, 'prepared').map((w) => `${w.name} ${w.to}`)).toEqual(['next each', 'failed done']);
    expect(edit(now, { do: 'connect', at: { from: 'prepared', name: 'failed' }, to: 'work' })).not.toBe(now);
    expect(write(edit(now, { do: 'set', phase: put(get(now, 'prepare'), 'onFault', 'wait') }))).toBe(write(d));
    const lacks = of({ ...now, phases: now.phases.map((p) => put(p, 'failed', undefined)) });
    expect(allExits(lacks, get(lacks, 'prepared')).map((e) => `${e.name} ${e.to}`)).toEqual(['next each', 'failed undefined']);
  });
  it('calls an entry otherwise wherever its phases name it', () => {
    const now = edit(d, { do: 'set', phase: put(get(d, 'each'), 'as', 'place') });
    expect(get(now, 'clean')['config']).toEqual({ title: 'Clean ${phases.each.place} of ${phases.each.rooms}' });
  });
});

describe('the problems of a block', () => {
  const paths = (p: object) => wants(p as Phase).map((w) => w.path);
  const two = [{ name: 'A', start: 'a' }, { name: 'B', start: 'b' }];
  it.each([
    [{ type: 'PARALLEL', branches: two, end: 'e' }, []], [{ type: 'PARALLEL', branches: two.slice(1), end: 'e', join: 'any' }, ['branches']], [{ type: 'PARALLEL', branches: [...two, { name: 'A', start: 'e' }], end: 'e', join: 4 }, ['branches[2].name', 'branches[2].start', 'join']],
    [{ type: 'PARALLEL', branches: [...two, { name: ' ', start: 'c' }], end: 'e', join: '' }, ['branches[2].name', 'join']], [{ type: 'FOR_EACH', in: '', as: 'index', start: 'e', end: 'e', maxParallel: 11, join: 0 }, ['in', 'as', 'start', 'maxParallel', 'join']],
    [{ type: 'FOR_EACH', in: 'request.fields.a', as: 'room', start: 'a', end: 'e', maxParallel: 10, join: 2 }, []],
  ])('are said where they are: %j', (p, at) => { expect(paths({ id: 'x', ...p })).toEqual(at); });
  it('of one that somebody has written by hand are said at its phases', () => {
    const bad = (change: (p: Phase) => object, ...more: object[]) => broken(of({ phases: [...d.phases.map((p) => ({ ...p, ...change(p) })), ...more], transitions: d.transitions })).map((p) => `${p.id} ${p.path}`);
    expect(bad((p) => (p.id === 'prepare' ? { end: 'gone' } : {}))).toContain('prepare end');
    expect(bad(() => ({}), { id: 'alone', type: 'JOIN', next: 'done' })).toEqual(['alone ']);
    expect(bad((p) => (p.id === 'each' ? { start: 'prepare' } : p.id === 'prepared' ? { next: 'cleaned' } : {})).length).toBeGreaterThan(0);
    expect(bad((p) => (p.id === 'prepared' ? { next: 'unpack' } : {})).length).toBeGreaterThan(0);
  });
});

describe('a workflow of 200 phases', () => {
  it('with blocks is edited, outlined, drawn and looked through at once', () => {
    let big = d;
    for (let i = 0; big.phases.length < 200; i++) big = edit(big, added(big, ['PARALLEL', 'FOR_EACH', 'PROCESS'][i % 3] ?? '', { from: ['prepared', 'task', 'cleaned'][i % 3] ?? '', name: 'next' }));
    expect(broken(big)).toEqual([]);
    const times = Array.from({ length: 21 }, (_x, i) => {
      const begun = performance.now();
      const now = edit(big, { do: 'rename', id: i % 2 === 0 ? 'clean' : 'cleans', to: i % 2 === 0 ? 'cleans' : 'clean' });
      expect(now).not.toBe(big);
      expect(ordered(now)).toHaveLength(big.phases.length);
      problemsOf(now, []);
      place(now as never);
      write(now);
      big = now;
      return performance.now() - begun;
    }).toSorted((a, b) => a - b);
    expect(times[0]).toBeLessThan(100); // it takes 3 ms, and much more on a busy machine
  });
});

describe('the outline of a block', () => {
  it('has a lane for each branch, and its end below them', () => {
    const { entries, loose } = outlined(d);
    expect(entries.map((e) => e.phase.id)).toEqual(['start', 'prepare', 'prepared', 'each', 'cleaned', 'work', 'done']);
    expect(entries[1]?.lanes.map((l) => `${l.exit.name}: ${flat(l.entries).map((p) => p.id).join()}`)).toEqual(['Laptop: order,unpack', 'Access: access']);
    expect(entries[3]?.lanes.map((l) => flat(l.entries).map((p) => p.id))).toEqual([['clean']]);
    expect(loose).toEqual([]);
  });
  it('stands in the picture with its branches beside each other', () => {
    const spots = new Map(place(d as never).map((p) => [p.id, `${p.layer} ${(p.y - 26) / 84}`]));
    expect(Object.fromEntries(spots)).toMatchObject({ prepare: '1 0', order: '2 0', unpack: '3 0', access: '2 1', prepared: '4 0', each: '5 0', clean: '6 0', work: '8 0' });
  });
  it('shows what is not done yet of a phase that several branches have entered', () => {
    expect(pathOf([{ phaseId: 'clean', status: 'WAITING' }, { phaseId: 'clean', status: 'COMPLETED', transition: 'next' }]).phases.get('clean')).toBe('WAITING');
    expect(pathOf([{ phaseId: 'clean', status: 'WAITING' }, { phaseId: 'clean', status: 'FAILED' }]).phases.get('clean')).toBe('FAILED');
  });
});

describe('the values of a block', () => {
  const codes = (id: string): string[] => { const all = (k: Known): string[] => [k.code, ...k.children?.flatMap(all) ?? []]; return knownAt({ definition: d, id, asked: [], call: null, secrets: [] }, 'plain').flatMap(all).filter((c) => c.startsWith('phases.')); };
  it('are an entry and its number within, and what it gives behind its end', () => {
    expect(codes('clean')).toEqual(expect.arrayContaining(['phases.each.room', 'phases.each.index', 'phases.prepared.completed', 'phases.prepared.cancelled', 'phases.order.outcome']));
    expect(codes('work')).toContain('phases.cleaned.results');
    expect(codes('work')).not.toContain('phases.prepared.fault.message'); // it is never given up
    expect(codes('work').filter((c) => /each|clean\./.test(c))).toEqual([]);
    expect(codes('access')).toEqual([]); // a branch knows nothing of the others
    expect(codes('unpack')).toEqual(['phases.order.outcome']);
  });
});

// random makes numbers that are the same in each run.
function random(seed: number) {
  let s = seed;
  return (below: number) => { s = (Math.imul(s, 1664525) + 1013904223) >>> 0; return Math.floor((s / 2 ** 32) * below); };
}

function anyCommand(x: Definition, next: (below: number) => number): Command {
  const phase = x.phases[next(x.phases.length)] as Phase;
  const ways = allWays(x);
  const way = ways[next(ways.length)] ?? { from: 'start', name: 'next', to: '' };
  const at = { from: way.from, name: way.name };
  const branches = Array.isArray(phase['branches']) ? phase['branches'] : [];
  const changes = [put(phase, 'onFault', next(2) ? 'cancel' : 'wait'), put(phase, 'branches', next(2) ? branches.slice(1) : branches.toReversed()), put(phase, 'as', `entry${next(3)}`)];
  const all: Command[] = [
    added(x, addable[next(addable.length)] ?? 'END', at), added(x, next(2) ? 'PARALLEL' : 'FOR_EACH', at), added(x, 'PROCESS', at), branchIn(x, phase) ?? { do: 'move', id: phase.id, by: 1 },
    { do: 'connect', at, to: phase.id }, { do: 'disconnect', at }, { do: 'move', id: phase.id, by: next(2) ? 1 : -1 }, { do: 'rename', id: phase.id, to: `r${next(9)}` }, { do: 'remove', id: phase.id },
    { do: 'paste', part: copied(x, membersOf(x, phase.id)), at }, ...(phase.type === 'PARALLEL' || phase.type === 'FOR_EACH' ? changes.slice(0, phase.type === 'PARALLEL' ? 2 : 3).map((p): Command => ({ do: 'set', phase: p })) : []),
  ];
  return all[next(all.length)] as Command;
}

describe('any commands', () => {
  it.each(Array.from({ length: 60 }, (_x, i) => i + 1))('leave blocks whole, and can all be taken back and done again: %i', (seed) => {
    const next = random(seed);
    let [now, history] = [d, none];
    const texts = [write(now)];
    for (let i = 0; i < 100; i++) {
      const c = anyCommand(now, next);
      const to = edit(now, c);
      if (to === now) continue;
      if (to.phases.length > 60) continue;
      history = noted(history, now, to);
      now = to;
      texts.push(write(now));
      const all = new Set(now.phases.map((p) => p.id));
      expect(broken(now), JSON.stringify(c)).toEqual([]);
      expect(all.size).toBe(now.phases.length);
      expect(allWays(now).filter((w) => !all.has(w.from) || !all.has(w.to)), JSON.stringify(c)).toEqual([]);
      const { entries, loose } = outlined(now);
      expect(flat([...entries, ...loose]).map((p) => p.id).sort()).toEqual([...all].sort());
      expect(new Set(place(now as never).map((p) => `${p.x} ${p.y}`)).size).toBe(all.size);
    }
    expect(texts.length).toBeGreaterThan(25);
    for (const [back, order] of [[true, texts.toReversed()], [false, texts]] as const) {
      for (const written of order.slice(1)) {
        const step = stepped(history, now, back);
        ({ history, definition: now } = step ?? { history, definition: now });
        expect(write(now)).toBe(written);
      }
    }
  });
});
