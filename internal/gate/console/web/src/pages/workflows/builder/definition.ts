// definition is a workflow's definition as the API takes it: phases, and the ways between them. It is read and written without losing a digit.
import { parse } from '../../../app/digits';
import { branchesOf, each, heldWays, holds, opens } from '../../../parts/blocks';
import { isObject, object, objects, text, type Json } from './shape';

export interface Phase extends Json { id: string; type: string }
export interface Way extends Json { from: string; name: string; to: string }
export interface Definition extends Json { phases: Phase[]; transitions: Way[] }
// Exit is a way out by where it begins, whether it leads anywhere or not.
export interface Exit { from: string; name: string }

const isPhase = (v: unknown): v is Phase => isObject(v) && typeof v['id'] === 'string' && v['id'] !== '' && typeof v['type'] === 'string';
const isWay = (v: unknown): v is Way => isObject(v) && ['from', 'name', 'to'].every((k) => typeof v[k] === 'string');

// shaped is a value as a definition; null where it has no phases and ways that could be edited one by one.
export function shaped(v: unknown): Definition | null {
  const [phases, ways] = isObject(v) ? [v['phases'], v['transitions']] : [];
  if (!Array.isArray(phases) || !Array.isArray(ways) || !phases.every(isPhase) || !ways.every(isWay)) return null;
  return new Set(phases.map((p) => p.id)).size === phases.length ? v as Definition : null;
}

// read reads a definition that somebody has written; null for one that cannot be edited one by one.
export function read(written: string): Definition | null {
  try { return shaped(parse(written)); } catch { return null; }
}
export const write = (d: unknown): string => JSON.stringify(d, null, 2);

// Outs are the ways out that a phase takes: the first of names is where it goes on when all is well. Where they are free, any may be added.
export interface Outs { names: string[]; free: boolean }

export function outsOf(p: Phase): Outs {
  const config = object(p['config']);
  const named = (rules: string) => objects(config[rules]).map((r) => text(r['transition'])).filter(Boolean);
  const only = (...names: string[]) => ({ names: [...new Set(names.filter(Boolean))], free: false });
  switch (p.type) {
    case 'END': return only();
    case 'PROCESS': return { names: [], free: true };
    case 'DECISION': return only(text(config['default']), ...named('rules'));
    case 'APPROVAL': return only('approved', 'rejected', typeof config['deadline'] === 'string' ? 'expired' : ''); // also while it is being written
    case 'DATA': return only('next', config['onInvalid'] === 'route' ? 'invalid' : '');
    case 'API_CALL': return only('next', ...named('statusRules'));
    case 'PARALLEL': return only(...branchesOf(p).map((b) => text(b['name'])));
    case 'FOR_EACH': return only(each);
    case 'JOIN': return only('next', Object.hasOwn(p, 'failed') ? 'failed' : '');
    default: return only('next');
  }
}

// goesAside reports whether a way out is taken when all is not well, so that it must not lead on as the main one does: what was not approved, or is
// not valid.
export const goesAside = (p: Phase, name: string): boolean => (p.type === 'APPROVAL' && name !== 'approved') || (p.type === 'DATA' && name === 'invalid');

// indexed finds the phases and ways of a definition, made once for each: commands make another definition and change none.
interface Index { phases: Map<string, Phase>; ways: Map<string, Way[]>; blocks: Map<string, Phase>; exits: Map<Phase, (Exit & { to?: string })[]> }
const indexes = new WeakMap<Definition, Index>();

function indexed(d: Definition): Index {
  const have = indexes.get(d);
  if (have) return have;
  const made: Index = { phases: new Map(d.phases.map((p) => [p.id, p])), ways: new Map(), blocks: new Map(d.phases.filter(opens).map((p) => [text(p['end']), p])), exits: new Map() };
  for (const w of allWays(d)) made.ways.set(w.from, [...made.ways.get(w.from) ?? [], w]);
  indexes.set(d, made);
  return made;
}

// allWays are the transitions and the ways that phases hold themselves.
export const allWays = (d: Definition): Way[] => [...d.transitions, ...d.phases.flatMap((p) => (holds(p) ? heldWays(p) : []))];
export const exits = (d: Definition, id: string): Way[] => indexed(d).ways.get(id) ?? [];
export const wayAt = (d: Definition, at: Exit): Way | undefined => exits(d, at.from).find((w) => w.name === at.name);
// nameTaken reports whether a way out cannot be called otherwise, because another one of its phase has that name: one of the two would lose
// its end. A rule that names none yet may name one that is there.
export function nameTaken(d: Definition, at: Exit, name: string): boolean {
  const p = phaseOf(d, at.from);
  return at.name !== '' && name !== at.name && p !== undefined && (outsOf(p).names.includes(name) || wayAt(d, { from: at.from, name }) !== undefined);
}

// blockOf is the phase that opens the block which a JOIN ends.
export const blockOf = (d: Definition, join: string): Phase | undefined => indexed(d).blocks.get(join);
export const phaseOf = (d: Definition, id: string): Phase | undefined => indexed(d).phases.get(id);

// allExits are the ways out of a phase with those that lead nowhere yet, in the order in which it asks for them.
export function allExits(d: Definition, p: Phase): (Exit & { to?: string })[] {
  const { exits } = indexed(d);
  const have = exits.get(p) ?? exitsOf(d, p);
  exits.set(p, have);
  return have;
}

function exitsOf(d: Definition, p: Phase): (Exit & { to?: string })[] {
  const there = exits(d, p.id);
  const { names: own, free } = outsOf(p);
  const names = p.type === 'JOIN' && blockOf(d, p.id)?.['onFault'] === 'cancel' ? [...new Set([...own, 'failed'])] : own;
  const missing = names.filter((n) => !there.some((w) => w.name === n) && !(p.type === 'API_CALL' && n === 'next' && there.length > 0));
  const asked = [...names, ...there.map((w) => w.name)].filter((n, i, all) => all.indexOf(n) === i && (there.some((w) => w.name === n) || missing.includes(n)));
  const of = asked.length > 0 || !free ? asked : ['next'];
  const listed = p.type === 'DECISION' ? [...of.slice(1), ...of.slice(0, 1)] : of; // otherwise comes last
  return listed.map((name) => ({ from: p.id, name, ...there.find((w) => w.name === name) }));
}

// mainOf is the way out by which a phase goes on when all is well.
export function mainOf(d: Definition, id: string): Way | undefined {
  const p = phaseOf(d, id);
  const there = exits(d, id);
  return there.find((w) => w.name === (p ? outsOf(p).names[0] : undefined)) ?? there.find((w) => w.name === 'next') ?? there[0];
}
