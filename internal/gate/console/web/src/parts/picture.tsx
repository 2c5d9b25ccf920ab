// picture draws a definition: phases in the order in which they can be reached, transitions between them.
import { memo, useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { plural, t } from '../app/text';
import { phaseType, words } from '../ui/bits';
import { each, heldWays, insides, opens, structure } from './blocks';

interface Phase { id: string; type: string; name?: string }
interface Transition { from: string; name?: string; to: string }
export interface Definition { phases?: Phase[]; transitions?: Transition[] }

const record = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v);
const records = (v: unknown) => (Array.isArray(v) ? v.filter(record) : []);
const text = (v: unknown) => (typeof v === 'string' ? v : '');

// drawable is what can be drawn of JSON that somebody is still writing: phases with an id, transitions between them, and the blocks that
// phases open and end.
export function drawable(v: unknown): Definition {
  const d = record(v) ? v : {};
  const seen = new Set<string>();
  return {
    phases: records(d['phases']).map((p) => ({ id: text(p['id']), type: text(p['type']), name: text(p['name']), ...structure(p) }))
      .filter((p) => p.id !== '' && !seen.has(p.id) && seen.add(p.id)),
    transitions: records(d['transitions']).map((way) => ({ from: text(way['from']), name: text(way['name']), to: text(way['to']) })),
  };
}

const spot = /^definition\.(phases|transitions)\[([^\]]+)\]\.?(.*)$/;

// phaseAt is the phase that a field at fault belongs to; a transition belongs to the phase that it leaves.
export function phaseAt(sent: unknown, field: string): string {
  const [, of, id = ''] = spot.exec(field) ?? [];
  const list = of === 'transitions' && record(sent) ? sent['transitions'] : undefined;
  const way: unknown = Array.isArray(list) ? list[Number(id)] : undefined;
  return of === 'phases' ? id : record(way) ? text(way['from']) : '';
}

// ofPhase says a fault beside its phase: in which of its fields it is, unless in all of it.
export function ofPhase({ field, message }: { field: string; message: string }): string {
  const [, of, , rest] = spot.exec(field) ?? [];
  const named = [of === 'transitions' ? t('transition') : '', rest].filter(Boolean).join(' ');
  return named ? `${named}: ${message}` : message;
}

// placeOf says where in a definition a fault is: in which phase, by its name or else its id, or in which field.
export function placeOf(d: Definition, field: string): string {
  const [, of, id, rest] = spot.exec(field) ?? [];
  const phase = of === 'phases' ? d.phases?.find((p) => p.id === id) : undefined;
  return phase ? [phase.name || phase.id, rest].filter(Boolean).join(', ') : field.replace(/^definition\./, '');
}

const width = 168;
const height = 54;
const gapX = 128; // for the name of a way and its + beside each other
const gapY = 30;
const above = 14; // a phase with which a branch begins, for the name of the branch

interface Placed extends Phase { x: number; y: number; layer: number }

// waysOf are the transitions and the ways that phases hold themselves.
const waysOf = (d: Definition): Transition[] => [...d.transitions ?? [], ...(d.phases ?? []).flatMap(heldWays)];

// layersOf gives each phase that can be reached a column, by the longest way to it without those that lead back.
function layersOf(d: Definition): Map<string, number> {
  const out = new Map<string, string[]>();
  for (const way of waysOf(d)) out.set(way.from, [...(out.get(way.from) ?? []), way.to]);
  const seen = new Set<string>();
  const done = new Set<string>(); // in this order what is led to stands ahead of what leads there
  const back = new Set<string>();
  const visit = (id: string) => {
    seen.add(id);
    for (const to of out.get(id) ?? []) {
      if (!seen.has(to)) visit(to);
      else if (!done.has(to)) back.add(`${id} ${to}`);
    }
    done.add(id);
  };
  for (const p of d.phases ?? []) if (p.type === 'START' && !seen.has(p.id)) visit(p.id);
  for (const p of d.phases ?? []) if (opens(p) && !seen.has(p.id)) visit(p.id); // one to which nothing leads yet is drawn as a block, too
  const layer = new Map([...done].map((id) => [id, 0]));
  for (const id of [...done].toReversed()) {
    for (const to of out.get(id) ?? []) if (!back.has(`${id} ${to}`)) layer.set(to, Math.max(layer.get(to) ?? 0, (layer.get(id) ?? 0) + 1));
  }
  return layer;
}

