// writer is where people write at length: Markdown, with buttons for its marks and a look at what it comes to.
import { Bold, Code, Italic, Link, List, TextQuote } from 'lucide-react';
import { useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useRead } from '../app/data';
import { t } from '../app/text';
import { RenderMarkdown } from '../gen/documents';
import { Field } from '../ui/field';
import { Loaded } from '../ui/page';
import { Prose } from './markdown';
import { marked, type Mark } from './marks';

const marks: (Mark & { says: string; icon: typeof Bold; key?: string })[] = [
  { says: t('Bold'), icon: Bold, wrap: ['**', '**'], key: 'b' },
  { says: t('Italic'), icon: Italic, wrap: ['*', '*'], key: 'i' },
  { says: t('Code'), icon: Code, wrap: ['`', '`'] },
  { says: t('Link'), icon: Link, wrap: ['[', '](https://)'] },
  { says: t('List'), icon: List, line: '- ' },
  { says: t('Quote'), icon: TextQuote, line: '> ' },
];

interface Props { label: string; hint?: ReactNode; fault?: string | undefined; optional?: boolean; value: string; set: (to: string) => void; required?: boolean; send?: () => void }

export function Writer({ label, hint, fault, optional, value, set, required, send }: Props) {
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
  const press = (e: KeyboardEvent) => {
    if (!e.ctrlKey && !e.metaKey) return;
    const mark = marks.find((m) => m.key === e.key);
    if (mark || (e.key === 'Enter' && send)) e.preventDefault(); // not said
    if (mark) put(mark);
    else if (e.key === 'Enter' && !e.repeat) send?.(); // not said
  };
  return (
    <div className="writer">
      <div className="line">
        <div role="toolbar" aria-label={t('Formatting')} className="line">
          {marks.map((m) => <button key={m.says} type="button" className="icon" title={m.says} aria-label={m.says} disabled={look} onClick={() => { put(m); }}><m.icon size={15} aria-hidden /></button>)}
        </div>
        <span className="grow" />
        <button type="button" className="quiet small" aria-pressed={look} onClick={() => { setLook(!look); }}>{t('Preview')}</button>
      </div>
      {look ? <Preview text={value} /> : (
        <Field label={label} hint={hint} fault={fault} {...(optional ? { optional } : {})}>
          <textarea ref={area} dir="auto" value={value} required={required} maxLength={10_000} onChange={(e) => { set(e.target.value); }} onKeyDown={press} />
        </Field>
      )}
    </div>
  );
}

function Preview({ text }: { text: string }) {
  const read = useRead(RenderMarkdown, { text });
  return <div className="card preview"><Loaded read={read} skeleton={1}>{({ renderMarkdown }) => <Prose content={renderMarkdown}>{text}</Prose>}</Loaded></div>;
}
