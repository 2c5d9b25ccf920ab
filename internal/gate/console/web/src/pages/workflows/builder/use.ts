// use holds what the builder knows besides the definition: what was done, so that it can be taken back, and which phase is selected.
import { useMemo, useRef, useState } from 'react';
import { plural, t } from '../../../app/text';
import { focusSoon } from '../../../ui/focus';
import { blockOf, phaseOf, read, write, type Definition, type Exit } from './definition';
import { membersOf } from './blocks';
import { edit, type Command } from './edit';
import { added, branchIn, called } from './kinds';
import { titled } from './known';
import { ordered } from './lanes';
import { copied, pasteable } from './paste';
import { none, noted, stepped, type History } from './patch';

// Acts are what can be done: they stay the same, so that what is drawn of them need not be drawn anew.
export interface Acts {
  select: (id: string) => void; goTo: (id: string) => void; run: (c: Command, told?: string) => boolean; rename: (id: string, to: string) => boolean; add: (type: string, at: Exit) => void; undo: () => void; redo: () => void;
  move: (id: string, by: -1 | 1) => void; remove: (id: string) => void; copy: (id: string) => string; branch: (id: string) => void; paste: (written: string, at: Exit) => void;
}
// Builder is a definition as it stands. renamed is the phase that was called otherwise last, so that its form goes on.
export interface Builder { acts: Acts; definition: Definition; selected: string; renamed: Renamed; may: { undo: boolean; redo: boolean }; says: string }

// focusPhase gives the focus to a phase in the outline, or to the picture where that stands alone.
export const focusPhase = (id: string) => { focusSoon(() => globalThis.document.querySelector<HTMLElement>(`[data-phase="${CSS.escape(id)}"], .builder-main > .picture:only-child, .builder-main > .picture-size:first-child + .picture:last-child`), true); };

export interface Renamed { from: string; to: string }
interface Kept { text: string; definition: Definition | null; history: History }

// useBuilder edits a text that is a definition; it gives null while it is none. A text that was changed elsewhere begins anew.
export function useBuilder(text: string, change: (text: string) => void): Builder | null {
  const kept = useRef<Kept>({ text: '', definition: null, history: none });
  if (kept.current.text !== text) kept.current = { text, definition: read(text), history: none };
  const [chosen, select] = useState('');
  const at = useRef({ chosen, renamed: { from: '', to: '' } });
  at.current.chosen = chosen;
  const [says, say] = useState('');
  const given = useRef(change);
  given.current = change;
  const acts = useMemo(() => actsOf({
    now: () => kept.current.definition, selected: () => at.current.chosen, follow: (from, to) => { at.current.renamed = { from, to }; select(to); }, history: () => kept.current.history, select, say,
    put: (definition, history) => {
      const written = write(definition);
      kept.current = { text: written, definition, history };
      given.current(written);
    },
  }), []);
  const { definition, history } = kept.current;
  if (!definition) return null;
  return { acts, definition, selected: phaseOf(definition, chosen) ? chosen : '', renamed: at.current.renamed, says, may: { undo: history.done.length > 0, redo: history.undone.length > 0 } };
}

interface Held { now: () => Definition | null; selected: () => string; follow: (from: string, to: string) => void; history: () => History; put: (to: Definition, next: History) => void; select: (id: string) => void; say: (says: string) => void }

function actsOf({ now, selected, follow, history, put, select, say }: Held): Acts {
  const name = (id: string) => { const d = now(); return d ? called(d, id) : ''; };
  const goTo = (id: string) => { select(id); focusPhase(id); };
  // run does a command and says so; it reports whether it could.
  const run = (c: Command, told = '') => {
    const d = now();
    const to = d && edit(d, c);
    if (!to || to === d) return false;
    if (told) say(told);
    put(to, noted(history(), d, to, c.do === 'set' && to.phases.length === d.phases.length ? c.phase.id : '', Date.now()));
    return true;
  };
  const step = (back: boolean) => {
    const d = now();
    const went = d && stepped(history(), d, back);
    say(went ? (back ? t('Undone.') : t('Done again.')) : back ? t('There is nothing to undo.') : t('There is nothing to do again.'));
    if (!went) return;
    put(went.definition, went.history);
    const at = went.definition.phases.length === d.phases.length ? d.phases.findIndex((p) => p.id === selected()) : -1;
    const [was, is] = [d.phases[at], went.definition.phases[at]];
    if (was && is && !phaseOf(went.definition, was.id) && !phaseOf(d, is.id)) follow(was.id, is.id);
  };
  return {
    select, goTo, run,
    rename: (id, to) => {
      const done = run({ do: 'rename', id, to }, t('Expressions name the phase “{id}” now.', { id: to }));
      if (done) follow(id, to);
      return done;
    },
    undo: () => { step(true); }, redo: () => { step(false); },
    add: (type, at) => {
      const d = now();
      const c = d && added(d, type, at);
      if (!c || !run(c)) { say(t('Nothing can be added there.')); return; }
      say(t('“{name}” was added after “{phase}”.', { name: String(c.phase['name']), phase: name(at.from) }));
      goTo(c.phase.id);
    },
    branch: (id) => {
      const d = now();
      const p = d && phaseOf(d, id);
      const c = p ? branchIn(d, p) : null;
      if (!c || !run(c, t('The branch “{name}” was added.', { name: c.name }))) return;
      goTo(c.phase.id);
    },
    move: (id, by) => {
      say(run({ do: 'move', id, by }) ? t('“{name}” was moved.', { name: name(id) }) : t('“{name}” cannot be moved there.', { name: name(id) }));
      focusPhase(id);
    },
    remove: (id) => {
      const d = now();
      const [all, was, gone] = [d ? ordered(d) : [], name(id), d ? membersOf(d, id) : []];
      const at = all.findIndex((p) => p.id === id);
      const block = d && phaseOf(d, id)?.type === 'JOIN' ? blockOf(d, id) : undefined;
      if (!run({ do: 'remove', id })) { say(block ? t('“{name}” is the end of “{block}” and goes with it.', { name: was, block: titled(block) }) : t('“{name}” cannot be removed: a workflow has one start and at least one end.', { name: was })); return; }
      say(gone.length > 1 ? t('“{name}” was removed with all that was in it.', { name: was }) : t('“{name}” was removed.', { name: was }));
      goTo((all.slice(at).find((p) => !gone.includes(p.id)) ?? all[at - 1])?.id ?? '');
    },
    copy: (id) => { const d = now(); say(t('“{name}” was copied.', { name: name(id) })); return d ? write(copied(d, membersOf(d, id))) : ''; },
    paste: (written, at) => {
      const sent = pasteable(read(written));
      if (!sent) { say(t('The clipboard does not contain a phase.')); return; }
      if (!run({ do: 'paste', part: sent, at })) { say(t('What was copied cannot stand there: within a block the workflow does not end, and at most three blocks stand within each other.')); return; }
      say(plural(sent.phases.length, '{n} phase was added.', '{n} phases were added.'));
    },
  };
}
