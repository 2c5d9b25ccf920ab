import { Dialog } from '../ui/dialog';
import { keyLabel, shortcuts, type Shortcut } from './registry';

// Help is the sheet of all shortcuts that work on this page.
export default function Help({ close }: { close: () => void }) {
  const groups = new Map<string, Shortcut[]>();
  for (const s of shortcuts()) groups.set(s.group ?? 'This page', [...(groups.get(s.group ?? 'This page') ?? []), s]);
  return (
    <Dialog title="Keyboard shortcuts" close={close} wide>
      <div className="sheet">
        {[...groups].reverse().map(([name, list]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {list.map((s) => (
                <div key={s.keys}><dt>{s.does}</dt><dd>{keyLabel(s.keys).split(' ').map((k) => <kbd key={k}>{k}</kbd>)}</dd></div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
