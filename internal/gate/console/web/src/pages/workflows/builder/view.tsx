// view is the builder: the outline and the picture of one definition, and beside them the form of the selected phase.
import { FlaskConical, Redo2, Undo2 } from 'lucide-react';
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useViewer } from '../../../app/session';
import { plural, t } from '../../../app/text';
import { useAgentChoices, usePersonChoices, useTeamChoices, useWorkflowChoices } from '../../../parts/choices';
import { opens } from '../../../parts/blocks';
import { drawable, Picture, type Taken } from '../../../parts/picture';
import { focusSoon } from '../../../ui/focus';
import { useMedia } from '../../../ui/media';
import { Skeleton } from '../../../ui/states';
import { blockChoices } from './blockchoices';
import { mayLead } from './blocks';
import { placeSaid as inField } from './changewords';
import { allExits, outsOf, phaseOf, type Definition, type Exit, type Phase } from './definition';
import { foundOf } from './found';
import { addableAt, called, exitName, outcomeOf, wayName } from './kinds';
import { titled } from './known';
import { exitOf, Outline } from './outline';
import { adds, Palette, type Choice } from './palette';
import { useLive } from './live';
import { loose, problemsOf, type Found } from './problems';
import { SenderProvider, useSender } from './sendonce';
import { Sheet, Side } from './side';
import { nothingKept, takenBy, type Kept } from './try/kept';
import { keepShown, shownBy, shows, type Shows } from './parted';
import { useBuilder, focusPhase, type Acts, type Builder as Made } from './use';
import { nameAt } from './ways';
import './builder.css';

const parts: Record<Shows, string> = { both: t('Both'), outline: t('Outline'), picture: t('Picture') };

const Try = lazy(() => import('./try/panel'));

interface Props { id: string; text: string; change: (text: string) => void; found: Found[]; saved: unknown; readOnly: boolean; fresh: boolean }

export default function Builder({ id, text, change, found, saved, readOnly, fresh }: Props) {
  const b = useBuilder(text, change);
  if (!b) return <p className="notice">{t('The definition cannot be shown as phases. Fix it in the JSON tab.')}</p>;
  return <Parts id={id} b={b} refused={found} saved={saved} readOnly={readOnly} fresh={fresh} />;
}

// saidAt is in which field of a phase the server has found something, ahead of what that is.
const saidAt = (p: Phase | undefined, path: string): string => { const said = p && path ? inField(p, path) : ''; return said && `${said}: `; };

// control finds the first field of the form, also the first that is at fault.
const control = (of: string) => globalThis.document.querySelector<HTMLElement>(`.of-phase ${of}`);
const inForm = () => control('.phase-form :is(input, select, textarea)') ?? control('button'); // not said
const atFault = () => control(':is([aria-invalid=true], .faulty :is(input, select, textarea, button))') ?? inForm(); // not said