// place gives each phase a column and a row in it. The branches of a block have rows of their own, beside each other.
export function place(d: Definition): Placed[] {
  const layer = layersOf(d);
  const row = rowsOf(d, layer);
  const top = d.phases?.some(opens) ? 12 + above : 12; // for the frame of a block
  const taken = new Set<string>();
  return (d.phases ?? []).map((p) => {
    const l = layer.get(p.id) ?? 0;
    while (taken.has(`${l} ${row.get(p.id)}`)) row.set(p.id, (row.get(p.id) ?? 0) + 1); // where a block is still written, and parts of it lead nowhere
    taken.add(`${l} ${row.get(p.id)}`);
    return { ...p, layer: l, x: 12 + l * (width + gapX), y: top + (row.get(p.id) ?? 0) * (height + gapY) };
  });
}

// rowsOf gives each phase the first row of its column that is free. A block takes the same rows in all of its columns.
function rowsOf(d: Definition, layer: Map<string, number>): Map<string, number> {
  const phases = d.phases ?? [];
  const place = new Map(phases.map((p, i) => [p.id, i]));
  const inside = blocksIn(d);
  const row = new Map<string, number>();
  const lay = (ids: string[], top: number): number => {
    const nested = new Set(ids.filter((id) => inside.has(id)).flatMap((id) => inside.get(id)?.flat() ?? []));
    const free = new Map<number, number>();
    let bottom = top;
    for (const id of ids) {
      if (nested.has(id) || row.has(id)) continue;
      const branches = inside.get(id);
      const columns = [id, ...branches?.flat() ?? []].map((x) => layer.get(x) ?? 0);
      const end = branches ? endOf(d, id) : '';
      const ends = layer.has(end) && !row.has(end) && (layer.get(end) ?? 0) > Math.max(...columns); // else something in it leads nowhere yet
      if (ends) columns.push(layer.get(end) ?? 0);
      const at = Math.max(...columns.map((l) => free.get(l) ?? top));
      row.set(id, at);
      if (ends) row.set(end, at);
      const below = branches ? Math.max(at + 1, branches.reduce((from, list) => lay(list.toSorted((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0)), from), at)) : at + 1;
      for (let l = Math.min(...columns); l <= Math.max(...columns); l++) free.set(l, Math.max(free.get(l) ?? top, below));
      bottom = Math.max(bottom, below);
    }
    return Math.max(bottom, top + 1);
  };
  const bottom = lay(phases.map((p) => p.id), 0);
  for (const p of phases) if (!row.has(p.id)) lay([p.id], bottom); // in blocks that stand within each other, as may be written by hand
  return row;
}

const endOf = (d: Definition, id: string) => text((d.phases?.find((p) => p.id === id) as { end?: unknown } | undefined)?.end);

// blocksIn are the phases within each block.
function blocksIn(d: Definition): Map<string, string[][]> {
  if (!d.phases?.some(opens)) return new Map();
  const out = new Map<string, string[]>();
  for (const way of waysOf(d)) out.set(way.from, [...out.get(way.from) ?? [], way.to]);
  return insides(d.phases, (id) => out.get(id) ?? []);
}

interface Frame { id: string; x: number; y: number; w: number; h: number }

// framesOf are the places of whole blocks, the outer ones first.
function framesOf(d: Definition, at: Map<string, Placed>): Frame[] {
  return [...blocksIn(d)].flatMap(([id, branches]) => {
    const all = [id, ...branches.flat(), endOf(d, id)].flatMap((x) => at.get(x) ?? []);
    const [x, y] = [Math.min(...all.map((p) => p.x)) - 7, Math.min(...all.map((p) => p.y)) - (branches.length > 1 ? 7 + above : 7)];
    return [{ id, x, y, w: Math.max(...all.map((p) => p.x + width)) + 7 - x, h: Math.max(...all.map((p) => p.y + height)) + 7 - y }];
  }).toSorted((a, b) => b.w * b.h - a.w * a.h);
}

const cut = (s: string, most = 21) => (s.length > most ? `${s.slice(0, most - 1)}…` : s);
export const wayMost = 11; // letters of a way's name

