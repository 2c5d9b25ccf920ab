// use holds what the builder knows besides the definition: what was done, so that it can be taken back, and which phase is selected.
import { useCallback, useMemo, useRef, useState } from 'react';
import { plural, t } from '../../../app/text';
import { read, write, type Definition, type Exit } from './definition';
import { copied, edit, pasteable, type Command } from './edit';
import { added, called } from './kinds';
import { flat, outlined } from './lanes';
import { none, noted, stepped, type History } from './patch';

export interface Builder {
  definition: Definition; selected: string; select: (id: string) => void; run: (c: Command) => boolean; add: (type: string, at: Exit) => void;
  undo: () => void; redo: () => void; may: { undo: boolean; redo: boolean }; move: (id: string, by: -1 | 1) => void; remove: (id: string) => void;
  copy: (id: string) => string; paste: (written: string, at: Exit) => void; says: string; goTo: (id: string) => void;
}

export const focusPhase = (id: string) => { requestAnimationFrame(() => { globalThis.document.querySelector<HTMLElement>(`[data-phase="${CSS.escape(id)}"]`)?.focus(); }); };

// useBuilder edits a text that is a definition; what it gives is null while it is none. A text that was changed elsewhere begins anew.
export function useBuilder(text: string, change: (text: string) => void): Builder | null {
  const cache = useRef<{ text: string; definition: Definition | null }>({ text: '', definition: null });
  if (cache.current.text !== text) cache.current = { text, definition: read(text) };
  const { definition } = cache.current;
  const [history, setHistory] = useState<History & { text: string }>({ ...none, text });
  const h = history.text === text ? history : none;
  const [chosen, select] = useState('');
  const [says, say] = useState('');
  const put = useCallback((to: Definition, next: History) => {
    const written = write(to);
    cache.current = { text: written, definition: to };
    setHistory({ ...next, text: written });
    change(written);
  }, [change]);
  const selected = definition?.phases.some((p) => p.id === chosen) ? chosen : '';
  return useMemo(() => {
    if (!definition) return null;
    const order = () => { const { entries, loose } = outlined(definition); return flat([...entries, ...loose]); };
    const goTo = (id: string) => { select(id); focusPhase(id); };
    const run = (c: Command) => {
      const to = edit(definition, c);
      if (to === definition) return false;
      put(to, noted(h, definition, to, c.do === 'set' ? c.phase.id : '', Date.now()));
      return true;
    };
    const step = (back: boolean) => {
      const went = stepped(h, definition, back);
      say(went ? (back ? t('Undone.') : t('Done again.')) : back ? t('There is nothing to undo.') : t('There is nothing to do again.'));
      if (went) put(went.definition, went.history);
    };
    return {
      definition, selected, select, run, goTo, says, undo: () => { step(true); }, redo: () => { step(false); }, may: { undo: h.done.length > 0, redo: h.undone.length > 0 },
      add: (type, at) => {
        const c = added(definition, type, at);
        if (!run(c)) return;
        say(t('“{name}” was added after “{phase}”.', { name: String(c.phase['name']), phase: called(definition, at.from) }));
        goTo(c.phase.id);
      },
      move: (id, by) => {
        say(run({ do: 'move', id, by }) ? t('“{name}” was moved.', { name: called(definition, id) }) : t('“{name}” cannot be moved there.', { name: called(definition, id) }));
        focusPhase(id);
      },
      remove: (id) => {
        const all = order();
        const at = all.findIndex((p) => p.id === id);
        if (!run({ do: 'remove', id })) { say(t('“{name}” cannot be removed: a workflow has one start and at least one end.', { name: called(definition, id) })); return; }
        say(t('“{name}” was removed.', { name: called(definition, id) }));
        goTo((all[at + 1] ?? all[at - 1])?.id ?? '');
      },
      copy: (id) => { say(t('“{name}” was copied.', { name: called(definition, id) })); return write(copied(definition, [id])); },
      paste: (written, at) => {
        const sent = pasteable(read(written));
        if (!sent || !run({ do: 'paste', part: sent, at })) { say(t('What was copied is no phase.')); return; }
        say(plural(sent.phases.length, '{n} phase was added.', '{n} phases were added.'));
      },
    };
  }, [definition, selected, h, says, put]);
}
