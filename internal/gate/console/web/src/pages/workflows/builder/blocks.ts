// blocks keeps the blocks of a definition whole: nothing leads into one but by the phase that opens it, and nothing out but by its end.
import { t } from '../../../app/text';
import { insides, opens } from '../../../parts/blocks';
import { allWays, blockOf, exits, phaseOf, wayAt, type Definition, type Exit, type Phase } from './definition';
import { text, type Problem } from './shape';

// A Scope is one branch of a block, in which phases stand; null is outside of all. The branch -1 is not known: of phases to which nothing
// leads, but which lead to the end of the block.
export interface Scope { block: string; branch: number; parent: Scope | null; depth: number }

export const deepest = 3; // blocks within each other
export const mostBranches = 10;

interface Blocks { any: boolean; scopes: Map<string, Scope>; reached: Set<string>; problems: (Problem & { id: string })[] }
const made = new WeakMap<Definition, Blocks>();
const none: Blocks = { any: false, scopes: new Map(), reached: new Set(), problems: [] };

function blocksOf(d: Definition): Blocks {
  const have = made.get(d);
  if (have) return have;
  if (!d.phases.some((p) => opens(p) || p.type === 'JOIN')) return none;
  const blocks: Blocks = { any: true, scopes: scopesOf(d), reached: reachedIn(d), problems: [] };
  made.set(d, blocks);
  implied(d, blocks);
  blocks.problems = structural(d);
  return blocks;
}

function scopesOf(d: Definition): Map<string, Scope> {
  const scopes = new Map<string, Scope>();
  const all = [...insides(d.phases, (id) => exits(d, id).map((w) => w.to))].map(([block, branches]) => ({ block, branches, n: branches.flat().length }));
  for (const { block, branches } of all.toSorted((a, b) => b.n - a.n)) { // the outer ones first
    const parent = scopes.get(block) ?? null;
    branches.forEach((inside, branch) => { for (const id of inside) scopes.set(id, { block, branch, parent, depth: (parent?.depth ?? 0) + 1 }); });
  }
  return scopes;
}

function reachedIn(d: Definition): Set<string> {
  const found = new Set(d.phases.filter((p) => p.type === 'START').map((p) => p.id));
  for (const at of found) for (const w of exits(d, at)) found.add(w.to);
  return found;
}

// implied adds the scopes of phases to which nothing leads: they stand where they lead to. A block counts as one phase.
function implied(d: Definition, { scopes, reached }: Blocks): void {
  const next = (id: string) => { const p = phaseOf(d, id); return exits(d, p && opens(p) ? text(p['end']) : id).map((w) => w.to); };
  for (const p of d.phases) {
    if (scopes.has(p.id) || reached.has(p.id) || p.type === 'JOIN') continue;
    const seen = new Set([p.id]);
    for (const at of seen) {
      const ends = next(at).map((to) => scopes.get(to) ?? endedBy(d, to, scopes)).find((s) => s);
      if (ends) scopes.set(p.id, ends);
      if (ends) break;
      next(at).forEach((to) => { seen.add(to); });
    }
  }
}

function endedBy(d: Definition, join: string, scopes: Map<string, Scope>): Scope | undefined {
  const block = phaseOf(d, join)?.type === 'JOIN' ? blockOf(d, join) : undefined;
  const parent = block ? scopes.get(block.id) ?? null : null;
  return block && { block: block.id, branch: -1, parent, depth: (parent?.depth ?? 0) + 1 };
}

// scopeOf is the branch in which a phase stands, and scopeAt that to which a way out leads.
export function scopeOf(d: Definition, id: string): Scope | null {
  const p = phaseOf(d, id);
  return blocksOf(d).scopes.get(p?.type === 'JOIN' ? blockOf(d, id)?.id ?? id : id) ?? null;
}

export function scopeAt(d: Definition, at: Exit): Scope | null {
  const p = phaseOf(d, at.from);
  const parent = scopeOf(d, at.from);
  if (!p || !opens(p)) return parent;
  return { block: p.id, branch: p.type === 'PARALLEL' ? Math.max(0, branchNames(p).indexOf(at.name)) : 0, parent, depth: (parent?.depth ?? 0) + 1 };
}

export const branchNames = (p: Phase): string[] => (Array.isArray(p['branches']) ? p['branches'].map((b: unknown) => text((b as { name?: unknown } | null)?.name)) : []);

const same = (a: Scope | null, b: Scope | null): boolean => (a && b ? a.block === b.block && (a.branch === b.branch || a.branch < 0 || b.branch < 0) : a === b);

