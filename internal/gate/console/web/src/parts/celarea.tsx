// celarea is where people write an expression, or a text with expressions in it: it offers what is known there while they write.
import { useId, useLayoutEffect, useRef, useState, type ChangeEvent, type KeyboardEvent, type Ref, type TextareaHTMLAttributes } from 'react';
import { plural, t } from '../app/text';
import { begun, offered, type Word } from './celwords';

const lists = { 'aria-autocomplete': 'list' as const };

interface Open { from: number; list: Word[]; at: number }
interface Props extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'value' | 'onChange'> { value: string; change: (to: string) => void; words: () => readonly Word[]; template?: boolean; ref?: Ref<HTMLTextAreaElement> }

// CelArea keeps the focus in the text: arrows go along the list, Enter, Tab or a press takes one, Escape closes it, and Control and the space
// bar open it.
export function CelArea({ value, change, words, template = false, ref, ...rest }: Props) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const next = useRef<number | null>(null);
  const [open, offer] = useState<Open | null>(null);
  useLayoutEffect(() => {
    if (next.current !== null) area.current?.setSelectionRange(next.current, next.current);
    next.current = null;
  }, [value]);
  const look = (asked: boolean) => {
    const box = area.current;
    const now = box && !box.readOnly && box.selectionStart === box.selectionEnd ? begun(box.value, box.selectionStart, template) : null;
    const list = now && (asked || now.said.length > 1) ? offered(now.said, words()) : [];
    offer(now && list.length > 0 ? { from: now.from, list, at: 0 } : null);
  };
  const take = (one: Word | undefined) => {
    const box = area.current;
    if (!open || !box || !one) return;
    next.current = open.from + one.code.length;
    const to = box.value.slice(0, open.from) + one.code + box.value.slice(box.selectionStart);
    offer(null);
    change(to);
  };
  const press = (e: KeyboardEvent) => {
    if (e.key === ' ' && e.ctrlKey) look(true); // not said
    else if (!open || e.ctrlKey || e.metaKey || e.altKey) return;
    else if (e.key === 'ArrowDown' || e.key === 'ArrowUp') offer({ ...open, at: (open.at + (e.key === 'ArrowDown' ? 1 : -1) + open.list.length) % open.list.length }); // not said
    else if (e.key === 'Enter' || e.key === 'Tab') take(open.list[open.at]); // not said
    else if (e.key === 'Escape') offer(null); // not said
    else return;
    e.preventDefault();
    e.stopPropagation(); // Escape leaves nothing but the list
  };
  const set = (e: ChangeEvent<HTMLTextAreaElement>) => { change(e.target.value); look(false); };
  return (
    <span className="cel-area">
      <textarea
        {...rest} ref={(box) => { area.current = box; if (typeof ref === 'function') ref(box); else if (ref) ref.current = box; }} value={value} spellCheck={false} onChange={set} onKeyDown={press}
        onBlur={() => { offer(null); }} {...lists} {...(open ? { 'aria-controls': id, 'aria-activedescendant': `${id}${open.at}` } : {})}
      />
      <span className="hidden" role="status">{open ? plural(open.list.length, '{n} suggestion', '{n} suggestions') : ''}</span>
      {open && (
        <ul id={id} role="listbox" aria-label={t('What can be written here')} className="mentions">
          {open.list.map((w, i) => (
            <li
              key={w.code} id={`${id}${i}`} role="option" aria-selected={i === open.at} ref={i === open.at ? (at) => { at?.scrollIntoView({ block: 'nearest' }); } : undefined}
              onMouseDown={(e) => { e.preventDefault(); take(w); }}
            ><code>{w.code}</code> {w.label && <span className="soft" dir="auto">{w.label}</span>}</li>
          ))}
        </ul>
      )}
    </span>
  );
}
