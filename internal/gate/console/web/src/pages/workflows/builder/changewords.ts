// changewords say what differs between two definitions as the forms do: the phase by its name, the field by its label, people by theirs.
import { isNumeric } from '../../../app/digits';
import { t } from '../../../app/text';
import { branchesOf } from '../../../parts/blocks';
import { inWords, lasting, phaseType, words } from '../../../ui/bits';
import { spanOf } from './duration';
import { actions, dataKinds, modes, reactions } from './formwords';
import { exitName, long, who } from './kinds';
import { titled } from './known';
import { ruleSaid } from './rules';
import { isObject, list, object, objects, text, type Json } from './shape';
import type { Phase } from './definition';

export interface Change { path: string; from?: unknown; to?: unknown }
// Said is a difference in words: of which phase, in which field. path is the place where no form shows it; label is '' then.
export interface Said { phase: string; label: string; path: string; from: string; to: string }

// Around is what names things: the definitions before and after, and people, teams, agents, calendars and workflows by their ids. said is a
// condition in words, null for one that has none.
export interface Around { before: unknown; after: unknown; names: ReadonlyMap<string, string>; said?: ((cel: string) => string | null) | undefined }

const most = 160; // letters of a value that are shown
const cut = (s: string) => (s.length > most ? `${s.slice(0, most - 1)}…` : s);

const labels: Record<string, string> = {
  name: t('Name'), type: t('Type'), participants: t('Who takes part'), requestAction: t('What happens to the request'),
  'sla.responseMinutes': t('First response within'), 'sla.resolutionMinutes': t('Done within'), 'sla.warnAtPercent': t('Warn at (percent)'), 'sla.calendarId': t('Calendar'),
  'config.instructions': t('Instructions'), 'config.dueMinutes': t('Due within'), 'config.form.fields': t('Form of the task'), 'config.form': t('Form of the task'),
  'config.approvers': t('Approvers'), 'config.mode': t('Approved when'), 'config.quorum': t('How many'), 'config.order': t('One after another, in this order'), 'config.deadline': t('Deadline'),
  'config.default': t('Otherwise'), 'config.kind': t('What it does'), 'config.set': t('Values'), 'config.onInvalid': t('When one is not true'),
  'config.duration': t('How long'), 'config.until': t('Until'), 'config.calendarId': t('Calendar'),
  'config.method': t('Method'), 'config.url': t('Address'), 'config.headers': t('Headers'), 'config.body': t('What is sent'), 'config.data': t('What is sent'), 'config.response': t('Keep from the response'),
  'config.statusRules': t('Other responses'), 'config.retries.max': t('Retries'), 'config.retries.backoffSeconds': t('Before the first retry (seconds)'), 'config.timeoutSeconds': t('Timeout (seconds)'),
  'config.event': t('Event'), 'config.signingSecret': t('Signed with'), 'config.workflowId': t('Workflow'), 'config.input': t('What it is given'), 'config.wait': t('Wait until it is done'),
  branches: t('Branches'), in: t('List'), as: t('What one entry is called'), maxParallel: t('How many at once'), join: t('Continues when'), onFault: t('When one of them fails'), failed: t('When given up, go to'),
};
const byName = ['config.set', 'config.headers', 'config.body', 'config.data', 'config.response', 'config.input']; // what these hold has names of its own
const roles: Record<string, string> = { responsible: t('Responsible'), accountable: t('Accountable'), consulted: t('Consulted'), informed: t('Informed') };
const ofField: Record<string, string> = { label: t('Label'), type: t('Type'), required: t('Required'), help: t('Help'), options: t('Options'), visibleWhen: t('Shown when') };
const unknown: Record<string, string> = { user: t('Unknown person'), team: t('Unknown team'), agent: t('Unknown AI agent') };

const phaseIn = (d: unknown, id: string): Phase | undefined => objects(object(d)['phases']).find((p) => p['id'] === id) as Phase | undefined;

const within: Record<string, string> = { transition: t('Name'), when: t('When'), check: t('Condition'), message: t('Message'), name: t('Name'), label: t('Label'), answer: t('Person in the answer') };

