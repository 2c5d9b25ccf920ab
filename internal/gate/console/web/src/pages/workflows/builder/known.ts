// known are the values that expressions can name at a phase, as a tree that people choose from by label.
import { parse } from '../../../app/digits';
import { t } from '../../../app/text';
import * as enums from '../../../gen/enums';
import { heldWays } from '../../../parts/blocks';
import { member, quoted } from '../../../parts/cel';
import { inWords, phaseType, words } from '../../../ui/bits';
import { blockOf, shaped } from './definition';
import { isWithin } from './blocks';
import type { Call } from './lastcall';
import { isObject, list, object, objects, text, type Json } from './shape';

export type Kind = 'text' | 'number' | 'boolean' | 'date' | 'moment' | 'person' | 'team' | 'list' | 'object' | 'any' | 'secret';

// Known is a value, or with children a group of them; code is empty for a group that is no value itself.
export interface Known { label: string; code: string; kind: Kind; options?: string[]; children?: Known[] }

export interface Asked { name: string; fields: Json[] } // an offering that runs through the workflow, and what its form asks

// Place is where an expression stands: calls can read secrets, and what is kept of an answer reads the answer.
export type Place = 'plain' | 'call' | 'response';

export interface Sources { definition: unknown; id: string; asked: Asked[]; call: Call | null; secrets: string[] }

export function knownAt(of: Sources, place: Place): Known[] {
  const groups: Known[] = [
    ...(place === 'response' ? [answered('')] : []),
    ...questions(of.asked),
    ...results(of.definition, of.id),
    { label: t('Request'), code: '', kind: 'object', children: request() },
    webhook(of.call),
    { label: t('Given by the calling workflow'), code: '', kind: 'object', children: inputNames(of.definition).map((name) => one(inWords(name), `input.${name}`, 'any')) },
    ...(place === 'call' ? [{ label: t('Secrets'), code: '', kind: 'secret' as const, children: of.secrets.map((name) => one(name, `secrets.${name}`, 'secret')) }] : []),
  ];
  return groups.filter((g) => g.children?.length !== 0);
}

const one = (label: string, code: string, kind: Kind, options?: readonly string[]): Known => ({ label, code, kind, ...(options ? { options: [...options] } : {}) });

const kinds: Record<string, Kind> = { number: 'number', boolean: 'boolean', date: 'date', datetime: 'moment', multiselect: 'list', file: 'list', user: 'person', team: 'team' };

// ofForm are the answers to a form.
const ofForm = (fields: Json[], under: string): Known[] => fields.filter((f) => text(f['key'])).map((f) => one(
  text(f['label']) || inWords(text(f['key'])), member(under, text(f['key'])), kinds[text(f['type'])] ?? 'text', Array.isArray(f['options']) ? f['options'].map(String) : undefined,
));

// questions are those of the offerings: together where there is one, else by offering.
function questions(asked: Asked[]): Known[] {
  const of = asked.map((a) => ({ label: a.name, code: '', kind: 'object' as const, children: ofForm(a.fields, 'request.fields') })).filter((g) => g.children.length > 0);
  if (of.length === 0) return [];
  return [{ label: t('Answers of the form'), code: '', kind: 'object', children: of.length === 1 ? of[0]?.children ?? [] : of }];
}

function request(): Known[] {
  const r = (label: string, key: string, kind: Kind, options?: readonly string[]) => one(label, `request.${key}`, kind, options);
  return [
    r(t('Title'), 'title', 'text'), r(t('Description'), 'description', 'text'), r(t('Number'), 'number', 'number'),
    r(t('Priority'), 'priority', 'text', enums.RequestPriority), r(t('Status'), 'status', 'text', enums.RequestStatus),
    r(t('Requester'), 'requesterId', 'person'), r(t('Submitted by'), 'createdBy', 'person'), r(t('Assignee'), 'assigneeId', 'person'), r(t('Team'), 'teamId', 'team'),
    r(t('Waits for the requester'), 'waiting', 'boolean'), r(t('Submitted at'), 'createdAt', 'moment'), r(t('First response at'), 'firstResponseAt', 'moment'), r(t('Accepted at'), 'acceptedAt', 'moment'), r(t('Completed at'), 'completedAt', 'moment'),
    r(t('Response due'), 'sla.responseDueAt', 'moment'), r(t('Resolution due'), 'sla.resolutionDueAt', 'moment'), r(t('Service level'), 'sla.state', 'text', enums.SLAState),
    r(t('Reopened'), 'reopenCount', 'number'), r(t('Tags'), 'tags', 'object'),
    r(t('Service'), 'serviceId', 'any'), r(t('Offering'), 'offeringId', 'any'), r(t('Request ID'), 'id', 'text'), one(t('Execution ID'), 'execution.id', 'text'),
  ];
}

