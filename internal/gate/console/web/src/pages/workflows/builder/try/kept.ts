// kept is what stays of a trial while its panel is closed, and what the picture shows of it.
import { pathOf, type Taken } from '../../../../parts/picture';
import type { Answers } from '../../../../ui/answer';
import type { Refused } from '../found';
import type { Given, Trial } from './answers';

// On is what a workflow is tried on: a request that is made up, with answers to the form of an offering or free ones, one of the past, or
// the last call of its webhook; input is what a workflow that calls it gives.
export interface On { kind: 'sample' | 'request' | 'call'; offering: string; fields: Answers; input: Answers; request: { id: string; title: string } | null }

// Kept is a trial: of is the definition that was tried, as text. refused is why the last one could not be made.
export interface Kept { on: On; given: Given; trial: Trial | null; of: string; refused: Refused | null }

export const nothingKept: Kept = { on: { kind: 'sample', offering: '', fields: {}, input: {}, request: null }, given: {}, trial: null, of: '', refused: null };

// takenBy is the path of a trial.
export const takenBy = (trial: Trial): Taken => pathOf(trial.steps);
