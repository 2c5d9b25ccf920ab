// palette adds a phase or changes one, found by what it is called.
import { useId, useState } from 'react';
import { t } from '../../../app/text';
import { score } from '../../../keys/score';
import { phaseType } from '../../../ui/bits';
import { Dialog } from '../../../ui/dialog';
import { kinds } from './kinds';

export interface Choice { label: string; hint?: string; run: () => void }

// adds are the phases that can be added.
export const adds = (types: string[], add: (type: string) => void): Choice[] => types.map((type) => ({ label: phaseType(type), hint: kinds[type]?.does ?? '', run: () => { add(type); } }));

const most = 50; // choices that are shown

export function Palette({ title, choices, close }: { title: string; choices: Choice[]; close: () => void }) {
  const [query, setQuery] = useState('');
  const list = useId();
  const [at, setAt] = useState(0);
  const all = choices.map((c) => ({ c, s: score(c.label, query) })).filter((x) => x.s >= 0).sort((x, y) => (query ? y.s - x.s : 0)).map((x) => x.c);
  const found = all.slice(0, most);
  const marked = Math.min(at, found.length - 1);
  const take = (c: Choice | undefined) => {
    if (!c) return;
    close();
    setTimeout(c.run); // once the dialog has given the focus back
  };
  return (
    <Dialog title={title} close={close}>
      <form className="stack palette" onSubmit={(e) => { e.preventDefault(); take(found[marked]); }}>
        <input
          role="combobox" aria-label={t('What to add or change')} aria-expanded aria-controls={list} aria-autocomplete={'list'} {...(marked >= 0 ? { 'aria-activedescendant': `palette-${marked}` } : {})} autoComplete="off" value={query}
          onChange={(e) => { setQuery(e.target.value); setAt(0); }}
          onKeyDown={(e) => {
            const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
            if (by === undefined || found.length === 0) return;
            e.preventDefault();
            setAt((marked + by + found.length) % found.length);
            globalThis.document.getElementById(`palette-${(marked + by + found.length) % found.length}`)?.scrollIntoView({ block: 'nearest' });
          }}
        />
        <ul id={list} role="listbox" aria-label={t('Choices')}>
          {found.map((c, i) => <li key={c.label} id={`palette-${i}`} role="option" aria-selected={i === marked} onClick={() => { take(c); }}><strong dir="auto">{c.label}</strong>{c.hint && <span className="soft small-text">{c.hint}</span>}</li>)}
        </ul>
        <p className="soft" role="status">{found.length === 0 ? t('Nothing was found.') : all.length > most ? t('There are more: go on typing.') : ''}</p>
      </form>
    </Dialog>
  );
}
