// command is the menu behind Control+K: pages, what the page can do, and rows by their names.
import { Combobox, ComboboxGroup, ComboboxGroupLabel, ComboboxItem, ComboboxList, ComboboxProvider } from '@ariakit/react/combobox';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { useRead } from '../app/data';
import { can, useViewer } from '../app/session';
import { t } from '../app/text';
import { Find } from '../gen/documents';
import type { HitFragment, SearchType } from '../gen/types';
import { Dialog } from '../ui/dialog';
import { words } from '../ui/bits';
import { Marked } from '../ui/marked';
import { subpages } from '../parts/subpages';
import { keyLabel, shortcuts } from './registry';
import { score } from './score';

export interface Place { label: string; to: string }
// kinds are what is found: under what it stands, and where it is.
const kinds: Record<SearchType, [string, (id: string) => string]> = {
  Request: [t('Requests'), (id) => `/app/requests/${id}`], Service: [t('Services'), (id) => `/app/services/${id}`], Offering: [t('Offerings'), (id) => `/app/catalogue/${id}`], Workflow: [t('Workflows'), (id) => `/app/workflows/${id}`],
  User: [t('People'), () => '/app/people'], Team: [t('Teams'), () => '/app/people'], Organization: [t('Organizations'), () => '/app/organizations'],
};
const foundGroups = new Set(Object.values(kinds).map(([group]) => group));
interface Item { id: string; label: string; hint?: string; group: string; hit?: HitFragment; run: () => void }

const recentKey = 'recent-commands';
const recent = (): string[] => JSON.parse(sessionStorage.getItem(recentKey) ?? '[]') as string[];

// Command begins with what was typed before it was there.
export default function Command({ places, close, begun }: { places: Place[]; close: () => void; begun: string }) {
  const [query, setQuery] = useState(begun);
  const deferred = useDeferredValue(query);
  const navigate = useNavigate();
  const viewer = useViewer();
  const found = useRead(Find, { q: deferred.trim() }, deferred.trim().length < 2);
  const late = deferred !== query || found.behind || (!found.data && !found.fault); // what was found is of another text, or not there yet
  const searching = query.trim().length >= 2 && late;
  const hits = query.trim().length < 2 || late || found.fault ? undefined : found.data?.search; // none of another text: a refused search still holds those
  const buttons = useMemo(() => [...globalThis.document.querySelectorAll<HTMLElement>('#main :is(.actions, .verbs-line) :is(button, a.button):not(:disabled)')].filter((b) => !b.closest('dialog')), []); // not said
  const actions = useMemo(() => shortcuts().filter((s) => !['j', 'k', 'mod+k'].includes(s.keys) && s.group !== t('Go to')), []);

  const items = useMemo(() => {
    const go = (to: string) => () => { void navigate({ to }); };
    const all: Item[] = [
      ...actions.map((s) => ({ id: `do ${s.does}`, label: s.does, hint: keyLabel(s.keys), group: t('Actions'), run: () => { s.run(new KeyboardEvent('keydown')); } })),
      ...buttons.map((b, i) => ({ id: `press ${i} ${b.textContent}`, label: b.textContent.trim(), group: t('Actions'), run: () => { b.click(); } })),
      ...[...places, { label: t('Home'), to: '/app' }, { label: t('Notifications'), to: '/app/notifications' }, ...(can(viewer, 'request.update') ? [{ label: t('Reports'), to: '/app/figures' }] : []), ...subpages.filter((s) => can(viewer, s.verb))].map((p) => ({ id: `go ${p.to}`, label: p.label, group: t('Pages'), run: go(p.to) })),
      ...(hits ?? []).map((h) => ({ id: h.id, label: h.title, hit: h, ...(h.status ? { hint: words(h.status) } : {}), group: kinds[h.type][0], run: h.type === 'User' ? () => { void navigate({ to: '/app/people', search: { q: h.title } as never }); } : go(kinds[h.type][1](h.id)) })), // not said
    ];
    const last = recent();
    const number = /^#?0*([1-9]\d*)$/.exec(query.trim())?.[1]; // of a request, which comes before everything else
    const weight = (i: Item) => (number && String(i.hit?.number) === number ? 1000 : score(i.label, query)) + (last.includes(i.id) ? 5 - last.indexOf(i.id) : 0);
    return all.filter((i) => foundGroups.has(i.group) || score(i.label, query) >= 0).sort((a, b) => weight(b) - weight(a));
  }, [actions, buttons, places, query, hits, navigate, viewer]);

  const order = query.trim() ? [...new Set(items.map((i) => i.group))] : [t('Actions'), t('Pages')];
  const groups = order.map((g) => [g, items.filter((i) => i.group === g)] as const).filter(([, l]) => l.length > 0);
  const refused = query.trim().length >= 2 && !late && found.fault;
  const says = searching ? t('Searching…') : refused ? t('Titles and names could not be searched: {message}', { message: refused.message }) : groups.length === 0 ? t('Nothing was found.') : '';
  const moved = useRef(false); // by the arrows, since something was typed
  const run = (i: Item) => {
    sessionStorage.setItem(recentKey, JSON.stringify([i.id, ...recent().filter((r) => r !== i.id)].slice(0, 5)));
    close();
    setTimeout(i.run); // once the dialog has given the focus back
  };
  return (
    <Dialog title={t('Command menu')} close={close} wide>
      <ComboboxProvider open defaultValue={begun} setValue={(v) => { moved.current = false; setQuery(v); }} setOpen={() => undefined} focusLoop includesBaseElement={false}>
        <Combobox autoSelect="always" placeholder={t('Type a page, an action or a title…')} className="command-input" aria-label={t('Search commands')} autoFocus
          onKeyDown={(e) => {
            if (e.key.startsWith('Arrow')) moved.current = true; // not said
            const best = groups[0]?.[1][0];
            if (e.key === 'Enter' && !moved.current && best) { // not said; whatever is marked on the screen yet
              e.preventDefault();
              run(best);
            }
          }}
        />
        <ComboboxList className="command-list" alwaysVisible aria-label={t('Commands')}>
          {groups.map(([name, list]) => (
            <ComboboxGroup key={name} className="command-group">
              <ComboboxGroupLabel className="command-label">{name}</ComboboxGroupLabel>
              {list.slice(0, 12).map((i) => (
                <ComboboxItem key={i.id} value={i.id} setValueOnClick={false} hideOnClick={false} onClick={() => { run(i); }} className="command-item">
                  {i.hit ? <Hit hit={i.hit} /> : <span>{i.label}</span>}{i.hint && <kbd>{i.hint}</kbd>}
                </ComboboxItem>
              ))}
            </ComboboxGroup>
          ))}
        </ComboboxList>
        <p className="soft command-none" role="status">{says}</p>
      </ComboboxProvider>
    </Dialog>
  );
}

// Hit is what was found, with the text that has the words.
function Hit({ hit: { number, title, marks, excerpt } }: { hit: HitFragment }) {
  return <span className="hit"><span>{number !== null && <span className="number">#{number}</span>} <span dir="auto"><Marked text={title} marks={marks} /></span></span>{excerpt && <span className="soft" dir="auto"><Marked text={excerpt.text} marks={excerpt.marks} /></span>}</span>;
}
