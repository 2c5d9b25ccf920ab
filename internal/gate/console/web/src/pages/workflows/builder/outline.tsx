// outline shows the phases in their order, each way out of a decision as a lane. By the keyboard it is the whole editor.
import { Plus } from 'lucide-react';
import { useEffect, useRef, useState, type ClipboardEvent, type KeyboardEvent } from 'react';
import { t } from '../../../app/text';
import { phaseType } from '../../../ui/bits';
import { mainOf, type Exit } from './definition';
import { called, kinds, long, wayName, who } from './kinds';
import { flat, outlined, type Entry } from './lanes';
import { titled } from './known';
import type { Builder } from './use';

interface Props { builder: Builder; faults: Map<string, string[]>; names: Map<string, string>; readOnly: boolean; ask: (at: Exit | null) => void; open: (id: string) => void }

// exitOf is where something is added after a phase.
export const exitOf = (b: Builder, id: string): Exit => ({ from: id, name: mainOf(b.definition, id)?.name ?? 'next' });

export function Outline({ builder: b, faults, names, readOnly, ask, open }: Props) {
  const { entries, loose } = outlined(b.definition);
  const order = flat([...entries, ...loose]).map((p) => p.id);
  const [at, setAt] = useState('');
  const here = order.includes(at) ? at : b.selected || order[0] || '';
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => { if (b.selected) setAt(b.selected); }, [b.selected]);
  const go = (to: string | undefined) => {
    if (to === undefined) return;
    setAt(to);
    const e = box.current?.querySelector<HTMLElement>(`[data-phase="${CSS.escape(to)}"]`);
    e?.focus();
    e?.scrollIntoView({ block: 'nearest' });
  };
  const press = (e: KeyboardEvent) => {
    const i = order.indexOf(here);
    const [control, plain] = [e.ctrlKey || e.metaKey, !e.ctrlKey && !e.metaKey && !e.altKey];
    const does: (() => void) | undefined = e.altKey && e.key === 'ArrowDown' ? () => { if (!readOnly) b.move(here, 1); }
      : e.altKey && e.key === 'ArrowUp' ? () => { if (!readOnly) b.move(here, -1); }
      : plain && ['j', 'ArrowDown'].includes(e.key) ? () => { go(order[i + 1]); }
      : plain && ['k', 'ArrowUp'].includes(e.key) ? () => { go(order[i - 1]); }
      : plain && e.key === 'Home' ? () => { go(order[0]); } // not said
      : plain && e.key === 'End' ? () => { go(order.at(-1)); } // not said
      : plain && !readOnly && e.key === '/' ? () => { b.select(here); ask(null); }
      : plain && !readOnly && ['Delete', 'Backspace'].includes(e.key) ? () => { b.remove(here); } // not said
      : control && !readOnly && e.key.toLowerCase() === 'z' ? (e.shiftKey ? b.redo : b.undo)
      : control && !readOnly && e.key.toLowerCase() === 'y' ? b.redo : undefined;
    if (!does) return;
    e.preventDefault();
    e.stopPropagation();
    does();
  };
  const copy = (e: ClipboardEvent) => {
    if (globalThis.getSelection()?.toString()) return;
    e.preventDefault();
    e.clipboardData.setData('text/plain', b.copy(here));
  };
  const paste = (e: ClipboardEvent) => {
    if (readOnly) return;
    e.preventDefault();
    b.paste(e.clipboardData.getData('text/plain'), exitOf(b, here));
  };
  const shared = { b, faults, names, readOnly, ask, open, here, setAt };
  return (
    <div ref={box} className="outline" onKeyDown={press} onCopy={copy} onPaste={paste}>
      <ol className="entries" aria-label={t('Phases')}>{entries.map((e) => <Item key={e.phase.id} entry={e} {...shared} />)}</ol>
      {loose.length > 0 && <><h3 className="loose">{t('Nothing leads here yet')}</h3><ol className="entries" aria-label={t('Phases to which nothing leads')}>{loose.map((e) => <Item key={e.phase.id} entry={e} {...shared} />)}</ol></>}
    </div>
  );
}

interface ItemProps { entry: Entry; b: Builder; faults: Map<string, string[]>; names: Map<string, string>; readOnly: boolean; ask: (at: Exit) => void; open: (id: string) => void; here: string; setAt: (id: string) => void }

function Item({ entry: { phase: p, lanes, on }, ...rest }: ItemProps) {
  const { b, faults, names, readOnly, ask, open, here, setAt } = rest;
  const Icon = kinds[p.type]?.icon;
  const bad = faults.get(p.id);
  const about = [phaseType(p.type), who(p, names), long(p)].filter(Boolean).join(' · ');
  const reach = here === p.id ? 0 : -1; // by Tab one comes to one phase and its own buttons alone
  return (
    <li>
      <div className={`step${b.selected === p.id ? ' selected' : ''}${bad ? ' faulty' : ''}`}>
        <button type="button" className="phase" data-phase={p.id} tabIndex={reach} aria-current={b.selected === p.id || undefined} onFocus={() => { setAt(p.id); }} onClick={() => { open(p.id); }}>
          {Icon && <Icon size={16} aria-hidden />}<span className="grow"><strong dir="auto">{titled(p)}</strong><span className="soft small-text">{about}</span></span>
        </button>
        {bad?.map((m) => <p key={m} className="fault">{m}</p>)}
      </div>
      {on && !readOnly && <Add label={on.to === undefined ? t('Add a phase at the open end of “{name}”', { name: titled(p) }) : t('Add a phase after “{name}”', { name: titled(p) })} reach={reach} press={() => { ask({ from: p.id, name: on.name }); }} />}
      {lanes.length > 0 && (
        <ul className="lanes" aria-label={t('Ways out of “{name}”', { name: titled(p) })}>
          {lanes.map(({ exit, entries }) => (
            <li key={exit.name} className="lane">
              <p className="lane-head">
                <span className="lane-name" dir="auto">{wayName(exit.name)}</span>
                {entries.length === 0 && <span className="soft small-text" dir="auto">→ {exit.to === undefined ? t('nowhere yet') : called(b.definition, exit.to)}</span>}
                {!readOnly && <Add label={t('Add a phase at “{way}” of “{name}”', { way: wayName(exit.name), name: titled(p) })} reach={reach} press={() => { ask({ from: exit.from, name: exit.name }); }} />}
              </p>
              {entries.length > 0 && <ol className="entries">{entries.map((e) => <Item key={e.phase.id} entry={e} {...rest} />)}</ol>}
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Add({ label, reach, press }: { label: string; reach: number; press: () => void }) {
  return <button type="button" className="icon add" aria-label={label} title={label} tabIndex={reach} onClick={press}><Plus size={14} aria-hidden /></button>;
}
