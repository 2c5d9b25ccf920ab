// data is the form of a DATA phase: it computes values, or checks the request's.
import { t } from '../../../app/text';
import { keyOf } from '../../../parts/formkeys';
import { Field } from '../../../ui/field';
import type { FormProps } from './common';
import { ConditionField } from './conditionfield';
import { usePhase } from './context';
import { dataKinds, reactions } from './formwords';
import { labelsOf } from './known';
import { Entries, Rows } from './rows';
import { at, below, object, objects, put, text, type Json } from './shape';
import { variable } from './value';
import { ValueField } from './valuefield';

export function DataForm({ phase, config, change }: FormProps) {
  const { problems } = usePhase();
  const kind = config['kind'] === 'validate' ? 'validate' : 'enrich';
  const put1 = (key: string, value: unknown) => { change(put(phase, 'config', put(config, key, value))); };
  // What one kind does has no place in the other: it is begun anew.
  const turn = (to: string) => { change(put(phase, 'config', to === 'enrich' ? { kind: to, set: {} } : { kind: to, rules: [{ check: '' }] })); };
  return (
    <>
      <Field label={t('What it does')} fault={at(problems, 'config.kind', 'config')}>
        <select value={text(config['kind'])} onChange={(e) => { turn(e.target.value); }}>
          {!Object.hasOwn(dataKinds, text(config['kind'])) && <option value={text(config['kind'])} disabled>{t('Choose…')}</option>}
          {Object.entries(dataKinds).map(([value, says]) => <option key={value} value={value}>{says}</option>)}
        </select>
      </Field>
      {kind === 'enrich' ? <Computed config={config} set={put1} /> : <Checked config={config} set={put1} />}
    </>
  );
}

function Computed({ config, set }: { config: Json; set: (key: string, value: unknown) => void }) {
  const { problems } = usePhase();
  const named = Object.keys(object(config['set']));
  return (
    <Entries
      label={t('Values')} hint={t('Later phases read each by its name.')} of={object(config['set'])} change={(to) => { set('set', to); }} name={t('Name')} placeholder={'total'} pattern={variable} says={t('Use letters, digits and _ only, not starting with a digit.')} tidy={keyOf} add={t('Add value')} fresh=""
      problem={named.length === 0 ? below(problems, 'config.set') : at(problems, 'config.set')} problemOf={(name) => at(problems, `config.set.${name}`)}
      value={(e, put, problem) => <ValueField label={t('Value')} only={['known', 'text', 'number', 'boolean', 'condition', 'code']} value={text(e.value)} change={put} problem={problem} />}
    />
  );
}

function Checked({ config, set }: { config: Json; set: (key: string, value: unknown) => void }) {
  const { problems, values } = usePhase();
  const answers = [...labelsOf(values('plain').tree)].filter(([code]) => /^request\.fields\.\w+$/.test(code)).map(([code, k]) => ({ key: code.replace('request.fields.', ''), label: k.label }));
  return (
    <>
      <Rows<Json>
        label={t('Checks')} hint={t('All of them must be true.')} all={objects(config['rules'])} change={(to) => { set('rules', to); }} fresh={() => ({ check: '' })} add={t('Add check')} ordered problem={at(problems, 'config.rules')}
        row={(rule, change, i) => (
          <>
            <ConditionField scope={'DATA'} label={t('Must be true')} value={text(rule['check'])} onChange={(to) => { change(put(rule, 'check', to)); }} problem={at(problems, `config.rules[${i}].check`, `config.rules[${i}]`)} />
            <Field label={t('Error message')} optional fault={at(problems, `config.rules[${i}].message`)}><input dir="auto" maxLength={1000} value={text(rule['message'])} onChange={(e) => { change(put(rule, 'message', e.target.value || undefined)); }} /></Field>
            <Field label={t('Shown at the question')} optional fault={at(problems, `config.rules[${i}].field`)}>
              <select value={text(rule['field'])} onChange={(e) => { change(put(rule, 'field', e.target.value || undefined)); }}>
                <option value="">{t('None')}</option>
                {text(rule['field']) && !answers.some((a) => a.key === rule['field']) && <option value={text(rule['field'])}>{text(rule['field'])}</option>}
                {answers.map((a) => <option key={a.key} value={a.key}>{a.label}</option>)}
              </select>
            </Field>
          </>
        )}
      />
      <Field label={t('When one is not true')} fault={at(problems, 'config.onInvalid')}>
        <select value={text(config['onInvalid']) || 'fail'} onChange={(e) => { set('onInvalid', e.target.value === 'fail' ? undefined : e.target.value); }}>
          {Object.entries(reactions).map(([value, says]) => <option key={value} value={value}>{says}</option>)}
        </select>
      </Field>
    </>
  );
}
