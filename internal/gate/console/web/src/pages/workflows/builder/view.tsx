// view is the builder: the outline and the picture of one definition, and beside them the form of the selected phase.
import { Copy, Redo2, Trash2, Undo2, X } from 'lucide-react';
import { useState, type KeyboardEvent } from 'react';
import { plural, t } from '../../../app/text';
import { drawable, Picture } from '../../../parts/picture';
import { phaseType } from '../../../ui/bits';
import { focusSoon } from '../../../ui/focus';
import { useAgentChoices, usePersonChoices, useTeamChoices } from '../../../parts/choices';
import { toast } from '../../../ui/toast';
import { allExits, phaseOf, type Definition, type Exit, type Phase } from './definition';
import { called, wayName } from './kinds';
import { titled } from './known';
import { exitOf, Outline } from './outline';
import { adds, Palette, type Choice } from './palette';
import { PhaseForm } from './phase';
import type { Problem } from './shape';
import { useBuilder, focusPhase, type Builder as Made } from './use';
import { wantingIn } from './wants';
import { Ways } from './ways';
import './builder.css';

// A Found is what is wrong in a phase, or, with no id, in the whole.
export interface Found extends Problem { id: string }

interface Props { text: string; change: (text: string) => void; found: Found[]; readOnly: boolean; fresh: boolean }

// wanting are the ways out of a definition that lead nowhere.
const wanting = (d: Definition) => d.phases.flatMap((p) => allExits(d, p).filter((e) => e.to === undefined));

export default function Builder({ text, change, found, readOnly, fresh }: Props) {
  const b = useBuilder(text, change);
  if (!b) return <p className="notice">{t('The definition cannot be shown as phases at the moment. Mend it as JSON.')}</p>;
  return <Parts b={b} found={found} readOnly={readOnly} fresh={fresh} />;
}

