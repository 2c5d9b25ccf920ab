// problems are what is wrong in a definition, or missing in it.
import { t } from '../../../app/text';
import { broken } from './blocks';
import { allExits, phaseOf, type Definition } from './definition';
import { exitName } from './kinds';
import type { Problem } from './shape';
import { wantingIn } from './wants';

// A Found is what is wrong in a phase, or, with no id, in the whole.
export interface Found extends Problem { id: string }

// loose are the ways out of a definition that lead nowhere.
export const loose = (d: Definition) => d.phases.flatMap((p) => allExits(d, p).filter((e) => e.to === undefined));

// problemsOf adds to what the server has found what can be seen without it.
export const problemsOf = (d: Definition, found: Found[]): Found[] =>
  [...loose(d).map((e) => ({ id: e.from, path: '', message: t('The outcome “{way}” leads nowhere yet.', { way: exitName(phaseOf(d, e.from), e.name) }) })), ...broken(d), ...wantingIn(d, found), ...found];
