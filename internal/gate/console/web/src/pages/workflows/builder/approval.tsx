// approval is the form of an APPROVAL: who decides, how many must, in which order, and until when.
import { numberOf } from '../../../app/digits';
import { plural, t } from '../../../app/text';
import { words } from '../../../ui/bits';
import { Check, Field } from '../../../ui/field';
import type { FormProps } from './common';
import { usePhase } from './context';
import { DurationField } from './durationfield';
import { modes } from './formwords';
import { Picked } from './people';
import { decides } from './rules';
import { at, objects, put, text } from './shape';
import { ShowsField } from './shows';

export function ApprovalForm(props: FormProps) {
  const { phase, config, set, change } = props;
  const { problems } = usePhase();
  const approvers = objects(config['approvers']);
  const ends = typeof config['deadline'] === 'string';
  const turn = (mode: string) => {
    const to = put(config, 'mode', mode);
    change(put(phase, 'config', put(to, 'quorum', mode === 'quorum' ? 1 : undefined)));
  };
  return (
    <>
      <Picked
        label={t('Approvers')} hint={t('Of a team, any member may decide. Whoever submitted the request never decides on it.')} none={t('Nobody yet: choose somebody…')} sorts={['user', 'team']} rules={decides} ordered={config['order'] === 'sequential'}
        all={approvers} paths={approvers.map((_a, i) => `config.approvers[${i}]`)} problem={at(problems, 'config.approvers')} change={(to) => { set('approvers', to); }} make={(who) => who}
      />
      <div className="pair">
        <Field label={t('Approved when')} fault={at(problems, 'config.mode', 'config')}>
          <select value={text(config['mode'])} onChange={(e) => { turn(e.target.value); }}>
            {!Object.hasOwn(modes, text(config['mode'])) && <option value={text(config['mode'])} disabled>{t('Choose…')}</option>}
            {Object.entries(modes).map(([value, says]) => <option key={value} value={value}>{says}</option>)}
          </select>
        </Field>
        {(config['mode'] === 'quorum' || at(problems, 'config.quorum')) && (
          <Field label={t('How many')} hint={plural(approvers.length, 'Of {n} approver.', 'Of {n} approvers.')} fault={at(problems, 'config.quorum')}>
            <input type="number" min={1} max={approvers.length} value={text(config['quorum'])} onChange={(e) => { set('quorum', numberOf(e.target.value)); }} />
          </Field>
        )}
      </div>
      {approvers.length > 1 && <Check label={t('One after another, in this order')} checked={config['order'] === 'sequential'} set={(on) => { set('order', on ? 'sequential' : undefined); }} />}
      <Check label={t('Has a deadline')} hint={t('After the deadline the workflow continues with the outcome “{way}”.', { way: words('expired') })} checked={ends} set={(on) => { set('deadline', on ? '3d' : undefined); }} />
      {ends && <DurationField label={t('Deadline')} value={text(config['deadline'])} change={(to) => { set('deadline', to); }} problem={at(problems, 'config.deadline')} />}
      <ShowsField {...props} />
    </>
  );
}
