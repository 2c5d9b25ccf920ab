import { useState, type KeyboardEvent } from 'react';
import { t } from '../app/text';
import { Dialog } from '../ui/dialog';
import { someRows } from '../ui/rows';
import { choose, keyLabel, nameOf, shortcuts, useChosen, type Shortcut } from './registry';

// Help is the sheet of all shortcuts that work on this page. Each can have another key.
export default function Help({ close }: { close: () => void }) {
  const chosen = useChosen();
  const [asking, ask] = useState<Shortcut | null>(null);
  const [says, say] = useState('');
  const groups = new Map<string, Shortcut[]>();
  const there = shortcuts().filter((s) => s.group !== t('Rows') || someRows()); // where nothing can be opened the sheet does not say so
  for (const s of there) groups.set(s.group ?? t('This page'), [...(groups.get(s.group ?? t('This page')) ?? []), s]);
  const hear = (e: KeyboardEvent) => {
    if (!asking || ['Shift', 'Control', 'Alt', 'Meta', 'Tab'].includes(e.key)) return; // not said
    e.preventDefault();
    e.stopPropagation();
    const keys = nameOf(e);
    const other = shortcuts().find((s) => s.keys === keys && s.name !== asking.name);
    if (other) say(t('{key} is taken: {name}.', { key: keyLabel(keys), name: other.does }));
    else if (e.key !== 'Escape') { // not said
      choose(asking.name, keys);
      say(t('{name}: {key}.', { name: asking.does, key: keyLabel(keys) }));
    }
    ask(null);
  };
  return (
    <Dialog title={t('Keyboard shortcuts')} close={close} wide>
      <div className="sheet" onKeyDown={hear}>
        {[...groups].reverse().map(([name, list]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {list.map((s) => (
                <div key={s.name}>
                  <dt>{s.does}</dt>
                  <dd>
                    {keyLabel(s.keys).split(' ').map((k) => <kbd key={k}>{k}</kbd>)}
                    {s.keys !== 'Escape' && ( // not said
                      <button type="button" className="quiet small" aria-label={t('Change the key: {name}', { name: s.does })} aria-pressed={asking?.name === s.name} onClick={() => { ask(s); say(t('Press the new key.')); }}>{t('Change')}</button>
                    )}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div role="status">{says && <p className="notice">{says}</p>}</div>
      {Object.keys(chosen).length > 0 && <footer><button type="button" className="plain" onClick={() => { choose(); say(t('All keys are reset.')); }}>{t('Reset all keys')}</button></footer>}
    </Dialog>
  );
}