// Taken is the path of an execution: how each phase that it has entered stands, and the transitions by which it left.
export interface Taken { phases: Map<string, string>; ways: Set<string> }

// pathOf is the path of visits. Of a phase that was entered several times, as each branch may, what is not done yet counts.
export function pathOf(visits: readonly { phaseId: string; status: string; transition?: string | null | undefined }[]): Taken {
  const phases = new Map<string, string>();
  for (const v of visits) if (!['RUNNING', 'WAITING', 'FAILED'].includes(phases.get(v.phaseId) ?? '') || !['COMPLETED', 'SKIPPED'].includes(v.status)) phases.set(v.phaseId, v.status);
  return { phases, ways: new Set(visits.map((v) => `${v.phaseId} ${v.transition ?? ''}`)) };
}

// middle is the place on a way between neighbours where something is added: behind its name, and the more so the more ways lead along it before.
function middle(x1: number, y1: number, x2: number, y2: number, n: number): { x: number; y: number } {
  const at = Math.min(0.95, 0.6 + 0.22 * n); // of the curve
  return { x: x1 + (x2 - x1) * (1.5 * at * (1 - at) + at ** 3), y: y1 + (y2 - y1) * (3 * (1 - at) * at ** 2 + at ** 3) };
}

// line is a way between two phases, and the place on it where something is added; n is how many ways lead from the one to the other before. Below is where nothing stands any more. A way to the end of a block stays in the
// row of its branch.
function line(a: Placed, b: Placed, off: number, n: number, placed: Placed[], below: number): { path: string; x: number; y: number } {
  const [x1, y1, x2, y2] = [a.x + width, a.y + height / 2 + off, b.x, b.y + height / 2];
  if (b.layer <= a.layer) {
    const [from, to] = [a.x + width / 2, b.x + width / 2];
    return { path: `M${from} ${a.y + height} C${from} ${below} ${to} ${below} ${to} ${b.y + height}`, x: (from + to) / 2, y: (a.y + b.y + 2 * height + 6 * below) / 8 };
  }
  if (b.layer - a.layer === 1) return { path: `M${x1} ${y1} C${x1 + gapX / 2} ${y1} ${x2 - gapX / 2} ${y2} ${x2} ${y2}`, ...middle(x1, y1, x2, y2, n) };
  if (b.type === 'JOIN' && !placed.some((p) => p.layer > a.layer && p.layer < b.layer && p.y === a.y)) {
    const turn = x2 - gapX; // from here on it is a way between neighbours
    return { path: `M${x1} ${y1} L${turn} ${y1} C${turn + gapX / 2} ${y1} ${x2 - gapX / 2} ${y2} ${x2} ${y2}`, x: (x1 + turn) / 2, y: y1 };
  }
  const under = Math.max(...placed.filter((p) => p.layer > a.layer && p.layer < b.layer).map((p) => p.y + height), 0) + 14; // below what stands between
  return { path: `M${x1} ${y1} C${x1 + 34} ${y1} ${x1 + 18} ${under} ${x1 + 56} ${under} L${x2 - 56} ${under} C${x2 - 18} ${under} ${x2 - 34} ${y2} ${x2} ${y2}`, x: (x1 + x2) / 2, y: under };
}

// A Line is a transition as it is drawn, and where it leaves its phase.
interface Line { key: string; from: string; to: string; name: string; says: string; saysX: number; saysY: number; path: string; x: number; y: number; back: boolean; left: number; right: number }

// Laid is a definition on a plane: w and h are its size.
interface Laid { placed: Placed[]; at: Map<string, Placed>; lines: Line[]; frames: Frame[]; w: number; h: number }

