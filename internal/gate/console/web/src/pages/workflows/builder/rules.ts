// rules are participants who are not named but found for each request: for whom it is, who deals with it, the team of its service, and whom an
// answer names.
import { t } from '../../../app/text';
import { member } from '../../../parts/cel';
import { inWords } from '../../../ui/bits';
import { titled } from './known';
import { object, objects, text, type Json } from './shape';

export type Rule = 'requester' | 'assignee' | 'serviceTeam' | 'answer';
export const rules: Rule[] = ['requester', 'assignee', 'serviceTeam', 'answer'];
export const decides: Rule[] = rules.slice(1); // nobody decides on a request of their own

const names: Record<string, string> = { requester: t('The requester'), assignee: t('The assignee of the request'), serviceTeam: t('The team of the service') };

export const isRule = (type: unknown): boolean => rules.some((r) => r === type);

// Question is one of a form whose answer names a person: of the request, or of an earlier task with its id and its name.
export interface Question { key: string; label: string; phase?: string; of?: string }

// questionsOf are the questions of forms whose answers name a person, each once.
export function questionsOf(fields: Json[]): Question[] {
  const found = new Map<string, string>();
  for (const f of fields) if (f['type'] === 'user' || f['type'] === 'email') found.set(text(f['key']), text(f['label']) || inWords(text(f['key'])));
  return [...found].map(([key, label]) => ({ key, label }));
}

// taskQuestions are those of the tasks of a definition whose answers are known somewhere, by what expressions call them there.
export const taskQuestions = (definition: unknown, known: { has: (code: string) => boolean }): Question[] =>
  objects(object(definition)['phases']).filter((p) => p['type'] === 'PROCESS').flatMap((p) => questionsOf(objects(object(object(p['config'])['form'])['fields']))
    .filter((q) => known.has(member(`phases.${text(p['id'])}`, q.key))).map((q) => ({ ...q, phase: text(p['id']), of: titled(p) })));

// asks reports whether a question is the one whose answer names a participant.
export const asks = (q: Question, p: Json): boolean => q.key === p['answer'] && (q.phase ?? '') === text(p['phaseId']);

// ruleSaid is a participant by rule in words; '' for somebody who is named.
export function ruleSaid(p: Json, questions: Question[] = []): string {
  if (p['type'] !== 'answer') return names[text(p['type'])] ?? '';
  const key = text(p['answer']);
  const asked = questions.find((q) => asks(q, p));
  const question = asked?.label ?? inWords(key);
  if (text(p['phaseId'])) return t('Person in the answer “{question}” of “{phase}”', { question, phase: asked?.of ?? inWords(text(p['phaseId'])) });
  return key === '' ? t('Person in the answer') : t('Person in the answer “{question}”', { question });
}

// freeRules are the entries that can be chosen of some rules: that of an answer for each question, or without a key where none is known.
export const freeRules = (of: Rule[], questions: Question[]): Json[] => of.flatMap((type): Json[] =>
  (type !== 'answer' ? [{ type }] : [
    ...(questions.every((q) => q.phase) ? [{ type, answer: '' }] : []), ...questions.map((q) => ({ type, answer: q.key, ...(q.phase ? { phaseId: q.phase } : {}) })),
  ]));
