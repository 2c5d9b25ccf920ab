// outline shows the phases in their order, each way out of a decision as a lane. By the keyboard it is the whole editor.
import { Plus } from 'lucide-react';
import { memo, useCallback, useEffect, useRef, useState, type ClipboardEvent, type KeyboardEvent } from 'react';
import { plural, t } from '../../../app/text';
import { phaseType } from '../../../ui/bits';
import { opens } from '../../../parts/blocks';
import { branchSaid } from '../../../parts/branch';
import { mainOf, phaseOf, type Definition, type Exit, type Phase } from './definition';
import { branchIn, called, exitName, kinds, long, who } from './kinds';
import { flat, ordered, outlined, type Entry } from './lanes';
import { lastOf } from './edit';
import { titled } from './known';
import type { Builder } from './use';

interface Props { builder: Builder; faults: Map<string, string[]>; names: Map<string, string>; readOnly: boolean; ask: (at: Exit | null) => void; open: (id: string) => void }

const behind = (d: Definition, id: string) => { const p = phaseOf(d, id); return p ? lastOf(p) : id; };

// exitOf is where something is added after a phase.
export const exitOf = (d: Definition, id: string): Exit => ({ from: id, name: mainOf(d, id)?.name ?? 'next' });

export function Outline({ builder: { acts, definition, selected }, faults, names, readOnly, ask, open }: Props) {
  const { entries, loose } = outlined(definition);
  const order = ordered(definition).map((p) => p.id);
  const [at, setAt] = useState('');
  const here = order.includes(at) ? at : selected || order[0] || '';
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => { if (selected) setAt(selected); }, [selected]);
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
    const does: (() => void) | undefined = e.altKey && e.key === 'ArrowDown' ? () => { if (!readOnly) acts.move(here, 1); }
      : e.altKey && e.key === 'ArrowUp' ? () => { if (!readOnly) acts.move(here, -1); }
      : plain && ['j', 'ArrowDown'].includes(e.key) ? () => { go(order[i + 1]); }
      : plain && ['k', 'ArrowUp'].includes(e.key) ? () => { go(order[i - 1]); }
      : plain && e.key === 'Home' ? () => { go(order[0]); } // not said
      : plain && e.key === 'End' ? () => { go(order.at(-1)); } // not said
      : plain && !readOnly && e.key === '/' ? () => { acts.select(here); ask(null); }
      : plain && !readOnly && ['Delete', 'Backspace'].includes(e.key) ? () => { acts.remove(here); } // not said
      : control && !readOnly && e.key.toLowerCase() === 'z' ? (e.shiftKey ? acts.redo : acts.undo)
      : control && !readOnly && e.key.toLowerCase() === 'y' ? acts.redo : undefined;
    if (!does) return;
    e.preventDefault();
    e.stopPropagation();
    does();
  };
  const copy = (e: ClipboardEvent) => {
    if (globalThis.getSelection()?.toString()) return;
    e.preventDefault();
    e.clipboardData.setData('text/plain', acts.copy(here));
  };
  const paste = (e: ClipboardEvent) => {
    if (readOnly) return;
    e.preventDefault();
    acts.paste(e.clipboardData.getData('text/plain'), exitOf(definition, behind(definition, here)));
  };
  const add = useCallback((exit: Exit) => { ask(exit); }, [ask]);
  // listed places phases and their lanes. What is drawn of each is a part of its own, which is drawn anew only for what changed.
  const listed = (of: Entry[], depth = 0) => of.map(({ phase: p, lanes, on }) => {
    const reach = here === p.id ? 0 : -1; // by Tab one comes to one phase and its own buttons alone
    const block = opens(p);
    return (
      <li key={p.id}>
        <Step phase={p} who={who(p, names)} bad={faults.get(p.id)?.join('\n') ?? ''} selected={selected === p.id} reach={reach} open={open} setAt={setAt} on={on && !readOnly ? on.name : ''} ends={on?.to === undefined} add={add} />
        {lanes.length > 0 && (
          <ul className={`lanes${block ? ' branches' : ''}`} aria-label={block ? t('Branches of “{name}”', { name: titled(p) }) : t('Outcomes of “{name}”', { name: titled(p) })}>
            {lanes.map(({ exit, entries: inside }) => (
              <li key={exit.name} className="lane">
                <Head phase={p} name={exit.name} depth={depth} n={block ? flat(inside).filter((x) => x.type !== 'JOIN').length : -1} to={inside.length > 0 ? '' : exit.to === undefined ? t('nowhere yet') : block ? '' : called(definition, exit.to)} reach={reach} add={readOnly ? undefined : add} />
                {inside.length > 0 && <ol className="entries">{listed(inside, block ? depth + 1 : depth)}</ol>}
              </li>
            ))}
            {block && !readOnly && branchIn(definition, p) && <li><button type="button" className="quiet small" tabIndex={reach} onClick={() => { acts.branch(p.id); }}><Plus size={14} aria-hidden /> {t('Add branch')}</button></li>}
          </ul>
        )}
      </li>
    );
  });
  return (
    <div ref={box} className="outline" onKeyDown={press} onCopy={copy} onPaste={paste}>
      <ol className="entries" aria-label={t('Phases')}>{listed(entries)}</ol>
      {loose.length > 0 && <><h3 className="loose">{t('Nothing leads here yet')}</h3><ol className="entries" aria-label={t('Phases to which nothing leads')}>{listed(loose)}</ol></>}
    </div>
  );
}