export function laid(d: Definition): Laid {
  const placed = place(d);
  const at = new Map(placed.map((p) => [p.id, p]));
  const [w, h] = [Math.max(300, ...placed.map((p) => p.x + width + 16)), Math.max(90, ...placed.map((p) => p.y + height + 40))];
  const out = new Map<string, Transition[]>();
  const ways = waysOf(d);
  for (const way of ways) out.set(way.from, [...out.get(way.from) ?? [], way]);
  const lines = ways.flatMap((way): Line[] => {
    const [a, b, siblings] = [at.get(way.from), at.get(way.to), out.get(way.from) ?? []];
    if (!a || !b) return [];
    const downward = siblings.toSorted((x, y) => (at.get(x.to)?.y ?? 0) - (at.get(y.to)?.y ?? 0)); // so that they do not cross
    const off = (downward.indexOf(way) - (siblings.length - 1) / 2) * Math.min(24, height / siblings.length); // from the middle of its phase, so that several do not lie on each other
    return [{ key: `${way.from} ${way.name ?? ''} ${way.to}`, from: way.from, to: way.to, name: way.name ?? '', says: labelOf(a, way.name ?? ''), ...(a.type === 'PARALLEL' ? { saysX: b.x + 2, saysY: b.y - 6 } : { saysX: a.x + width + 6, saysY: a.y + height / 2 + off - 4 }), ...line(a, b, off, siblings.slice(0, siblings.indexOf(way)).filter((w) => w.to === way.to).length, placed, h - 4), back: b.layer <= a.layer, left: Math.min(a.x, b.x), right: Math.max(a.x, b.x) }];
  }).toSorted((a, b) => (a.key < b.key ? -1 : 1)); // in one order, whatever moves
  return { placed, at, lines, frames: framesOf(d, at), w, h };
}

// labelOf is what stands at a way: a branch has its own name.
const labelOf = (from: Phase, name: string): string =>
  (from.type === 'PARALLEL' ? name : name === 'next' || name === '' || (from.type === 'FOR_EACH' && name === each) ? '' : from.type === 'JOIN' ? t('Given up') : words(name));

// takes reports whether an execution has gone along a way. Where a block begins it has if it has come to the branch.
const takes = ({ ways, phases }: Taken, l: Line, at: Map<string, Placed>): boolean => ways.has(`${l.from} ${l.name || 'next'}`) || (opens(at.get(l.from)) && phases.has(l.from) && phases.has(l.to));

// Editing is what can be done in a picture by the pointer; by the keyboard the same is done in the list beside it, unless it stands alone.
export interface Editing { selected: string; select: (id: string) => void; add?: ((at: { from: string; name: string }) => void) | undefined; open: { from: string; name: string }[]; alone?: boolean }

interface PictureProps { definition: Definition; faulty: Set<string>; taken?: Taken; current?: string | null; editing?: Editing | undefined }

const beyond = 2500; // pixels on both sides of what is seen that are drawn as well

// Picture shows a definition, from its START or, where it is wider than its frame, from around the phase current. Of a definition that
// has changed, what stands as it stood is not drawn anew.
export const Picture = memo(function Picture({ definition, faulty, taken, current, editing }: PictureProps) {
  const all = useMemo(() => laid(definition), [definition]);
  const { at, w, h } = all;
  const [whole, setWhole] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const wide = useWiderThan(frame, w);
  const middle = wide && !whole ? (at.get(current ?? '')?.x ?? 0) + width / 2 : 0;
  useEffect(() => {
    if (frame.current && middle > 0) frame.current.scrollLeft = middle - frame.current.clientWidth / 2;
  }, [middle]);
  const [left, setLeft] = useState(0);
  const near = (from: number, to = from) => whole || (to > left - beyond && from < left + 2 * beyond);
  const [placed, lines] = [all.placed.filter((p) => near(p.x)), all.lines.filter((l) => near(l.left, l.right))];
  const { select, add } = editing ?? {};
  return (
    <>
    {wide && <p className="picture-size"><button type="button" className="plain small" aria-pressed={whole} onClick={() => { setWhole(!whole); }}>{t('Whole picture')}</button></p>}
    <div
      ref={frame} className={`card picture${whole ? ' whole' : ''}`} // not said
      tabIndex={0} role="group" aria-label={t('Picture of the workflow')} onScroll={(e) => { setLeft(Math.round(e.currentTarget.scrollLeft / 500) * 500); }}
    >
      <svg width={w} height={h} viewBox={`0 0 ${w} ${h}`} role="img" aria-label={editing?.alone ? plural(all.placed.length, 'Workflow of {n} phase; the outline says the same', 'Workflow of {n} phases; the outline says the same') : plural(all.placed.length, 'Workflow of {n} phase; the list below says the same', 'Workflow of {n} phases; the list below says the same')}>
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" /></marker></defs>
        {all.frames.map((f) => (near(f.x, f.x + f.w) ? <rect key={f.id} className="block" x={f.x} y={f.y} width={f.w} height={f.h} rx="14" /> : null))}
        {lines.map((l) => <path key={l.key} d={l.path} className={taken && takes(taken, l, at) ? 'taken' : undefined} markerEnd={'url(#arrow)'} />)}
        {lines.map((l) => (l.says && !l.back ? <text key={l.key} className="way" x={l.saysX} y={l.saysY}><title>{l.says}</title>{cut(l.says, at.get(l.from)?.type === 'PARALLEL' ? 21 : wayMost)}</text> : null)) /* above all lines */}
        {placed.map((p) => <Box key={p.id} id={p.id} type={p.type} name={p.name || p.id} x={p.x} y={p.y} faulty={faulty.has(p.id)} selected={editing?.selected === p.id} taken={taken ? ` ${(taken.phases.get(p.id) ?? 'untouched').toLowerCase()}` : ''} select={select} />)}
        {add && lines.map((l) => <Plus key={l.key} x={l.x} y={l.y} label={t('Add a phase here')} from={l.from} name={l.name || 'next'} add={add} />)}
        {add && editing?.open.map((exit) => {
          const a = at.get(exit.from);
          const n = editing.open.filter((o) => o.from === exit.from).indexOf(exit);
          return a ? <Plus key={`${exit.from} ${exit.name}`} x={a.x + width + 10} y={a.y + height - 8 - n * 20} label={t('Add a phase at “{way}”', { way: words(exit.name) })} from={exit.from} name={exit.name} add={add} /> : null;
        })}
      </svg>
    </div>
    </>
  );
});

