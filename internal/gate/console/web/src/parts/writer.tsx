// writer is where people write at length: Markdown, with buttons for its marks and a look at what it comes to.
import { Bold, Code, Italic, Link, List, TextQuote } from 'lucide-react';
import { useImperativeHandle, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode, type Ref } from 'react';
import { useRead } from '../app/data';
import { t } from '../app/text';
import { RenderMarkdown } from '../gen/documents';
import { Field } from '../ui/field';
import { Loaded } from '../ui/page';
import { useCompletion } from './completion';
import { Prose } from './markdown';
import { marked, type Mark } from './marks';
import { put as placed, type Completion } from './mention';

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
  unlabelled?: boolean; placeholder?: string; completions?: Completion[]; ref?: Ref<Writing>;
}

// Writing puts a text where the cursor stands, or at the end where nobody has written yet.
export interface Writing { insert: (piece: string) => void }

const none: Completion[] = [];

// Writer shows its label, or says it to screen readers alone where what stands around says it as well.
export function Writer({ label, hint, fault, optional, value, set, required, send, unlabelled, placeholder, completions = none, ref }: Props) {
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
  const write = (text: string, at: number) => {
    next.current = { from: at, to: at };
    area.current?.focus();
    set(text);
  };
  const been = useRef(false);
  useImperativeHandle(ref, () => ({
    insert: (piece) => {
      const at = been.current ? area.current : null;
      const now = at ? placed(value, at.selectionStart, at.selectionEnd, piece) : placed(value, value.length, value.length, (value.trim() ? '\n\n' : '') + piece);
      write(now.text, now.at);
    },
  }));
  const completion = useCompletion(area, completions, write);
  const press = (e: KeyboardEvent) => {
    if (completion.press(e)) return;
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
          <textarea ref={area} dir="auto" value={value} placeholder={placeholder} required={required} maxLength={10_000} onChange={(e) => { set(e.target.value); }} onKeyDown={press} onFocus={() => { been.current = true; }} {...completion.area} />
        </Field>
      )}
      {completion.list}
    </div>
  );
}

function Preview({ text }: { text: string }) {
  const read = useRead(RenderMarkdown, { text });
  return <div className="card preview"><Loaded read={read} skeleton={1}>{({ renderMarkdown }) => <Prose content={renderMarkdown}>{text}</Prose>}</Loaded></div>;
}