// StepProps are those of a phase. on is the way by which it goes on to what stands below it, '' where nothing is added there.
interface StepProps { phase: Phase; who: string; bad: string; selected: boolean; reach: number; open: (id: string) => void; setAt: (id: string) => void; on: string; ends: boolean; add: (at: Exit) => void }

const Step = memo(function Step({ phase: p, who, bad, selected, reach, open, setAt, on, ends, add }: StepProps) {
  const Icon = kinds[p.type]?.icon;
  const name = titled(p);
  return (
    <>
      <div className={`step${selected ? ' selected' : ''}${bad ? ' faulty' : ''}`}>
        <button type="button" className="phase" data-phase={p.id} tabIndex={reach} aria-current={selected || undefined} onFocus={() => { setAt(p.id); }} onClick={() => { open(p.id); }}>
          {Icon && <Icon size={16} aria-hidden />}<span className="grow"><strong dir="auto">{name}</strong><span className="soft small-text">{[phaseType(p.type), who, long(p)].filter(Boolean).join(' · ')}</span></span>
        </button>
        {bad && bad.split('\n').map((m) => <p key={m} className="fault">{m}</p>)}
      </div>
      {on && <Add label={ends ? t('Add a phase at the open end of “{name}”', { name }) : t('Add a phase after “{name}”', { name })} reach={reach} press={() => { add({ from: p.id, name: on }); }} />}
    </>
  );
});

interface HeadProps { phase: Phase; name: string; depth: number; n: number; to: string; reach: number; add: ((at: Exit) => void) | undefined }

// Head is that of a lane. to is where an empty one leads, n how many phases stand in a branch; depth is that of its block among others.
const Head = memo(function Head({ phase, name, depth, n, to, reach, add }: HeadProps) {
  const way = exitName(phase, name);
  const Title = depth === 0 ? 'h2' : depth === 1 ? 'h3' : 'h4';
  return (
    <div className="lane-head">
      {n < 0 ? <span className="lane-name" dir="auto">{way}</span> : (
        <Title>
          <span className="hidden">{phase.type === 'FOR_EACH' ? plural(n, 'For each entry, {n} phase', 'For each entry, {n} phases') : plural(n, '{branch}, {n} phase', '{branch}, {n} phases', { branch: branchSaid(name) })}</span>
          <span className="lane-name" dir="auto" aria-hidden>{way}</span>
        </Title>
      )}
      {n >= 0 && <span className="soft small-text" aria-hidden>{plural(n, '{n} phase', '{n} phases')}</span>}
      {to && <span className="soft small-text" dir="auto">→ {to}</span>}
      {add && <Add label={t('Add a phase at “{way}” of “{name}”', { way, name: titled(phase) })} reach={reach} press={() => { add({ from: phase.id, name }); }} />}
    </div>
  );
});

function Add({ label, reach, press }: { label: string; reach: number; press: () => void }) {
  return <button type="button" className="icon add" aria-label={label} title={label} tabIndex={reach} onClick={press}><Plus size={14} aria-hidden /></button>;
}
