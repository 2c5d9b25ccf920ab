// live asks the server of the expressions that somebody has written since the draft was saved, a short time after they stop.
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { useSettled } from '../../../app/settled';
import { CheckExpression } from '../../../gen/documents';
import { expressionsIn, keyOf, phasesOf } from './expressions';
import type { Found } from './problems';

const most = 40; // that are asked of at once

// useLive are the faults of expressions that are not saved yet, at their phase and field. saved is the definition in which the server has
// found none.
export function useLive(id: string, definition: unknown, saved: unknown, pause: boolean): Found[] {
  const client = useClient();
  const settled = useSettled(definition, 600);
  const known = useRef(new Map<string, string>());
  const base = useRef<unknown>(undefined);
  const [found, set] = useState<Found[]>([]);
  useEffect(() => {
    if (pause) return undefined;
    if (base.current !== saved) {
      base.current = saved;
      const phases = phasesOf(saved);
      for (const e of expressionsIn(saved)) known.current.set(keyOf(e, phases), '');
    }
    let over = false;
    const phases = phasesOf(settled);
    const all = expressionsIn(settled).map((e) => ({ ...e, key: keyOf(e, phases) }));
    const asked = [...new Map(all.filter((e) => !known.current.has(e.key)).map((e) => [e.key, e])).values()].slice(0, most);
    const drawn = { phases: [...phases].map((of) => ({ id: of })) }; // the names are all that it needs
    void Promise.all(asked.map(async (e) => {
      const o = await client.query(CheckExpression, { for: e.place, id, definition: drawn as never, expression: e.code }).toPromise();
      if (o.data) known.current.set(e.key, o.data.checkExpression?.fault?.message ?? '');
    })).then(() => {
      if (over) return;
      const now = all.flatMap((e) => { const message = known.current.get(e.key); return message ? [{ id: e.id, path: e.path, message }] : []; });
      set((was) => (JSON.stringify(was) === JSON.stringify(now) ? was : now));
    });
    return () => { over = true; };
  }, [client, id, settled, saved, pause]);
  return found;
}
