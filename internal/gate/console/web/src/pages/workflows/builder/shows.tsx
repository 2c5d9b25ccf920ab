// shows is what those see of earlier results who work a task or decide an approval.
import { useState } from 'react';
import { t } from '../../../app/text';
import { Check, Field } from '../../../ui/field';
import type { FormProps } from './common';
import { usePhase } from './context';
import { titled } from './known';
import { showable } from './showable';
import { at, object, objects, text, within, type Json } from './shape';

export function ShowsField({ config, set }: FormProps) {
  const { definition, id, problems } = usePhase();
  const chosen = Array.isArray(config['shows']) ? config['shows'].map(String) : null;
  const [choosing, choose] = useState(chosen !== null && chosen.length > 0);
  const can = showable(definition, id);
  const others = objects(object(definition)['phases']).filter((p) => chosen?.includes(text(p['id'])) && !can.includes(p)); // chosen before something was moved
  const known = [...can, ...others];
  const how = chosen === null ? '' : choosing || chosen.length > 0 ? 'some' : 'none';
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
