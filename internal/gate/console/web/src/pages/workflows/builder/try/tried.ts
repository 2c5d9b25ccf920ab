// tried is what a workflow is tried on, as the server takes it.
import { numberOf } from '../../../../app/digits';
import { toSend, type Answers, type FormField } from '../../../../ui/answer';
import { useAsked, useLastCall } from '../context';
import type { Asked } from '../known';
import type { On } from './kept';

// formOf are the questions of the offering whose form the sample answers; none for free answers.
export const formOf = (asked: Asked[], on: On): FormField[] => ((asked.find((a) => a.name === on.offering) ?? asked[0])?.fields ?? []) as unknown as FormField[];

// Tried is what tries can be made on, and sent is what of it goes to the server.
export interface Tried { asked: Asked[]; called: boolean; sent: (on: On) => { request?: string; fields?: Answers; webhook?: unknown; input?: Answers } }

export function useTried(workflow: string): Tried {
  const [asked, call] = [useAsked(workflow), useLastCall(workflow)];
  const about = (on: On) => {
    if (on.kind === 'request' && on.request) return { request: on.request.id };
    if (on.kind === 'call' && call) return { webhook: { headers: call.headers, body: call.body } };
    const form = formOf(asked, on);
    return { fields: form.length > 0 ? toSend(form, on.fields) : typedAll(on.fields) };
  };
  return { asked, called: call !== null, sent: (on) => ({ ...about(on), ...(Object.keys(on.input).length > 0 ? { input: typedAll(on.input) } : {}) }) };
}

// typedAll are free answers as they were written: numbers and truth values are such.
export const typedAll = (written: Answers): Answers => Object.fromEntries(Object.entries(written).map(([name, v]) => [name, v === 'true' ? true : v === 'false' ? false : typeof v === 'string' ? numberOf(v) ?? v : v]));