interface BoxProps { id: string; type: string; name: string; x: number; y: number; faulty: boolean; selected: boolean; taken: string; select: ((id: string) => void) | undefined }

const Box = memo(function Box({ id, type, name, x, y, faulty, selected, taken, select }: BoxProps) {
  return (
    <g className={select ? `pick${selected ? ' selected' : ''}` : undefined} transform={`translate(${x} ${y})`} onClick={select && (() => { select(id); })}>
      <rect className={`box${faulty ? ' faulty' : ''}${type === 'START' || type === 'END' ? ' edge-phase' : ''}${taken}`} width={width} height={height} rx="10" />
      <text x="14" y="23"><title>{name}</title>{cut(name)}</text>
      <text className="kind" x="14" y="40">{phaseType(type)}</text>
    </g>
  );
});

interface PlusProps { x: number; y: number; label: string; from: string; name: string; add: (at: { from: string; name: string }) => void }

const Plus = memo(function Plus({ x, y, label, from, name, add }: PlusProps) {
  return (
    <g className="plus" transform={`translate(${x} ${y})`} onClick={() => { add({ from, name }); }}>
      <title>{label}</title><circle className="reach" r="13" /><circle r="8" /><path d="M-4 0h8M0 -4v8" />
    </g>
  );
});

// useWiderThan reports whether something is wider than the frame that shows it.
function useWiderThan(frame: RefObject<HTMLDivElement | null>, w: number): boolean {
  const [wider, set] = useState(false);
  useEffect(() => {
    const seen = new ResizeObserver(([e]) => { if (e) set(w > e.contentRect.width); });
    if (frame.current) seen.observe(frame.current);
    return () => { seen.disconnect(); };
  }, [frame, w]);
  return wider;
}

// PhaseList says the same as the picture, in words.
export function PhaseList({ definition, faults }: { definition: Definition; faults: Map<string, string[]> }) {
  const name = (id: string) => definition.phases?.find((p) => p.id === id)?.name || id;
  return (
    <ol className="card phase-list" aria-label={t('Phases')}>
      {(definition.phases ?? []).map((p) => (
        <li key={p.id}>
          <strong>{p.name || p.id}</strong><span className="soft small-text">{phaseType(p.type)}</span>
          <span className="soft small-text">{waysOf(definition).filter((way) => way.from === p.id).map((way) => `${labelOf(p, way.name ?? '') ? `${labelOf(p, way.name ?? '')} → ` : '→ '}${name(way.to)}`).join(' · ') || t('The end')}</span>
          {faults.get(p.id)?.map((m) => <span key={m} className="fault">{m}</span>)}
        </li>
      ))}
    </ol>
  );
}
