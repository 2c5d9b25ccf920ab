// blockchoices are what the palette can do with the branches of a block.
import { t } from '../../../app/text';
import { branchesOf } from '../../../parts/blocks';
import { moved, without } from '../../../ui/lists';
import type { Definition, Phase } from './definition';
import { branchIn } from './kinds';
import type { Choice } from './palette';
import { put, text } from './shape';
import { focusPhase, type Acts } from './use';

// nameOf finds the field with the name of a branch.
const nameOf = (i: number) => () => globalThis.document.querySelectorAll<HTMLInputElement>('.of-phase .rows-row input')[i] ?? null; // not said

export function blockChoices(d: Definition, p: Phase, acts: Acts, lead: (find: () => HTMLElement | null) => void): Choice[] {
  if (p.type !== 'PARALLEL') return [];
  const all = branchesOf(p);
  const set = (branches: unknown[], told: string) => { acts.run({ do: 'set', phase: put(p, 'branches', branches) }, told); focusPhase(p.id); };
  return [
    ...(branchIn(d, p) ? [{ label: t('Add branch'), run: () => { acts.branch(p.id); } }] : []),
    ...all.flatMap((b, i) => {
      const name = text(b['name']);
      return [
        { label: t('Rename the branch “{name}”', { name }), run: () => { lead(nameOf(i)); } },
        ...(i > 0 ? [{ label: t('Move the branch “{name}” up', { name }), run: () => { set(moved(all, i, -1), t('The branch “{name}” was moved.', { name })); } }] : []),
        ...(i < all.length - 1 ? [{ label: t('Move the branch “{name}” down', { name }), run: () => { set(moved(all, i, 1), t('The branch “{name}” was moved.', { name })); } }] : []),
        ...(all.length > 2 ? [{ label: t('Remove the branch “{name}”', { name }), run: () => { set(without(all, i), t('The branch “{name}” was removed with all that was in it.', { name })); } }] : []),
      ];
    }),
  ];
}
