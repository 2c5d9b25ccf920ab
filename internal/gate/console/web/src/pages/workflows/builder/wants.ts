// wants are what a phase still needs before the server takes it, as a new one does. Each is said where it is given.
import { t } from '../../../app/text';
import type { Definition, Phase } from './definition';
import { list, object, objects, text, type Problem } from './shape';

const blank = (v: unknown) => text(v).trim() === '';

const made = new WeakMap<Phase, Problem[]>();

export function wants(p: Phase): Problem[] {
  const have = made.get(p) ?? wanted(p);
  made.set(p, have);
  return have;
}

function wanted(p: Phase): Problem[] {
  const config = object(p['config']);
  switch (p.type) {
    case 'APPROVAL': return list(config['approvers']).length === 0 ? [{ path: 'config.approvers', message: t('Choose who decides.') }] : [];
    case 'DECISION': return objects(config['rules']).flatMap((r, i) => (blank(r['when']) ? [{ path: `config.rules[${i}].when`, message: t('Say when this is true.') }] : []));
    case 'DATA': return config['kind'] === 'enrich' && Object.keys(object(config['set'])).length === 0 ? [{ path: 'config.set', message: t('Add at least one value.') }] : [];
    case 'TIMER': return blank(config['duration']) && blank(config['until']) ? [{ path: config['until'] === undefined ? 'config.duration' : 'config.until', message: t('Say how long.') }] : [];
    case 'API_CALL': case 'WEBHOOK_CALLOUT': return blank(config['url']) || config['url'] === 'https://' ? [{ path: 'config.url', message: t('Give the address.') }] : [];
    default: return [];
  }
}

interface Found extends Problem { id: string }

// wantingIn are those of all phases; what the server has said of a place is not said again.
export const wantingIn = (d: Definition, said: Found[]): Found[] => d.phases.flatMap((p) => wants(p).filter((w) => !said.some((f) => f.id === p.id && f.path === w.path)).map((w) => ({ id: p.id, ...w })));
