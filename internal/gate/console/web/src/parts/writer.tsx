// writer is where people write at length: Markdown, with buttons for its marks and a look at what it comes to.
import { Bold, Code, Italic, Link, List, TextQuote } from 'lucide-react';
import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useRead } from '../app/data';
import { t } from '../app/text';
import { RenderMarkdown } from '../gen/documents';
import { Field } from '../ui/field';
import { Loaded } from '../ui/page';
import { Prose } from './markdown';
import { marked, type Mark } from './marks';
import { asked, put as mention, type Mentions } from './mention';

const marks: (Mark & { says: string; icon: typeof Bold; key?: string })[] = [
  { says: t('Bold'), icon: Bold, wrap: ['**', '**'], key: 'b' },
  { says: t('Italic'), icon: Italic, wrap: ['*', '*'], key: 'i' },
  { says: t('Code'), icon: Code, wrap: ['`', '`'] },
  { says: t('Link'), icon: Link, wrap: ['[', '](https://)'] },
  { says: t('List'), icon: List, line: '- ' },
  { says: t('Quote'), icon: TextQuote, line: '> ' },
];

interface Props {
  label: string; hint?: ReactNode; fault?: string | undefined; optional?: boolean; value: string; set: (to: string) => void; required?: boolean; send?: () => void;
  unlabelled?: boolean; placeholder?: string; mentions?: Mentions | undefined;
}

// Writer shows its label, or says it to screen readers alone where what stands around says it as well.
export function Writer({ label, hint, fault, optional, value, set, required, send, unlabelled, placeholder, mentions }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const next = useRef<{ from: number; to: number } | null>(null);
  const [look, setLook] = useState(false);
  useLayoutEffect(() => {
    if (next.current) area.current?.setSelectionRange(next.current.from, next.current.to);
    next.current = null;
  }, [value]);
  const put = (mark: Mark) => {
    const at = area.current;
    if (!at) return;
    const now = marked(value, at.selectionStart, at.selectionEnd, mark);
    next.current = now;
    at.focus();
    set(now.text);
  };
  const people = useMentioned(area, mentions, value, (to, at) => {
    next.current = { from: at, to: at };
    area.current?.focus();
    set(to);
  });
  const press = (e: KeyboardEvent) => {
    if (people.press(e)) return;
    if (!e.ctrlKey && !e.metaKey) return;
    const mark = marks.find((m) => m.key === e.key);
    if (mark || (e.key === 'Enter' && send)) e.preventDefault(); // not said
    if (mark) put(mark);
    else if (e.key === 'Enter' && !e.repeat) send?.(); // not said
  };
  return (
    <div className={`writer${unlabelled ? ' unlabelled' : ''}`}>
      <div className="line">
        <div role="toolbar" aria-label={t('Formatting')} className="line">
          {marks.map((m) => <button key={m.says} type="button" className="icon" title={m.says} aria-label={m.says} disabled={look} onClick={() => { put(m); }}><m.icon size={15} aria-hidden /></button>)}
        </div>
        <span className="grow" />
        <button type="button" className="quiet small" aria-pressed={look} onClick={() => { setLook(!look); }}>{t('Preview')}</button>
      </div>
      {look ? <Preview text={value} /> : (
        <Field label={label} hint={hint} fault={fault} {...(optional ? { optional } : {})}>
          <textarea ref={area} dir="auto" value={value} placeholder={placeholder} required={required} maxLength={10_000} onChange={(e) => { set(e.target.value); }} onKeyDown={press} {...people.area} />
        </Field>
      )}
      {people.list}
    </div>
  );
}

interface Offered { from: number; q: string; list: { name: string; text: string }[]; at: number }

// useMentioned offers people while somebody types of a mention. The focus stays in the text; arrows go along the list, and Enter, Tab
// or a press takes one.
function useMentioned(area: { current: HTMLTextAreaElement | null }, find: Mentions | undefined, value: string, set: (to: string, at: number) => void) {
  const id = useId();
  const [offered, offer] = useState<Offered | null>(null);
  const asking = useRef(0);
  const look = () => {
    const at = area.current;
    const now = find && at && at.selectionStart === at.selectionEnd ? asked(at.value, at.selectionStart) : null;
    const mine = ++asking.current;
    if (!now || !find) offer(null);
    else void find(now.q).then((list) => { if (mine === asking.current) offer(list.length > 0 ? { ...now, list, at: 0 } : null); });
  };
  const take = (i: number) => {
    const one = offered?.list[i];
    if (!offered || !one) return;
    const to = mention(value, offered.from, area.current?.selectionStart ?? value.length, one.text);
    offer(null);
    set(to.text, to.at);
  };
  const press = (e: KeyboardEvent): boolean => {
    if (!offered || e.ctrlKey || e.metaKey) return false;
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by) offer({ ...offered, at: (offered.at + by + offered.list.length) % offered.list.length });
    else if (e.key === 'Enter' || e.key === 'Tab') take(offered.at); // not said
    else if (e.key === 'Escape') offer(null); // not said
    else return false;
    e.preventDefault();
    e.stopPropagation(); // Escape leaves nothing but the list
    return true;
  };
  return {
    press,
    area: find ? { 'aria-autocomplete': 'list' as const, onBlur: () => { offer(null); }, onSelect: look, ...(offered ? { 'aria-controls': id, 'aria-activedescendant': `${id}${offered.at}` } : {}) } : {},
    list: offered && (
      <ul id={id} role="listbox" aria-label={t('People to mention')} className="mentions">
        {offered.list.map((p, i) => (
          <li key={p.text} id={`${id}${i}`} role="option" aria-selected={i === offered.at} onMouseDown={(e) => { e.preventDefault(); take(i); }}><strong dir="auto">{p.name}</strong> {p.text.includes('@') && <span className="soft">{p.text}</span>}</li>
        ))}
      </ul>
    ),
  };
}

function Preview({ text }: { text: string }) {
  const read = useRead(RenderMarkdown, { text });
  return <div className="card preview"><Loaded read={read} skeleton={1}>{({ renderMarkdown }) => <Prose content={renderMarkdown}>{text}</Prose>}</Loaded></div>;
}