function Parts({ b, found, readOnly, fresh }: { b: Made; found: Found[]; readOnly: boolean; fresh: boolean }) {
  const { definition: d } = b;
  const [asking, ask] = useState<{ at: Exit | null } | null>(null);
  const names = new Map([...usePersonChoices(), ...useTeamChoices(), ...useAgentChoices()].map((x) => [x.id, x.name]));
  const open = wanting(d);
  const problems: Found[] = [...open.map((e) => ({ id: e.from, path: '', message: t('The way out “{way}” leads nowhere yet.', { way: wayName(e.name) }) })), ...wantingIn(d, found), ...found];
  const faults = new Map<string, string[]>();
  for (const p of problems) faults.set(p.id, [...(faults.get(p.id) ?? []), p.message]);
  const selected = phaseOf(d, b.selected);
  const openForm = (id: string) => { b.select(id); focusSoon(() => globalThis.document.querySelector<HTMLElement>('.builder-side .phase-form :is(input, select, textarea)') ?? globalThis.document.querySelector<HTMLElement>('.builder-side button')); }; // not said
  const lead = (p: Found) => { b.select(p.id); focusSoon(() => globalThis.document.querySelector<HTMLElement>('.builder-side :is([aria-invalid=true], .faulty :is(input, select, textarea, button), input, select)')); }; // not said
  const keys = (e: KeyboardEvent) => {
    if (e.key === 'Escape' && selected && !e.defaultPrevented && (e.target as HTMLElement).closest('.builder-side') && !(e.target as HTMLElement).closest('dialog, .layer')) { // not said
      e.preventDefault();
      focusPhase(selected.id);
    }
    if (!(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== 'z' || /^(INPUT|TEXTAREA)$/.test((e.target as HTMLElement).tagName) || (e.target as HTMLElement).isContentEditable) return;
    e.preventDefault();
    if (e.shiftKey) b.redo(); else b.undo();
  };
  return (
    <div className="builder" onKeyDown={keys}>
      <div className="builder-tools">
        {!readOnly && <><button type="button" className="plain small" disabled={!b.may.undo} onClick={b.undo}><Undo2 size={14} aria-hidden /> {t('Undo')}</button>
        <button type="button" className="plain small" disabled={!b.may.redo} onClick={b.redo}><Redo2 size={14} aria-hidden /> {t('Redo')}</button></>}
        <span className="soft small-text grow">{readOnly ? plural(d.phases.length, '{n} phase', '{n} phases') : t('Arrows go through the phases, Enter opens one, / adds, Alt and an arrow moves, Delete removes.')}</span>
        <span className="hidden" role="status">{b.says}</span>
      </div>
      {fresh && <p className="notice">{t('Begin here: choose the task and say who does it. Then add what comes before and after it by +.')}</p>}
      {problems.length > 0 && (
        <section className="card problems" aria-label={t('Problems')}>
          <strong>{plural(problems.length, '{n} problem', '{n} problems')}</strong>
          <ul>{problems.map((p) => <li key={p.id + p.path + p.message}>{phaseOf(d, p.id) ? <button type="button" onClick={() => { lead(p); }}>{called(d, p.id)}: {p.message}</button> : <span className="fault">{p.message}</span>}</li>)}</ul>
        </section>
      )}
      <div className={`builder-parts${selected ? '' : ' single'}`}>
        <div className="builder-main">
          <Picture definition={drawable(d)} faulty={new Set(faults.keys())} current={b.selected} editing={{ selected: b.selected, select: b.select, open, ...(readOnly ? {} : { add: (at) => { ask({ at }); } }) }} />
          <Outline builder={b} faults={faults} names={names} readOnly={readOnly} ask={(at) => { ask({ at }); }} open={openForm} />
        </div>
        {selected && <Side b={b} phase={selected} problems={problems.filter((p) => p.id === selected.id)} readOnly={readOnly} />}
      </div>
      {asking && <Palette title={asking.at ? t('Add after “{name}”', { name: called(d, asking.at.from) }) : t('Add or change')} choices={asking.at ? adds((type) => { b.add(type, asking.at as Exit); }) : changes(b)} close={() => { ask(null); }} />}
    </div>
  );
}

// changes are what can be done at the selected phase.
function changes(b: Made): Choice[] {
  const { definition: d, selected } = b;
  const p = phaseOf(d, selected);
  if (!p) return [];
  const name = titled(p);
  const out = allExits(d, p);
  const at = (type: string) => { b.add(type, exitOf(b, selected)); };
  return [
    ...(p.type === 'END' ? [] : out.length < 2 ? adds(at) : out.flatMap((e) => adds((type) => { b.add(type, e); }).map((c) => ({ ...c, label: t('{phase} at “{way}”', { phase: c.label, way: wayName(e.name) }) })))),
    { label: t('Move “{name}” up', { name }), run: () => { b.move(selected, -1); } }, { label: t('Move “{name}” down', { name }), run: () => { b.move(selected, 1); } },
    { label: t('Remove “{name}”', { name }), run: () => { b.remove(selected); } },
    ...out.flatMap((e) => d.phases.filter((x) => x.type !== 'START' && x.id !== e.to).map((x) => ({ label: t('Lead “{way}” to “{phase}”', { way: wayName(e.name), phase: titled(x) }), run: () => { b.run({ do: 'connect', at: { from: e.from, name: e.name }, to: x.id }); focusPhase(selected); } }))),
  ];
}

function Side({ b, phase: p, problems, readOnly }: { b: Made; phase: Phase; problems: Found[]; readOnly: boolean }) {
  const own = problems.filter((x) => x.path !== '').map(({ path, message }) => ({ path, message }));
  const copy = () => { void navigator.clipboard.writeText(b.copy(p.id)).then(() => { toast({ text: t('“{name}” was copied.', { name: titled(p) }) }); }, () => undefined); };
  return (
    <section className="card builder-side" aria-label={t('Selected phase')}>
      <header>
        <div className="grow"><h2 dir="auto">{titled(p)}</h2><span className="soft small-text">{phaseType(p.type)}</span></div>
        {!readOnly && <button type="button" className="icon" aria-label={t('Copy the phase')} title={t('Copy the phase')} onClick={copy}><Copy size={15} aria-hidden /></button>}
        {!readOnly && p.type !== 'START' && <button type="button" className="icon" aria-label={t('Remove the phase')} title={t('Remove the phase')} onClick={() => { b.remove(p.id); }}><Trash2 size={15} aria-hidden /></button>}
        <button type="button" className="icon" aria-label={t('Close')} onClick={() => { b.select(''); focusPhase(p.id); }}><X size={16} aria-hidden /></button>
      </header>
      <PhaseForm definition={b.definition} id={p.id} problems={own} change={(phase) => { b.run({ do: 'set', phase: phase as Phase }); }} readOnly={readOnly} />
      {!readOnly && <Ways key={p.id} builder={b} phase={p} />}
    </section>
  );
}
