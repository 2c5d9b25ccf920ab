// decision is the form of a DECISION: rules in their order, each a name and a condition, and what holds when none does.
import { t } from '../../../app/text';
import type { FormProps } from './common';
import { ConditionField } from './conditionfield';
import { usePhase } from './context';
import { freeName } from './fresh';
import { Rows } from './rows';
import { at, below, objects, put, text, type Json } from './shape';
import { WayField } from './wayfield';

export function DecisionForm({ config, set }: FormProps) {
  const { problems } = usePhase();
  return (
    <>
      <Rows<Json>
        label={t('Rules')} hint={t('The first rule that is true decides.')} all={objects(config['rules'])} ordered add={t('Add rule')} problem={at(problems, 'config.rules')}
        change={(to) => { set('rules', to); }} fresh={() => ({ when: '', transition: freeName([...objects(config['rules']).map((r) => text(r['transition'])), text(config['default'])]) })}
        row={(rule, change, i) => (
          <>
            <WayField label={t('Name')} value={text(rule['transition'])} change={(to) => { change(put(rule, 'transition', to)); }} problem={below(problems, `config.rules[${i}].transition`)} />
            <ConditionField scope={'DECISION'} label={t('When')} value={text(rule['when'])} onChange={(to) => { change(put(rule, 'when', to)); }} problem={at(problems, `config.rules[${i}].when`, `config.rules[${i}]`)} />
          </>
        )}
      />
      <WayField label={t('Otherwise')} hint={t('The outcome if no rule is true.')} value={text(config['default'])} change={(to) => { set('default', to); }} problem={below(problems, 'config.default')} />
    </>
  );
}
