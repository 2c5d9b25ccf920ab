// momentfield is the moment until which a timer waits.
import { X } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';
import { here } from '../../../ui/zone';
import { CodeField } from './codefield';
import { usePhase } from './context';
import { DurationField } from './durationfield';
import { readMoment, writeMoment, type Moment } from './moment';
import { Picker } from './picker';

const none: Moment = { base: '', at: '', zone: 'UTC', shift: '', by: '' };

export function MomentField({ value, change, problem }: { value: string; change: (to: string) => void; problem?: string | undefined }) {
  const { readOnly, values } = usePhase();
  const { tree, labels } = values('plain');
  const [text, setText] = useState(false);
  const kind = (code: string) => { const k = labels.get(code)?.kind; return k === 'date' || k === 'moment' ? k : k === 'any' || k === 'text' ? 'moment' : null; };
  const m = value === '' ? none : readMoment(value, kind);
  const toggle = !readOnly && <button type="button" className="quiet small" aria-pressed={text || !m} disabled={!m} onClick={() => { setText(!text); }}>{t('As an expression')}</button>;
  if (text || !m) return <div><CodeField label={t('Until')} value={value} change={change} problem={problem} wants={['moment', 'date']} />{m && toggle}</div>;
  const set = (to: Partial<Moment>) => { const next = { ...m, ...to }; change(next.base ? writeMoment(next, kind(next.base) === 'date') : ''); };
  const dated = kind(m.base) === 'date';
  return (
    <>
      <div className={`field${problem ? ' faulty' : ''}`} role="group" aria-label={t('Until')}>
        <div className="label-row"><span className="template-label">{t('Until')}</span></div>
        <div className="line">
          {m.base && <span className="value-chip" title={m.base}>{labels.get(m.base)?.label ?? m.base}{!readOnly && <button type="button" aria-label={t('Remove the value of “{label}”', { label: t('Until') })} onClick={() => { change(''); }}><X size={12} aria-hidden /></button>}</span>}
          {!readOnly && <Picker tree={tree} wants={['moment', 'date']} label={m.base ? t('Change') : t('Choose a value')} pick={(k) => { change(writeMoment({ ...none, base: k.code }, k.kind === 'date')); }} />}
          {toggle}
        </div>
        {problem && <p className="fault">{problem}</p>}
      </div>
      {dated && (
        <div className="pair">
          <Field label={t('Time of day')} optional hint={t('Without one, the beginning of the day.')}><input type="time" value={m.at} onChange={(e) => { set({ at: e.target.value }); }} /></Field>
          <Field label={t('Time zone')}><select value={m.zone} onChange={(e) => { set({ zone: e.target.value }); }}>{[...new Set([m.zone, here, 'UTC'])].map((z) => <option key={z}>{z}</option>)}</select></Field>
        </div>
      )}
      {m.base && (
        <Field label={t('Exactly')}>
          <select value={m.shift} onChange={(e) => { const shift = e.target.value as Moment['shift']; set({ shift, by: shift ? m.by || '1d' : '' }); }}>
            <option value="">{t('At this moment')}</option><option value="-">{t('Before it')}</option><option value="+">{t('After it')}</option>
          </select>
        </Field>
      )}
      {m.shift && <DurationField label={m.shift === '-' ? t('How long before') : t('How long after')} value={m.by} change={(by) => { set({ by }); }} />}
    </>
  );
}