// within reports whether a scope is in a block, or in one branch of it.
function within(s: Scope | null, block: string, branch?: number): boolean {
  for (let at = s; at; at = at.parent) if (at.block === block) return branch === undefined || at.branch === branch;
  return false;
}
// apart reports whether two phases stand in different branches of a block.
export function apart(d: Definition, a: string, b: string): boolean {
  for (let x = scopeOf(d, a); x; x = x.parent) for (let y = scopeOf(d, b); y; y = y.parent) if (x.block === y.block && x.branch !== y.branch) return true;
  return false;
}

export const isWithin = (d: Definition, id: string, block: string): boolean => within(scopeOf(d, id), block);

// insideOf are the phases within a block or one of its branches, and membersOf those that are removed, moved and copied together with one.
export const insideOf = (d: Definition, block: string, branch?: number): string[] => d.phases.filter((p) => within(scopeOf(d, p.id), block, branch)).map((p) => p.id);

export function membersOf(d: Definition, id: string): string[] {
  const p = phaseOf(d, id);
  const block = p?.type === 'JOIN' ? blockOf(d, id) : p;
  if (!block || !opens(block)) return [id];
  const end = text(block['end']);
  return [block.id, ...insideOf(d, block.id), ...(phaseOf(d, end)?.type === 'JOIN' ? [end] : [])];
}

// endIn is where what is done in a scope leads: to the end of its block, or of the workflow.
export function endIn(d: Definition, scope: Scope | null, but = ''): string | undefined {
  if (scope) return text(phaseOf(d, scope.block)?.['end']) || undefined;
  const ends = d.phases.filter((p) => p.type === 'END' && p.id !== but);
  return (ends.find((p) => p['requestAction'] !== 'cancel') ?? ends[0])?.id;
}

// refusalIn is the end of a workflow that cancels the request.
export const refusalIn = (d: Definition): string | undefined => d.phases.find((p) => p.type === 'END' && p['requestAction'] === 'cancel')?.id;

// asideIn is where a way out leads at first that is taken when all is not well: an expiry to where a refusal leads, a refusal to the end that
// cancels the request, else to the end.
export const asideIn = (d: Definition, at: Exit, scope: Scope | null): string | undefined =>
  (at.name === 'expired' ? wayAt(d, { from: at.from, name: 'rejected' })?.to : undefined) ?? (at.name === 'rejected' && !scope ? refusalIn(d) : undefined) ?? endIn(d, scope, at.from);

// mayLead reports whether a way out may lead to a phase. What nothing leads to, and what leads nowhere, may stand anywhere.
export function mayLead(d: Definition, at: Exit, to: string): boolean {
  const [from, target] = [phaseOf(d, at.from), phaseOf(d, to)];
  if (!from || !target || target.type === 'START') return false;
  const { any, scopes, reached } = blocksOf(d);
  if (!any) return true;
  const s = scopeAt(d, at);
  const free = (p: Phase) => !scopes.has(p.id) && !reached.has(p.id) && p.type !== 'JOIN';
  if (target.type === 'JOIN') return (free(from) && !opens(from)) || (s !== null && s.block === blockOf(d, to)?.id);
  if (target.type === 'END') return s === null;
  return (free(from) && !opens(from)) || free(target) || same(s, scopeOf(d, to));
}

// structural is why blocks are not whole, as may be where somebody has written them by hand.
function structural(d: Definition): (Problem & { id: string })[] {
  const joins = d.phases.filter((p) => p.type === 'JOIN');
  return [
    ...d.phases.filter(opens).flatMap((p) => [
      ...(phaseOf(d, text(p['end']))?.type === 'JOIN' ? [] : [{ id: p.id, path: 'end', message: t('This block has no end.') }]),
      ...(isWithin(d, p.id, p.id) ? [{ id: p.id, path: '', message: t('A branch of this block leads back into it.') }] : []),
      ...((scopeOf(d, p.id)?.depth ?? 0) < deepest ? [] : [{ id: p.id, path: '', message: t('At most three blocks stand within each other.') }]),
    ]),
    ...joins.filter((j) => d.phases.filter((p) => opens(p) && p['end'] === j.id).length !== 1).map((j) => ({ id: j.id, path: '', message: t('This is not the end of exactly one block.') })),
    ...allWays(d).filter((w) => !mayLead(d, w, w.to)).map((w) => ({ id: w.from, path: '', message: t('An outcome leads into a block past its beginning, or out of one past its end.') })),
  ];
}

export const broken = (d: Definition) => blocksOf(d).problems;