// answered is the answer to a call, with what an example of it holds.
export const answered = (example: string): Known => ({
  label: t('Response'), code: '', kind: 'object',
  children: [ofJson(t('Body'), 'response.body', parsed(example), 0), one(t('Status code'), 'response.status', 'number'), one(t('Headers'), 'response.headers', 'object')],
});

function parsed(json: string): unknown {
  try { return parse(json); } catch { return null; } // a form, or cut off
}

// results are what the phases give that may have been passed before this one, in the order of the definition.
function results(definition: unknown, id: string): Known[] {
  const before = earlier(definition, id);
  const d = shaped(definition);
  const loops = d?.phases.filter((p) => p.type === 'FOR_EACH' && !isWithin(d, id, p.id)) ?? []; // what one of their entries gives is known within alone
  return objects(object(definition)['phases']).filter((p) => before.has(text(p['id']))).flatMap((p) => {
    if (d && loops.some((l) => l === p || isWithin(d, text(p['id']), l.id))) return [];
    const block = d && p['type'] === 'JOIN' ? blockOf(d, text(p['id'])) : undefined;
    const children = p['type'] === 'JOIN' ? joined(p, block) : resultOf(p, ways(definition, text(p['id'])));
    return children.length > 0 ? [{ label: titled(block ?? p), code: '', kind: 'object' as const, children }] : [];
  });
}

// joined is what is known once a block has come to its end.
function joined(end: Json, block: Json | undefined): Known[] {
  const under = `phases.${text(end['id'])}`;
  const gives = block?.['type'] === 'FOR_EACH' ? [one(t('Results'), `${under}.results`, 'list')]
    : [one(t('Completed branches'), `${under}.completed`, 'list'), one(t('Cancelled branches'), `${under}.cancelled`, 'list')];
  return block?.['onFault'] === 'cancel' ? [...gives, one(t('Why it was given up'), `${under}.fault.message`, 'text')] : gives;
}

// titled is what people call a phase: by its name, or else by its type.
export const titled = (p: Json): string => text(p['name']) || (text(p['id']).startsWith(text(p['type']).toLowerCase()) ? phaseType(text(p['type'])) : words(text(p['id'])));

// ways are the transitions that leave a phase.
export const ways = (definition: unknown, from: string): { name: string; to: string }[] =>
  objects(object(definition)['transitions']).filter((w) => w['from'] === from).map((w) => ({ name: text(w['name']), to: text(w['to']) }));

// earlier are the phases from which this one can be reached; it is among them where it is in a loop.
export function earlier(definition: unknown, id: string): Set<string> {
  const { transitions, phases } = object(definition);
  const edges = [...objects(transitions), ...objects(phases).flatMap(heldWays)];
  const found = new Set<string>();
  for (let next = [id]; next.length > 0;) {
    next = edges.filter((w) => next.includes(text(w['to'])) && !found.has(text(w['from']))).map((w) => text(w['from']));
    next.forEach((p) => { found.add(p); });
  }
  return found;
}

function resultOf(p: Json, out: { name: string }[]): Known[] {
  const [under, config] = [`phases.${text(p['id'])}`, object(p['config'])];
  const outcome = one(t('Outcome'), `${under}.outcome`, 'text', out.map((w) => w.name));
  const kept = (of: unknown) => Object.entries(object(of)).map(([name, code]) => one(inWords(name), member(under, name), kindOf(text(code))));
  switch (p['type']) {
    case 'PROCESS': return [outcome, ...ofForm(objects(object(config['form'])['fields']), under)];
    case 'APPROVAL': return [outcome, one(t('Decisions'), `${under}.decisions`, 'list')];
    case 'DATA': return kept(config['set']);
    case 'API_CALL': return [one(t('Status code'), `${under}.status`, 'number'), ...kept(config['response'])];
    case 'CALL_WORKFLOW': return config['wait'] === false ? [] : [one(t('What its phases leave'), `${under}.phases`, 'object')];
    case 'FOR_EACH': return [...(text(p['as']) ? [one(inWords(text(p['as'])), member(under, text(p['as'])), 'any')] : []), one(t('Number of the entry, from 0'), `${under}.index`, 'number')];
    case 'WEBHOOK_CALLOUT': return [one(t('Status code'), `${under}.status`, 'number')];
    default: return [];
  }
}

