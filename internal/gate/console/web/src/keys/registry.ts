// registry knows every shortcut that works now: pages add theirs while they are shown, and the sheet behind ? lists them all.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { t } from '../app/text';

// Shortcut has a name of its own, by which the person's key for it is kept: what it does is said in the language of the page.
export interface Shortcut { name: string; keys: string; does: string; run: (e: KeyboardEvent) => void; group?: string }

type Keys = Record<string, string>;
const kept = (under: string): Keys => {
  try {
    return JSON.parse(localStorage.getItem(under) ?? '{}') as Keys;
  } catch {
    return {};
  }
};

// chosen are the keys that the person has put in place of ours, by the names of the shortcuts: some write by voice, or need these keys
// otherwise. Earlier versions kept them by what they do; those are taken over once the shortcut is there.
let chosen = kept('shortcuts');
let old = kept('keys');
const watchers = new Set<() => void>();
const watch = (w: () => void) => { watchers.add(w); return () => { watchers.delete(w); }; };

function keep(to: Keys): void {
  chosen = to;
  localStorage.setItem('shortcuts', JSON.stringify(chosen));
  watchers.forEach((w) => { w(); });
}

// choose puts other keys in place of ours; without any, all of ours are back.
export function choose(name?: string, keys = ''): void {
  if (name === undefined) {
    old = {};
    localStorage.removeItem('keys');
  }
  keep(name === undefined ? {} : { ...chosen, [name]: keys });
}

// adopt takes over what was kept of some shortcuts by what they do.
export function adopt(list: Pick<Shortcut, 'name' | 'does'>[]): void {
  const found = list.filter((s) => s.does in old);
  if (found.length === 0) return;
  const taken = Object.fromEntries(found.map((s) => [s.name, old[s.does] ?? '']));
  for (const s of found) delete old[s.does];
  localStorage.setItem('keys', JSON.stringify(old));
  keep({ ...taken, ...chosen });
}

// useChosen returns the keys that the person has chosen, by the names of the shortcuts.
export const useChosen = () => useSyncExternalStore(watch, () => chosen);

const scopes: { current: Shortcut[] }[] = [];
export const shortcuts = (): Shortcut[] => scopes.flatMap((s) => s.current).map((s) => ({ ...s, keys: chosen[s.name] ?? s.keys }));

// useKeys adds shortcuts while the component is shown. Keys are as KeyboardEvent.key names them, or two after another: "g i".
export function useKeys(list: Shortcut[], enabled = true): void {
  const scope = useRef(list);
  scope.current = list;
  useEffect(() => {
    if (!enabled) return undefined;
    scopes.push(scope);
    adopt(scope.current);
    return () => { scopes.splice(scopes.indexOf(scope), 1); };
  }, [enabled]);
}

const typing = (t: EventTarget | null) => t instanceof HTMLElement && (t.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName)
  && !(t instanceof HTMLInputElement && ['checkbox', 'radio', 'button'].includes(t.type)));

// nameOf is how a shortcut names the key.
export const nameOf = (e: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>) => (e.ctrlKey || e.metaKey ? `mod+${e.key.toLowerCase()}` : e.key);

let before = '';
let at = 0;

function press(e: KeyboardEvent): void {
  if (e.defaultPrevented || e.isComposing) return;
  const name = nameOf(e);
  const control = name.startsWith('mod+');
  const open = globalThis.document.querySelector('dialog[open]') !== null;
  const combined = control && !e.altKey && shortcuts().some((s) => s.keys === name); // such as Control+A, but not where somebody writes
  if (name !== 'mod+k' && ((control && !combined) || e.altKey || typing(e.target) || open)) return;
  const pressed = e.target instanceof Element ? e.target.closest('button, a, input, summary') : null; // not said; which has a meaning for these keys itself
  if (pressed && (name === 'Enter' || (name === ' ' && pressed.tagName !== 'A'))) return; // not said
  // What was added last counts, and a page before what works everywhere.
  const all = shortcuts().reverse().sort((a, b) => Number(a.group === t('Everywhere')) - Number(b.group === t('Everywhere')));
  const begun = name.length === 1 && Date.now() - at < 1000 ? before : '';
  if (!e.repeat) before = begun === '' && all.some((s) => s.keys.startsWith(`${name} `)) ? name : ''; // g that is held still begins one sequence
  at = Date.now();
  const hit = all.find((s) => s.keys === (begun === '' ? name : `${begun} ${name}`)); // a sequence that leads nowhere does nothing
  if (!hit) return;
  e.preventDefault();
  if (!e.repeat || ['next-row', 'previous-row'].includes(hit.name)) hit.run(e); // a key that is held does a thing once, but goes along the rows
}

export function listen(): void {
  globalThis.document.addEventListener('keydown', press);
}

const onMac = () => navigator.platform.startsWith('Mac'); // not said

export const keyLabel = (keys: string) => keys.replace(/mod\+(\w)/, (_all, k: string) => `${onMac() ? '⌘' : t('Ctrl')} ${k.toUpperCase()}`).replace(/^Escape$/, t('Esc')).replace(/^ $/, t('Space'));
