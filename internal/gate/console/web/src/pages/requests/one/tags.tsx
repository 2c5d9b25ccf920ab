// tags are changed one by one: each can be taken off, and one is added by a line such as env=production.
import { X } from 'lucide-react';
import { useRef, useState, type FormEvent } from 'react';
import { t } from '../../../app/text';
import { tagsOf, textOf } from '../../../ui/tags';
import type { FullRequest } from '../detail';
import { useChange } from '../verbs';

export function Tags({ request: r, edit }: { request: FullRequest; edit: boolean }) {
  const tags = r.tags as Record<string, string>;
  const change = useChange();
  const [line, set] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const save = (to: Record<string, string>) => { void change(r, { tags: to }, t('The tags were changed.')); };
  const add = (e: FormEvent) => {
    e.preventDefault();
    if (line.trim()) save(tagsOf(`${textOf(tags)}\n${line.trim()}`, tags));
    set('');
  };
  const off = (key: string) => {
    const { [key]: _gone, ...rest } = tags;
    field.current?.focus(); // for the button goes
    save(rest);
  };
  if (!edit && Object.keys(tags).length === 0) return null;
  return (
    <div>
      <dt>{t('Tags')}</dt>
      <dd className="chips">
        {Object.entries(tags).map(([k, v]) => {
          const says = v ? `${k}=${v}` : k;
          return <span key={k} className="chip" dir="auto">{says}{edit && <button type="button" className="icon" aria-label={t('Remove {tag}', { tag: says })} onClick={() => { off(k); }}><X size={12} aria-hidden /></button>}</span>;
        })}
        {edit && <form onSubmit={add}><input ref={field} className="plainly" dir="auto" aria-label={t('Add a tag')} placeholder={t('Add a tag')} title={t('One per line, such as env=production.')} maxLength={321} value={line} onChange={(e) => { set(e.target.value); }} /></form>}
      </dd>
    </div>
  );
}
