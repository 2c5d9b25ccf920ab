import { Link } from '@tanstack/react-router';
import { FilePlus2, Search } from 'lucide-react';
import { useDeferredValue, useRef, type KeyboardEvent } from 'react';
import { rows, useRead } from '../../app/data';
import { finds } from '../../app/fold';
import { plural, t } from '../../app/text';
import { HomeFind } from '../../gen/documents';
import { useKeys } from '../../keys/registry';
import type { useOfferingChoices } from '../../parts/choices';
import { Badge } from '../../ui/bits';
import { Marked } from '../../ui/marked';

const most = 8; // of each kind

interface Props { q: string; set: (q: string) => void; catalogue: ReturnType<typeof useOfferingChoices> }

// Finder finds what can be asked for, and what somebody has asked for. Enter opens the first, the arrows go along.
export function Finder({ q, set, catalogue }: Props) {
  const box = useRef<HTMLElement>(null);
  const asked = useDeferredValue(q.trim());
  const read = useRead(HomeFind, { q: asked }, asked.length < 2);
  const on = q.trim().length > 0;
  const late = asked.length >= 2 && (asked !== q.trim() || read.behind || (!read.data && !read.fault));
  const offers = on ? catalogue.flatMap((s) => rows(s.offerings).filter((o) => finds([o.name, o.description, s.name].join(' '), q.trim())).map((o) => ({ ...o, of: s.name }))) : [];
  const found = on && !late && asked.length >= 2 ? read.data?.search ?? [] : [];
  const n = Math.min(offers.length, most) + found.length;
  useKeys([{ name: 'find', keys: '/', does: t('Search the catalogue and your requests'), run: () => { box.current?.querySelector('input')?.focus(); } }]);
  const links = () => [...box.current?.querySelectorAll<HTMLElement>('.results a') ?? []]; // not said
  const press = (e: KeyboardEvent) => {
    const input = box.current?.querySelector('input');
    if (e.key === 'Escape' && on) { // not said
      e.stopPropagation();
      set('');
      input?.focus();
    } else if (e.key === 'Enter' && e.target === input) { // not said
      e.preventDefault();
      links()[0]?.click();
    } else if (e.key === 'ArrowDown' || e.key === 'ArrowUp') { // not said
      e.preventDefault();
      const all = [input, ...links()];
      const at = all.findIndex((l) => l === globalThis.document.activeElement);
      all[Math.max(0, Math.min(all.length - 1, at + (e.key === 'ArrowDown' ? 1 : -1)))]?.focus(); // not said
    }
  };
  return (
    <search className="finder big" ref={box} onKeyDown={press}>
      <label className="hidden" htmlFor="finder">{t('Search the catalogue and your requests')}</label>
      <Search size={18} aria-hidden />
      <input id="finder" type="search" dir="auto" autoComplete="off" placeholder={t('What do you need?')} value={q} onChange={(e) => { set(e.target.value); }} />
      <p className="hidden" role="status">{on && !late ? n === 0 ? t('Nothing was found.') : plural(n, '{n} result', '{n} results') : ''}</p>
      {on && (
        <div className="results">
          {offers.length > 0 && <><h2>{t('Catalogue')}</h2><ul className="rows">{offers.slice(0, most).map((o) => <li key={o.id} className="row"><div><Link className="name" dir="auto" to="/app/catalogue/$id" params={{ id: o.id }}>{o.name}</Link><div className="meta"><span dir="auto">{o.of}</span>{o.description && <span dir="auto">{o.description}</span>}</div></div><FilePlus2 size={16} aria-hidden /></li>)}</ul></>}
          {found.length > 0 && <><h2>{t('Your requests')}</h2><ul className="rows">{found.map((r) => <li key={r.id} className="row"><div><Link className="name" dir="auto" to="/app/requests/$id" params={{ id: r.id }}><Marked text={r.title} marks={r.marks} /></Link><div className="meta">{r.status && <Badge value={r.status} />}{r.number !== null && <span>#{r.number}</span>}{r.excerpt && <span dir="auto"><Marked text={r.excerpt.text} marks={r.excerpt.marks} /></span>}</div></div></li>)}</ul></>}
          {late && offers.length === 0 && <p className="nothing">{t('Searching…')}</p>}
          {!late && n === 0 && <p className="nothing">{t('Nothing was found.')} <Link to="/app/catalogue">{t('Open the catalogue')}</Link></p>}
        </div>
      )}
    </search>
  );
}