// kindOf guesses what an expression gives: a comparison is yes or no, and a literal is what it is.
export function kindOf(code: string): Kind {
  const bare = code.replace(new RegExp(quoted, 'g'), '""');
  if (/^(true|false)$|[=<>!]=|&&|\|\||[<>]/.test(bare) && !bare.includes('?')) return 'boolean';
  if (/^-?\d+(\.\d+)?$/.test(code)) return 'number';
  return /^'[^']*'$/.test(code) ? 'text' : 'any';
}

// inputNames are the names by which a definition reads what another workflow gives when it calls it.
export const inputNames = (definition: unknown): string[] => [...new Set([...(JSON.stringify(definition) ?? '').matchAll(/(?<![\w.])input\.([A-Za-z_]\w*)/g)].map((m) => m[1] ?? ''))];

// webhook is the call that started the execution, with what the last one held.
function webhook(call: Call | null): Known {
  const headers = Object.keys(call?.headers ?? {}).map((name) => one(name, member('webhook.headers', name), 'text'));
  return {
    label: t('Inbound webhook'), code: '', kind: 'object', children: call ? [
      ofJson(t('Body'), 'webhook.body', call.body, 0), { label: t('Headers'), code: 'webhook.headers', kind: 'object', children: headers }, one(t('Received at'), 'webhook.receivedAt', 'moment'),
    ] : [],
  };
}

const most = 60; // entries of one object that are shown

function ofJson(label: string, code: string, v: unknown, depth: number): Known {
  if (Array.isArray(v)) {
    const first = list(v)[0];
    return { label, code, kind: 'list', ...(first !== undefined && depth < 5 ? { children: [ofJson(t('First entry'), `${code}[0]`, first, depth + 1)] } : {}) };
  }
  if (isObject(v)) return { label, code, kind: 'object', ...(depth < 5 ? { children: Object.entries(v).slice(0, most).map(([k, x]) => ofJson(k, member(code, k), x, depth + 1)) } : {}) };
  return one(label, code, typeof v === 'string' ? 'text' : typeof v === 'boolean' ? 'boolean' : v === null ? 'any' : 'number');
}

// labelsOf are the labels of all values by their code: "Check the order › Note". A group of the top stands before its values, except the
// form's and the request's own, which need none.
export function labelsOf(known: Known[]): Map<string, Known> {
  const found = new Map<string, Known>();
  const walk = (k: Known, before: string) => {
    const label = before ? `${before} › ${k.label}` : k.label;
    if (k.code && !found.has(k.code)) found.set(k.code, { ...k, label });
    k.children?.forEach((c) => { walk(c, label); });
  };
  for (const g of known) {
    const plain = g.children?.some((c) => c.code.startsWith('request.') || c.children?.some((x) => x.code.startsWith('request.fields')));
    if (plain) g.children?.forEach((c) => { if (c.code) walk(c, ''); else c.children?.forEach((x) => { walk(x, ''); }); });
    else walk(g, '');
  }
  return found;
}

// named is what a value is called. An answer that no form asks, as before an offering has the workflow, is called by its key; null for other
// expressions.
export function named(code: string, labels: Map<string, Known>): string | null {
  const key = /^request\.fields\.(\w+)$/.exec(code)?.[1];
  return labels.get(code)?.label ?? (key ? inWords(key) : null);
}

// kindName says a type of values in words.
const names: Record<Kind, string> = {
  text: t('Text'), number: t('Number'), boolean: t('Yes or no'), date: t('Date'), moment: t('Date and time'), person: t('Person'), team: t('Team'), list: t('List'), object: t('Group of values'), any: t('Any value'), secret: t('Secret'),
};
export const kindName = (kind: Kind): string => names[kind];
