// rules are participants who are not named but found for each request: for whom it is, who deals with it, the team of its service, and whom an
// answer names.
import { t } from '../../../app/text';
import { inWords } from '../../../ui/bits';
import { text, type Json } from './shape';

export type Rule = 'requester' | 'assignee' | 'serviceTeam' | 'answer';
export const rules: Rule[] = ['requester', 'assignee', 'serviceTeam', 'answer'];
export const decides: Rule[] = rules.slice(1); // nobody decides on a request of their own

const names: Record<string, string> = { requester: t('The requester'), assignee: t('The assignee of the request'), serviceTeam: t('The team of the service') };

export const isRule = (type: unknown): boolean => rules.some((r) => r === type);

// Question is one of a form whose answer names a person.
export interface Question { key: string; label: string }

// questionsOf are the questions of forms whose answers name a person, each once.
export function questionsOf(fields: Json[]): Question[] {
  const found = new Map<string, string>();
  for (const f of fields) if (f['type'] === 'user' || f['type'] === 'email') found.set(text(f['key']), text(f['label']) || inWords(text(f['key'])));
  return [...found].map(([key, label]) => ({ key, label }));
}

// ruleSaid is a participant by rule in words; '' for somebody who is named.
export function ruleSaid(p: Json, questions: Question[] = []): string {
  if (p['type'] !== 'answer') return names[text(p['type'])] ?? '';
  const key = text(p['answer']);
  return key === '' ? t('Person in the answer') : t('Person in the answer “{question}”', { question: questions.find((q) => q.key === key)?.label ?? inWords(key) });
}

// freeRules are the entries that can be chosen of some rules: that of an answer for each question, or without a key where none is known.
export const freeRules = (of: Rule[], questions: Question[]): Json[] => of.flatMap((type): Json[] =>
  (type !== 'answer' ? [{ type }] : questions.length > 0 ? questions.map((q) => ({ type, answer: q.key })) : [{ type, answer: '' }]));
