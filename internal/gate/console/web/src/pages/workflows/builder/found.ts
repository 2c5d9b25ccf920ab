// found reads what the server has said of a definition.
import type { Fault } from '../../../app/fault';
import { phaseAt } from '../../../parts/picture';
import type { Found } from './problems';
import { object, objects } from './shape';

// Refused is a refusal, and the definition that was sent.
export interface Refused { fault: Fault; sent: unknown }

// foundOf are the faults that the server has found, until what they are about was changed.
export function foundOf(refused: Refused | null, now: unknown): Found[] {
  return (refused?.fault.details ?? []).flatMap((d) => {
    const id = phaseAt(refused?.sent, d.field);
    const same = (of: unknown) => JSON.stringify(objects(object(of)['phases']).find((p) => p['id'] === id)) + JSON.stringify(objects(object(of)['transitions']).filter((way) => way['from'] === id));
    if (id !== '' && same(now) !== same(refused?.sent)) return [];
    const path = d.field.startsWith('definition.phases[') ? d.field.slice(`definition.phases[${id}]`.length).replace(/^\./, '') : '';
    return [{ id, path, message: d.message }];
  });
}
