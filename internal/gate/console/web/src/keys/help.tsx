import { useState, type KeyboardEvent } from 'react';
import { Dialog } from '../ui/dialog';
import { someRows } from '../ui/rows';
import { choose, keyLabel, nameOf, shortcuts, useChosen, type Shortcut } from './registry';

// Help is the sheet of all shortcuts that work on this page. Each can have another key.
export default function Help({ close }: { close: () => void }) {
  const chosen = useChosen();
  const [asking, ask] = useState('');
  const [says, say] = useState('');
  const groups = new Map<string, Shortcut[]>();
  const there = shortcuts().filter((s) => s.group !== 'Rows' || someRows()); // where nothing can be opened the sheet does not say so
  for (const s of there) groups.set(s.group ?? 'This page', [...(groups.get(s.group ?? 'This page') ?? []), s]);
  const hear = (e: KeyboardEvent) => {
    if (!asking || ['Shift', 'Control', 'Alt', 'Meta', 'Tab'].includes(e.key)) return;
    e.preventDefault();
    e.stopPropagation();
    const keys = nameOf(e);
    const other = shortcuts().find((s) => s.keys === keys && s.does !== asking);
    if (other) say(`${keyLabel(keys)} is taken: ${other.does}.`);
    else if (e.key !== 'Escape') {
      choose(asking, keys);
      say(`${asking}: ${keyLabel(keys)}.`);
    }
    ask('');
  };
  return (
    <Dialog title="Keyboard shortcuts" close={close} wide>
      <div className="sheet" onKeyDown={hear}>
        {[...groups].reverse().map(([name, list]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {list.map((s) => (
                <div key={s.does}>
                  <dt>{s.does}</dt>
                  <dd>
                    {keyLabel(s.keys).split(' ').map((k) => <kbd key={k}>{k}</kbd>)}
                    {s.keys !== 'Escape' && <button type="button" className="quiet small" aria-pressed={asking === s.does} onClick={() => { ask(s.does); say('Press the key that is to do it.'); }}>Change<span className="hidden"> the key: {s.does}</span></button>}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div role="status">{says && <p className="notice">{says}</p>}</div>
      {Object.keys(chosen).length > 0 && <footer><button type="button" className="plain" onClick={() => { choose(); say('All keys are as they came.'); }}>Reset all keys</button></footer>}
    </Dialog>
  );
}
