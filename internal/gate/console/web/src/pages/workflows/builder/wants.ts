// wants are what a phase still needs before the server takes it, as a new one does. Each is said where it is given.
import { t } from '../../../app/text';
import { branchesOf } from '../../../parts/blocks';
import { numberOf } from '../../../app/digits';
import type { Definition, Phase } from './definition';
import { variable } from './value';
import { list, object, objects, text, type Problem } from './shape';

const blank = (v: unknown) => text(v).trim() === '';

const made = new WeakMap<Phase, Problem[]>();

export function wants(p: Phase): Problem[] {
  const have = made.get(p) ?? [...wanted(p), ...unnamed('participants', p['participants']), ...unnamed('config.approvers', object(p['config'])['approvers'])];
  made.set(p, have);
  return have;
}

// unnamed are the people of an answer of whom it is not said which.
const unnamed = (path: string, all: unknown): Problem[] => objects(all).flatMap((x, i) => (x['type'] === 'answer' && blank(x['answer']) ? [{ path: `${path}[${i}].answer`, message: t('Say which answer names the person.') }] : []));

function wanted(p: Phase): Problem[] {
  const config = object(p['config']);
  switch (p.type) {
    case 'APPROVAL': return [
      ...(list(config['approvers']).length === 0 ? [{ path: 'config.approvers', message: t('Choose who decides.') }] : []),
      ...(typeof config['deadline'] === 'string' && blank(config['deadline']) ? [{ path: 'config.deadline', message: t('Say how long.') }] : []),
    ];
    case 'DECISION': return objects(config['rules']).flatMap((r, i) => (blank(r['when']) ? [{ path: `config.rules[${i}].when`, message: t('Say when this is true.') }] : []));
    case 'DATA': return config['kind'] === 'enrich' && Object.keys(object(config['set'])).length === 0 ? [{ path: 'config.set', message: t('Add at least one value.') }] : [];
    case 'TIMER': return blank(config['duration']) && blank(config['until']) ? [{ path: config['until'] === undefined ? 'config.duration' : 'config.until', message: t('Say how long.') }] : [];
    case 'API_CALL': case 'WEBHOOK_CALLOUT': return blank(config['url']) || config['url'] === 'https://' ? [{ path: 'config.url', message: t('Give the address.') }] : [];
    case 'CALL_WORKFLOW': return blank(config['workflowId']) ? [{ path: 'config.workflowId', message: t('Choose the workflow.') }] : [];
    case 'PARALLEL': return [...branchesWanted(p), ...counted(p['join'], branchesOf(p).length)];
    case 'FOR_EACH': return [...entriesWanted(p), ...counted(p['join'], 100)];
    default: return [];
  }
}

function branchesWanted(p: Phase): Problem[] {
  const all = branchesOf(p);
  const few = all.length < 2 ? [{ path: 'branches', message: t('At least two branches are needed.') }] : [];
  return [...few, ...all.flatMap((b, i) => [
    ...(blank(b['name']) ? [{ path: `branches[${i}].name`, message: t('Give the branch a name.') }] : all.findIndex((x) => x['name'] === b['name']) < i ? [{ path: `branches[${i}].name`, message: t('Another branch has this name.') }] : []),
    ...(b['start'] === p['end'] ? [{ path: `branches[${i}].start`, message: t('Add a phase to the branch “{name}”.', { name: text(b['name']) }) }] : []),
  ])];
}

function entriesWanted(p: Phase): Problem[] {
  const most = p['maxParallel'];
  return [
    ...(blank(p['in']) ? [{ path: 'in', message: t('Choose the list.') }] : []),
    ...(variable.test(text(p['as'])) && p['as'] !== 'index' ? [] : [{ path: 'as', message: t('Say what one entry is called.') }]),
    ...(p['start'] === p['end'] ? [{ path: 'start', message: t('Add a phase that is done for each entry.') }] : []),
    ...(most === undefined || whole(most, 10) ? [] : [{ path: 'maxParallel', message: t('Give a number from 1 to {n}.', { n: 10 }) }]),
  ];
}

// counted is whether so many can be done before it goes on.
const counted = (join: unknown, most: number): Problem[] => (join === undefined || (typeof join === 'string' && ['all', 'any'].includes(join)) ? [] : whole(join, most) ? [] : [{ path: 'join', message: t('Give a number from 1 to {n}.', { n: most }) }]);

const whole = (v: unknown, most: number): boolean => { const n = Number(numberOf(text(v)) ?? Number.NaN); return Number.isInteger(n) && n >= 1 && n <= most; };

interface Found extends Problem { id: string }

// wantingIn are those of all phases; what the server has said of a place is not said again.
export const wantingIn = (d: Definition, said: Found[]): Found[] => d.phases.flatMap((p) => wants(p).filter((w) => !said.some((f) => f.id === p.id && f.path === w.path)).map((w) => ({ id: p.id, ...w })));