// placeSaid is where in a phase something is, by the label of its field and the number of its row; '' where no form shows it.
export function placeSaid(p: Phase, path: string): string {
  const [, key = '', n, rest = ''] = /^([^[]*)(?:\[(\d+)\]\.?(.*))?$/s.exec(path) ?? [];
  const label = labelOf(p, key);
  return label && [n === undefined ? label : `${label} ${Number(n) + 1}`, within[rest]].filter(Boolean).join(' › ');
}

// withGone is a definition with the phases that differences have taken out of the one before it.
export const withGone = (d: unknown, changes: readonly Change[]): unknown => ({ phases: [...objects(object(d)['phases']), ...changes.flatMap((c) => (isObject(c.from) && c.from['id'] !== undefined && !c.to ? [c.from] : []))] });

// changeSaid says one difference.
export function changeSaid(c: Change, around: Around): Said {
  const { before, after, names } = around;
  const called = (id: unknown, of: unknown) => { const p = phaseIn(of, text(id)); return p ? titled(p) : text(id); };
  const way = /^definition\.transitions\[([^.\]]*)\.(.*)\]$/s.exec(c.path);
  if (way) {
    const [, from = '', name = ''] = way;
    const phase = phaseIn(after, from) ?? phaseIn(before, from);
    return { phase: called(from, phase ? { phases: [phase] } : {}), label: t('“{way}” leads to', { way: exitName(phase, name) }), path: '', from: called(c.from, before), to: called(c.to, after) };
  }
  const [, id = '', key = ''] = /^definition\.phases\[([^\]]*)\](?:\.(.*))?$/s.exec(c.path) ?? [];
  const phase = phaseIn(after, id) ?? phaseIn(before, id) ?? [c.to, c.from].find(isObject) as Phase | undefined;
  if (id === '' || !phase) return bare(c);
  if (key === '') {
    const brief = (of: unknown) => (isObject(of) ? [phaseType(text(of['type'])), who(of as Phase, new Map(names)), long(of as Phase), cut(rulesSaid(object(of['config'])['rules'], around))].filter(Boolean).join(' · ') : '');
    return { phase: titled(phase), label: t('Phase'), path: '', from: brief(c.from), to: brief(c.to) };
  }
  const label = labelOf(phase, key);
  if (label === '') return { ...bare(c), phase: titled(phase), path: key };
  const [from, to] = sides(key, c.from, c.to, (v, key) => valueSaid(key, v, around));
  return { phase: titled(phase), label, path: '', from: cut(from), to: cut(to) };
}

const bare = (c: Change): Said => ({ phase: '', label: '', path: c.path.replace(/^definition\./, ''), from: cut(json(c.from)), to: cut(json(c.to)) });
const json = (v: unknown) => (v === null || v === undefined ? '' : typeof v === 'string' ? v : JSON.stringify(v));

function labelOf(p: Phase, key: string): string {
  if (key === 'config.title') return p.type === 'PROCESS' ? t('Title of the task') : '';
  if (key === 'config.rules') return p.type === 'DATA' ? t('Checks') : t('Rules');
  if (Object.hasOwn(labels, key)) return labels[key] ?? '';
  const under = byName.find((k) => key.startsWith(`${k}.`));
  return under ? `${labels[under] ?? ''} › ${key.slice(under.length + 1)}` : '';
}

// sides are both values in words. Of lists what both have is left out, unless their order alone differs.
function sides(key: string, from: unknown, to: unknown, say: (v: unknown, key: string) => string): [string, string] {
  if (!Array.isArray(from) || !Array.isArray(to)) return [say(from, key), say(to, key)];
  const without = (all: unknown[], other: unknown[]) => { const has = new Set(other.map((x) => JSON.stringify(x))); return all.filter((x) => !has.has(JSON.stringify(x))); };
  const [gone, come] = [without(from, to), without(to, from)];
  if (gone.length + come.length === 0) return [say(from, key), say(to, key)];
  if (key !== 'config.form.fields') return [say(gone, key), say(come, key)];
  const beside = (all: unknown[], other: unknown[]) => objects(all).map((f) => fieldSaid(f, objects(other).find((o) => o['key'] === f['key']))).join(', ');
  return [beside(gone, come), beside(come, gone)];
}

