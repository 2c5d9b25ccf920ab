// shows is what those see of earlier results who work a task or decide an approval.
import { useState } from 'react';
import { t } from '../../../app/text';
import { Check, Field } from '../../../ui/field';
import { apart } from './blocks';
import type { FormProps } from './common';
import { usePhase } from './context';
import { shaped } from './definition';
import { earlier, titled } from './known';
import { at, object, objects, text, within, type Json } from './shape';

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

export function ShowsField({ config, set }: FormProps) {
  const { definition, id, problems } = usePhase();
  const chosen = Array.isArray(config['shows']) ? config['shows'].map(String) : null;
  const [choosing, choose] = useState(chosen !== null && chosen.length > 0);
  const can = showable(definition, id);
  const others = objects(object(definition)['phases']).filter((p) => chosen?.includes(text(p['id'])) && !can.includes(p)); // chosen before something was moved
  const known = [...can, ...others];
  const how = chosen === null ? '' : choosing ? 'some' : 'none';
  const turn = (to: string) => {
    choose(to === 'some');
    set('shows', to === '' ? undefined : to === 'some' ? can.map((p) => text(p['id'])).slice(0, 20) : []);
  };
  const check = (p: Json, on: boolean) => {
    const ids = known.map((x) => text(x['id'])).filter((x) => (x === p['id'] ? on : chosen?.includes(x)));
    set('shows', ids);
  };
  const faults = problems.filter((p) => within(p.path, 'config.shows')).map((p) => p.message);
  return (
    <>
      <Field label={t('What they see')} hint={t('Results of earlier phases, in the dialog and in the mail.')} fault={at(problems, 'config.shows') ?? (faults.join(' ') || undefined)}>
        <select value={how} onChange={(e) => { turn(e.target.value); }}>
          <option value="">{t('All since the last decision')}</option>
          {(known.length > 0 || how === 'some') && <option value="some">{t('Chosen phases')}</option>}
          <option value="none">{t('Nothing')}</option>
        </select>
      </Field>
      {how === 'some' && (
        <div role="group" aria-label={t('Chosen phases')} className="stack">
          {known.map((p) => <Check key={text(p['id'])} label={titled(p)} checked={chosen?.includes(text(p['id'])) ?? false} set={(on) => { check(p, on); }} />)}
        </div>
      )}
    </>
  );
}
