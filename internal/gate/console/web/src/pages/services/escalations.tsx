// escalations are what is done about requests of an offering that are not dealt with in time.
import type { Fault } from '../../app/fault';
import { t } from '../../app/text';
import type { EscalationAction, SlaClock } from '../../gen/types';
import { Choices, useTeamChoices } from '../../parts/choices';
import { Field, faultAt } from '../../ui/field';
import { MinutesField } from '../../ui/minutesfield';
import { RowList } from '../../ui/rowlist';
import { blank, place, type Escalation } from './escalation';

const clocks: Record<SlaClock, string> = { response: t('Nobody has accepted it'), resolution: t('It is not completed') };
const does: Record<EscalationAction, string> = { notify: t('Notify somebody by e-mail'), reassign: t('Give it to a team'), raise: t('Raise its priority by one') };

export function Escalations({ all, change, fault }: { all: Escalation[]; change: (to: Escalation[]) => void; fault: Fault | null }) {
  const teams = useTeamChoices();
  return (
    <RowList<Escalation>
      label={t('Escalations')} hint={t('What is done, once, about a request that is not dealt with in time.')} all={all} change={change} fresh={() => blank} add={t('Add escalation')} most={20} readOnly={false} problem={faultAt(fault, place)}
      row={(e, set, i) => {
        const at = (name: string) => faultAt(fault, `${place}[${i}].${name}`);
        const whole = faultAt(fault, `${place}[${i}]`);
        return (
          <>
            {whole && <p className="fault" role="alert">{whole}</p>}
            <div className="pair">
              <MinutesField label={t('After')} optional={false} hint={t('Of working time, since it was submitted.')} value={e.afterMinutes ?? undefined} change={(n) => { set({ ...e, afterMinutes: n ?? null }); }} problem={at('afterMinutes')} />
              <Field label={t('If')} fault={at('of')}><select value={e.of} onChange={(x) => { set({ ...e, of: x.target.value as SlaClock }); }}>{Object.entries(clocks).map(([value, says]) => <option key={value} value={value}>{says}</option>)}</select></Field>
              <Field label={t('Then')} fault={e.do === 'raise' ? at('do') ?? at('teamId') : at('do')}>
                <select value={e.do} onChange={(x) => { const to = x.target.value as EscalationAction; set({ ...e, do: to, ...(to === 'raise' ? { teamId: '' } : {}) }); }}>{Object.entries(does).map(([value, says]) => <option key={value} value={value}>{says}</option>)}</select>
              </Field>
              {e.do !== 'raise' && (
                <Field label={t('Team')} fault={at('teamId')}>
                  <select value={e.teamId} onChange={(x) => { set({ ...e, teamId: x.target.value }); }}><option value="" disabled={e.do === 'reassign'}>{e.do === 'notify' ? t('Whoever deals with it') : t('Choose…')}</option><Choices of={teams} now={e.teamId} /></select>
                </Field>
              )}
            </div>
          </>
        );
      }}
    />
  );
}
