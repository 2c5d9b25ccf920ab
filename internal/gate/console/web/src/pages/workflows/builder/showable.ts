// showable are the phases whose results a phase can show to those who work or decide it.
import { apart } from './blocks';
import { shaped } from './definition';
import { earlier } from './known';
import { object, objects, text, type Json } from './shape';

// leaves reports whether a phase leaves something that people read.
function leaves(p: Json): boolean {
  const config = object(p['config']);
  switch (p['type']) {
    case 'PROCESS': case 'APPROVAL': return true;
    case 'DATA': return config['kind'] !== 'validate';
    case 'API_CALL': return Object.keys(object(config['response'])).length > 0;
    case 'CALL_WORKFLOW': return config['wait'] !== false;
    default: return false;
  }
}

// showable are the phases whose results a phase can show, in the order of the definition: those that lead to it and stand in no other branch.
export function showable(definition: unknown, id: string): Json[] {
  const before = earlier(definition, id);
  const d = shaped(definition);
  return objects(object(definition)['phases']).filter((p) => before.has(text(p['id'])) && leaves(p) && !(d && apart(d, text(p['id']), id)));
}