function Parts({ id, b, refused, saved, readOnly, fresh }: { id: string; b: Made; refused: Found[]; saved: unknown; readOnly: boolean; fresh: boolean }) {
  const { acts, definition: d } = b;
  const [asking, setAsking] = useState<{ at: Exit | null } | null>(null);
  const [opened, setOpened] = useState(false); // the sheet, in a narrow window
  const [trying, setTrying] = useState(false);
  const [kept, keep] = useState<Kept>(nothingKept);
  const sender = useSender(id, d, kept);
  const tries = useRef<HTMLButtonElement>(null);
  const before = useRef(''); // which phase was open before
  const viewer = useViewer();
  const [part, setPart] = useState(() => shownBy(viewer.id));
  const choose = (to: Shows) => { keepShown(viewer.id, to); setPart(to); };
  const narrow = useMedia('(max-width: 64rem)'); // not said
  const calls = d.phases.some((p) => p.type === 'CALL_WORKFLOW');
  const names = new Map([...usePersonChoices(), ...useTeamChoices(), ...useAgentChoices(), ...useWorkflowChoices(!calls)].map((x) => [x.id, x.name]));
  const live = useLive(id, d, saved, readOnly);
  const found = useMemo(() => [...refused, ...live.filter((x) => phaseOf(d, x.id) && !refused.some((r) => r.id === x.id && r.path === x.path))], [d, refused, live]);
  const problems = useMemo(() => problemsOf(d, found), [d, found]);
  const faults = useMemo(() => {
    const of = new Map<string, string[]>();
    for (const p of problems) of.set(p.id, [...of.get(p.id) ?? [], p.message]);
    return of;
  }, [problems]);
  const selected = phaseOf(d, b.selected);
  const following = useDeferredValue(b.selected); // the form follows the outline
  const shown = phaseOf(d, following === b.renamed.from ? b.renamed.to : following);
  const ask = useCallback((at: Exit | null) => { setAsking({ at }); }, []);
  const show = useCallback((of: string) => { acts.select(of); setOpened(true); setTrying(false); }, [acts]);
  const lead = useFocusIn(shown?.id);
  const openForm = useCallback((of: string) => { show(of); if (!narrow) lead(of, inForm); }, [show, narrow, lead]); // a sheet has the focus itself
  const openFault = (of: string) => { show(of); lead(of, atFault); };
  const tryIt = () => { before.current = b.selected; setOpened(false); setTrying(true); };
  const tried = () => {
    setTrying(false);
    acts.select(before.current);
    if (!narrow) focusSoon(() => tries.current); // a sheet gives the focus back
  };
  const close = () => {
    setOpened(false);
    if (narrow) return; // the sheet gives the focus back
    acts.select('');
    if (selected) focusPhase(selected.id);
  };
  const keys = (e: KeyboardEvent) => {
    if (e.key === 'Escape' && selected && !e.defaultPrevented && (e.target as HTMLElement).closest('.builder-side') && !(e.target as HTMLElement).closest('dialog, .layer')) { // not said
      e.preventDefault();
      focusPhase(selected.id);
    }
    if (!(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== 'z' || /^(INPUT|TEXTAREA)$/.test((e.target as HTMLElement).tagName) || (e.target as HTMLElement).isContentEditable) return;
    e.preventDefault();
    if (e.shiftKey) acts.redo(); else acts.undo();
  };
  const said = useMemo(() => [...problems, ...foundOf(kept.refused, d)].filter((p, i, all) => all.findIndex((x) => x.id === p.id && x.path === p.path && x.message === p.message) === i), [problems, kept.refused, d]);
  const taken = useMemo(() => (trying && kept.trial ? takenBy(kept.trial) : undefined), [trying, kept.trial]);
  const side = !trying && selected && { builder: b, ask, phase: shown ?? selected, coming: !shown, problems: said.filter((p) => p.id === shown?.id), readOnly, close };
  return (
    <SenderProvider value={sender}><div className="builder" onKeyDown={keys}>
      <div className="builder-tools">
        {!readOnly && <><button type="button" className="plain small" disabled={!b.may.undo} onClick={acts.undo}><Undo2 size={14} aria-hidden /> {t('Undo')}</button>
        <button type="button" className="plain small" disabled={!b.may.redo} onClick={acts.redo}><Redo2 size={14} aria-hidden /> {t('Redo')}</button>
        <button ref={tries} type="button" className="plain small" aria-expanded={trying} onClick={trying ? tried : tryIt}><FlaskConical size={14} aria-hidden /> {t('Try')}</button></>}
        <span className="soft small-text grow">{readOnly ? plural(d.phases.length, '{n} phase', '{n} phases') : part === 'picture' ? t('Choose a phase in the picture, or a + to add one. The outline can be used by the keyboard.') : t('Arrows go through the phases, Enter opens one, / adds, Alt and an arrow moves, Delete removes.')}</span>
        <span className="line" role="group" aria-label={t('What is shown')}>{shows.map((s) => <button key={s} type="button" className="plain small" aria-pressed={part === s} onClick={() => { choose(s); }}>{parts[s]}</button>)}</span>
        <span className="hidden" role="status">{b.says}</span>
      </div>
      {fresh && <p className="notice">{t('Begin here: choose the task and say who does it. Then add what comes before and after it by +.')}</p>}
      {problems.length > 0 && (
        <section className="card problems" aria-label={t('Problems')}>
          <strong>{plural(problems.length, '{n} problem', '{n} problems')}</strong>
          <ul>{problems.map((p) => <li key={p.id + p.path + p.message}>{phaseOf(d, p.id) ? <button type="button" onClick={() => { openFault(p.id); }}>{called(d, p.id)}: {saidAt(phaseOf(d, p.id), found.includes(p) ? p.path : '')}{p.message}</button> : <span className="fault">{p.message}</span>}</li>)}</ul>
        </section>
      )}
      <div className={`builder-parts${(side || trying) && !narrow ? '' : ' single'}`}>
        <div className="builder-main">
          {part !== 'outline' && <Canvas definition={d} faults={faults} selected={b.selected} select={show} ask={readOnly ? undefined : ask} taken={taken} alone={part === 'picture'} />}
          {part !== 'picture' && <Outline builder={b} faults={faults} names={names} readOnly={readOnly} ask={ask} open={openForm} />}
        </div>
        {side && !narrow && <Side {...side} />}
        {side && narrow && opened && <Sheet {...side} />}
        {trying && <Suspense fallback={narrow ? null : <section className="card builder-side"><Skeleton rows={4} /></section>}><Try workflow={id} definition={d} narrow={narrow} selected={b.selected} kept={kept} keep={keep} select={acts.select} open={openFault} close={tried} /></Suspense>}
      </div>
      {asking && <Palette title={asking.at ? placeSaid(d, asking.at) : t('Add or change')} choices={asking.at ? adds(addableAt(d, asking.at), (type) => { acts.add(type, asking.at as Exit); }) : changes(d, b.selected, acts, (find) => { show(b.selected); lead(b.selected, find); })} close={() => { setAsking(null); }} />}
    </div></SenderProvider>
  );
}

// useFocusIn gives the focus to something in the form of a phase, once that is the one that is shown.
function useFocusIn(shown: string | undefined): (id: string, find: () => HTMLElement | null) => void {
  const wanted = useRef<{ id: string; find: () => HTMLElement | null }>(null);
  const now = useRef(shown);
  useEffect(() => {
    now.current = shown;
    if (!wanted.current || wanted.current.id !== shown) return;
    focusSoon(wanted.current.find);
    wanted.current = null;
  }, [shown]);
  return useCallback((id, find) => { if (now.current === id) focusSoon(find); else wanted.current = { id, find }; }, []);
}

interface CanvasProps { definition: Definition; faults: Map<string, string[]>; selected: string; select: (id: string) => void; ask: ((at: Exit) => void) | undefined; taken: Taken | undefined; alone: boolean }

// Canvas is the picture. It follows the outline: what somebody has done is seen there first.
function Canvas(now: CanvasProps) {
  const [d, ids] = [useDeferredValue(now.definition), useDeferredValue([...now.faults.keys()].join(' '))];
  const { selected, select, ask, taken, alone } = now;
  const definition = useMemo(() => drawable(d), [d]);
  const faulty = useMemo(() => new Set(ids.split(' ')), [ids]);
  const editing = useMemo(() => ({ selected, select, open: loose(d), add: ask, alone }), [selected, select, d, ask, alone]);
  return <Picture definition={definition} faulty={faulty} current={selected} editing={editing} {...(taken ? { taken } : {})} />;
}

// placeSaid is where something is added.
const placeSaid = (d: Definition, at: Exit): string => (phaseOf(d, at.from)?.type === 'PARALLEL' ? t('Add to the branch “{name}”', { name: at.name }) : t('Add after “{name}”', { name: called(d, at.from) }));

// changes are what can be done at the selected phase.
function changes(d: Definition, selected: string, acts: Acts, lead: (find: () => HTMLElement | null) => void): Choice[] {
  const p = phaseOf(d, selected);
  if (!p) return [];
  const name = titled(p);
  const out = allExits(d, p);
  return [
    ...(p.type === 'END' ? [] : out.length < 2 ? adds(addableAt(d, exitOf(d, selected)), (type) => { acts.add(type, exitOf(d, selected)); }) : out.flatMap((e) => adds(addableAt(d, e), (type) => { acts.add(type, e); }).map((c) => ({ ...c, label: t('{phase} at “{way}”', { phase: c.label, way: exitName(p, e.name) }) })))),
    ...blockChoices(d, p, acts, lead),
    { label: t('Move “{name}” up', { name }), run: () => { acts.move(selected, -1); } }, { label: t('Move “{name}” down', { name }), run: () => { acts.move(selected, 1); } },
    ...(p.type === 'JOIN' ? [] : [{ label: t('Remove “{name}”', { name }), run: () => { acts.remove(selected); } }]),
    ...(outsOf(p).free ? outcomes(d, p, acts, lead) : []),
    ...(opens(p) ? [] : out).flatMap((e) => d.phases.filter((x) => x.id !== e.to && mayLead(d, e, x.id)).map((x) => ({ label: t('Connect “{way}” to “{phase}”', { way: exitName(p, e.name), phase: titled(x) }), run: () => { acts.run({ do: 'connect', at: { from: e.from, name: e.name }, to: x.id }, t('“{way}” leads to “{phase}” now.', { way: exitName(p, e.name), phase: titled(x) })); focusPhase(selected); } }))),
  ];
}

// outcomes are what can be done with those of a task.
const outcomes = (d: Definition, p: Phase, acts: Acts, lead: (find: () => HTMLElement | null) => void): Choice[] => [
  { label: t('Add outcome'), run: () => { const c = outcomeOf(d, p); if (c && acts.run(c, t('The outcome “{way}” was added.', { way: c.at.name }))) lead(nameAt(-1)); } },
  ...allExits(d, p).flatMap((e, i, all) => [
    ...(e.to === undefined ? [] : [{ label: t('Rename the outcome “{way}”', { way: wayName(e.name) }), run: () => { lead(nameAt(i)); } }]),
    ...(all.length > 1 ? [{ label: t('Remove the outcome {way}', { way: wayName(e.name) }), run: () => { acts.run({ do: 'disconnect', at: e }, t('The outcome “{way}” was removed.', { way: wayName(e.name) })); focusPhase(p.id); } }] : []),
  ]),
];
