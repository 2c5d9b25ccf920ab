import { describe, expect, it } from 'vitest';
import { share, type Tabs } from '../app/shared';

// room is a browser whose tabs hear each other, and in which one after the other leads.
function room() {
  const ears = new Set<(m: never) => void>();
  const waiting: { lead: () => Promise<void>; signal: AbortSignal }[] = [];
  let led = false;
  const go = () => {
    const next = waiting.find((w) => !w.signal.aborted);
    if (led || !next) return;
    waiting.splice(waiting.indexOf(next), 1);
    led = true;
    void next.lead().then(() => { led = false; go(); });
  };
  return (): Tabs => {
    const own = new Set<(m: never) => void>();
    return {
      post: (m) => { for (const e of ears) if (!own.has(e)) e(m as never); },
      hear: (l) => { ears.add(l as never); own.add(l as never); return () => { ears.delete(l as never); }; },
      lead: (_name, signal, lead) => { waiting.push({ lead, signal }); go(); },
    };
  };
}

describe('tabs share a stream', () => {
  it('opens one, and hands each event to all', async () => {
    const tab = room();
    const opened: ((answer: unknown) => void)[] = [];
    const open = (next: (answer: unknown) => void) => { opened.push(next); return () => undefined; };
    const first: unknown[] = [];
    const second: unknown[] = [];
    const leave = share('Changes', open, (a) => first.push(a), () => undefined, tab());
    share('Changes', open, (a) => second.push(a), () => undefined, tab());
    expect(opened).toHaveLength(1);
    opened[0]?.('one');
    expect([first, second]).toEqual([['one'], ['one']]);
    leave(); // the tab that had it is closed: the other one opens its own
    await Promise.resolve();
    await Promise.resolve();
    expect(opened).toHaveLength(2);
    opened[1]?.('two');
    expect([first, second]).toEqual([['one'], ['one', 'two']]);
  });

  it('says that it ended to the tab that has it alone, and lets another lead', async () => {
    const tab = room();
    const ends: (() => void)[] = [];
    const open = (_next: (answer: unknown) => void, done: () => void) => { ends.push(done); return () => undefined; };
    const said: string[] = [];
    share('Changes', open, () => undefined, () => said.push('first'), tab());
    share('Changes', open, () => undefined, () => said.push('second'), tab());
    ends[0]?.();
    await Promise.resolve();
    await Promise.resolve();
    expect(said).toEqual(['first']);
    expect(ends).toHaveLength(2);
  });
});
