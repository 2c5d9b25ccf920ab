// completion is the list that opens under what somebody writes, once they have begun something that can be completed.
import { useId, useRef, useState, type KeyboardEvent } from 'react';
import { asked, put, type Completion, type Offered } from './mention';

interface Open { by: Completion; from: number; q: string; list: Offered[]; at: number }

// useCompletion offers what was begun. The focus stays in the text; arrows go along the list, Enter, Tab or a press takes one, Escape
// closes it until something else is begun. `set` is given the text with what was taken, and where one writes on.
export function useCompletion(area: { current: HTMLTextAreaElement | null }, by: Completion[], set: (to: string, at: number) => void) {
  const id = useId();
  const [open, offer] = useState<Open | null>(null);
  const asking = useRef(0);
  const left = useRef(-1); // where it was closed by Escape
  const look = () => {
    const at = area.current;
    const now = at && at.selectionStart === at.selectionEnd ? asked(at.value, at.selectionStart, by.map((b) => b.sign)) : null;
    const mine = ++asking.current;
    const one = by.find((b) => b.sign === now?.sign);
    if (now?.from !== left.current) left.current = -1;
    if (!now || !one || left.current >= 0) offer(null);
    else void one.find(now.q).then((list) => { if (mine === asking.current) offer(list.length > 0 ? { ...now, by: one, list, at: 0 } : null); });
  };
  const take = async (i: number) => {
    const one = open?.list[i];
    const at = area.current;
    if (!open || !one || !at) return;
    const [was, to] = [at.value, at.selectionStart];
    asking.current++;
    offer(null);
    const piece = await one.put();
    if (piece === null || at.value !== was) return; // somebody wrote on meanwhile
    const now = put(was, open.from, to, piece);
    set(now.text, now.at);
  };
  const press = (e: KeyboardEvent): boolean => {
    if (!open || e.ctrlKey || e.metaKey) return false;
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by) offer({ ...open, at: (open.at + by + open.list.length) % open.list.length });
    else if (e.key === 'Enter' || e.key === 'Tab') void take(open.at); // not said
    else if (e.key === 'Escape') { // not said
      left.current = open.from;
      offer(null);
    } else return false;
    e.preventDefault();
    e.stopPropagation(); // Escape leaves nothing but the list
    return true;
  };
  const active = open && `${id}${open.at}`;
  return {
    press,
    area: by.length > 0 ? { 'aria-autocomplete': 'list' as const, onBlur: () => { asking.current++; offer(null); }, onSelect: look, ...(active ? { 'aria-controls': id, 'aria-activedescendant': active } : {}) } : {},
    list: open && (
      <ul id={id} role="listbox" aria-label={open.by.label} className="mentions">
        {open.list.map((o, i) => (
          <li
            key={o.id} id={`${id}${i}`} role="option" aria-selected={i === open.at} ref={i === open.at ? (at) => { at?.scrollIntoView({ block: 'nearest' }); } : undefined}
            onMouseDown={(e) => { e.preventDefault(); void take(i); }}
          ><strong dir="auto">{o.name}</strong> {o.soft && <span className="soft" dir="auto">{o.soft}</span>}</li>
        ))}
      </ul>
    ),
  };
}
