// command is the menu behind Control+K: pages, what the page can do, and rows by their names.
import { Combobox, ComboboxGroup, ComboboxGroupLabel, ComboboxItem, ComboboxList, ComboboxProvider } from '@ariakit/react/combobox';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { useRead } from '../app/data';
import { rows } from '../app/data';
import { Find } from '../gen/documents';
import { Dialog } from '../ui/dialog';
import { words } from '../ui/bits';
import { can, useViewer } from '../app/session';
import { subpages } from '../parts/subpages';
import { keyLabel, shortcuts } from './registry';

export interface Place { label: string; to: string }
interface Item { id: string; label: string; hint?: string; group: string; run: () => void }

// score ranks a label by how the letters of the query stand in it: together and early is better; -1 for not at all.
export function score(label: string, query: string): number {
  const l = label.toLowerCase();
  const q = query.toLowerCase().trim();
  if (!q) return 0;
  const at = l.indexOf(q);
  if (at >= 0) return 1000 - at;
  let from = 0;
  let spread = 0;
  for (const c of q) {
    const i = l.indexOf(c, from);
    if (i < 0) return -1;
    spread += i - from;
    from = i + 1;
  }
  return 500 - spread;
}

const recentKey = 'recent-commands';
const recent = (): string[] => JSON.parse(sessionStorage.getItem(recentKey) ?? '[]') as string[];

export default function Command({ places, close }: { places: Place[]; close: () => void }) {
  const [query, setQuery] = useState('');
  const deferred = useDeferredValue(query);
  const navigate = useNavigate();
  const viewer = useViewer();
  const found = useRead(Find, { q: deferred.trim(), first: 8 }, deferred.trim().length < 2);
  const actions = useMemo(() => shortcuts().filter((s) => !['j', 'k', 'mod+k'].includes(s.keys) && s.group !== 'Go to'), []);

  const items = useMemo(() => {
    const go = (to: string) => () => { void navigate({ to }); };
    const all: Item[] = [
      ...actions.map((s) => ({ id: `do ${s.does}`, label: s.does, hint: keyLabel(s.keys), group: 'Actions', run: () => { s.run(new KeyboardEvent('keydown')); } })),
      ...[...places, { label: 'Home', to: '/app' }, { label: 'Notifications', to: '/app/notifications' }, ...subpages.filter((s) => can(viewer, s.verb))].map((p) => ({ id: `go ${p.to}`, label: p.label, group: 'Pages', run: go(p.to) })),
      ...(deferred.trim().length < 2 ? [] : [
        ...rows(found.data?.requests).map((r) => ({ id: r.id, label: r.title, hint: words(r.status), group: 'Requests', run: go(`/app/requests/${r.id}`) })),
        ...rows(found.data?.services).map((s) => ({ id: s.id, label: s.name, group: 'Services', run: go(`/app/services/${s.id}`) })),
      ]),
    ];
    const last = recent();
    const weight = (i: Item) => score(i.label, query) + (last.includes(i.id) ? 5 - last.indexOf(i.id) : 0);
    return all.filter((i) => i.group === 'Requests' || i.group === 'Services' || score(i.label, query) >= 0).sort((a, b) => weight(b) - weight(a));
  }, [actions, places, query, deferred, found.data, navigate, viewer]);

  const order = query.trim() ? [...new Set(items.map((i) => i.group))] : ['Actions', 'Pages'];
  const groups = order.map((g) => [g, items.filter((i) => i.group === g)] as const).filter(([, l]) => l.length > 0);
  const moved = useRef(false); // by the arrows, since something was typed
  const run = (i: Item) => {
    sessionStorage.setItem(recentKey, JSON.stringify([i.id, ...recent().filter((r) => r !== i.id)].slice(0, 5)));
    close();
    setTimeout(i.run); // once the dialog has given the focus back
  };
  return (
    <Dialog title="Command menu" close={close} wide>
      <ComboboxProvider open setValue={(v) => { moved.current = false; setQuery(v); }} setOpen={() => undefined} focusLoop includesBaseElement={false}>
        <Combobox autoSelect="always" placeholder="Type a page, an action or a title…" className="command-input" aria-label="Search commands" autoFocus
          onKeyDown={(e) => {
            if (e.key.startsWith('Arrow')) moved.current = true;
            const best = groups[0]?.[1][0];
            if (e.key === 'Enter' && !moved.current && best) { // whatever is marked on the screen yet
              e.preventDefault();
              run(best);
            }
          }}
        />
        <ComboboxList className="command-list" alwaysVisible aria-label="Commands">
          {groups.map(([name, list]) => (
            <ComboboxGroup key={name} className="command-group">
              <ComboboxGroupLabel className="command-label">{name}</ComboboxGroupLabel>
              {list.slice(0, 12).map((i) => (
                <ComboboxItem key={i.id} value={i.id} setValueOnClick={false} hideOnClick={false} onClick={() => { run(i); }} className="command-item">
                  <span>{i.label}</span>{i.hint && <kbd>{i.hint}</kbd>}
                </ComboboxItem>
              ))}
            </ComboboxGroup>
          ))}
          {groups.length === 0 && <p className="soft command-none">Nothing was found.</p>}
        </ComboboxList>
      </ComboboxProvider>
    </Dialog>
  );
}