// fieldSaid is a field of a form, with what is otherwise than in the other one of its key.
function fieldSaid(f: Json, other: Json | undefined): string {
  const label = text(f['label']) || text(f['key']);
  const keys = other ? [...new Set([...Object.keys(f), ...Object.keys(other)])].filter((k) => k !== 'label' && k !== 'key' && JSON.stringify(f[k] ?? null) !== JSON.stringify(other[k] ?? null)) : [];
  const value = (k: string, v: unknown) => (v === null || v === undefined ? t('None') : typeof v === 'boolean' ? yes(v) : k === 'type' ? words(text(v)) : Array.isArray(v) ? v.join(', ') : json(v));
  return keys.length === 0 ? label : `${label} (${keys.map((k) => `${ofField[k] ?? inWords(k)}: ${value(k, f[k])}`).join('; ')})`;
}

const yes = (v: unknown) => (v === true ? t('Yes') : t('No'));
const nameOf = (p: Json, names: ReadonlyMap<string, string>) => ruleSaid(p) || names.get(text(p['id'])) || unknown[text(p['type'])] || words(text(p['type']));

// rulesSaid are the conditions of a decision or a check.
const rulesSaid = (v: unknown, { said }: Around): string => objects(v).map((r) => {
  const [name, cel] = r['check'] === undefined ? [`${text(r['transition'])}: `, text(r['when'])] : ['', text(r['check'])];
  return name + (said?.(cel) ?? cel);
}).join('; ');

function valueSaid(key: string, v: unknown, around: Around): string {
  const { names, before, after } = around;
  if (v === null || v === undefined) return '';
  const choice = (of: Record<string, string>) => of[text(v)] ?? json(v);
  switch (key) {
    case 'type': return phaseType(text(v));
    case 'requestAction': return choice(actions);
    case 'participants': return objects(v).map((p) => `${roles[text(p['role'])] ?? words(text(p['role']))}: ${nameOf(p, names)}`).join(', ');
    case 'config.approvers': return objects(v).map((p) => nameOf(p, names)).join(', ');
    case 'config.mode': return choice(modes);
    case 'config.kind': return choice(dataKinds);
    case 'config.onInvalid': return choice(reactions);
    case 'config.order': return yes(v === 'sequential');
    case 'config.deadline': case 'config.duration': { const s = spanOf(text(v)); const minutes = s && !Number(s.s) ? Number(s.d) * 1440 + Number(s.h) * 60 + Number(s.m) : 0; return minutes > 0 ? lasting(minutes) : text(v); }
    case 'sla.responseMinutes': case 'sla.resolutionMinutes': case 'config.dueMinutes': return isNumeric(v) && Number(v) > 0 ? lasting(Number(v)) : json(v);
    case 'sla.calendarId': case 'config.calendarId': return names.get(text(v)) ?? t('Unknown calendar');
    case 'config.workflowId': return names.get(text(v)) ?? t('Unknown workflow');
    case 'config.rules': return rulesSaid(v, around);
    case 'config.statusRules': return objects(v).map((r) => `${text(r['status'])}: ${text(r['transition'])}`).join(', ');
    case 'config.form': return objects(object(v)['fields']).map((f) => fieldSaid(f, undefined)).join(', ');
    case 'config.form.fields': return objects(v).map((f) => fieldSaid(f, undefined)).join(', ');
    case 'branches': return branchesOf({ branches: list(v) }).map((b) => text(b['name'])).join(', ');
    case 'join': return v === 'all' ? t('All') : v === 'any' ? t('The first one') : json(v);
    case 'onFault': return v === 'cancel' ? t('Give the block up') : t('Wait until somebody has looked at it');
    case 'failed': { const p = phaseIn(after, text(v)) ?? phaseIn(before, text(v)); return p ? titled(p) : text(v); }
    default: return typeof v === 'boolean' ? yes(v) : json(v);
  }
}
