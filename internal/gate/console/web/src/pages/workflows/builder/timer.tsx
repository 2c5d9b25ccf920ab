// timer is the form of a TIMER: a length of time or a moment.
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';
import { Calendar, type FormProps } from './common';
import { usePhase } from './context';
import { DurationField } from './durationfield';
import { MomentField } from './momentfield';
import { at, below, object, put, text } from './shape';

export function TimerForm({ phase, config, set, change }: FormProps) {
  const { problems } = usePhase();
  const until = Object.hasOwn(config, 'until') && config['until'] !== null && !text(config['duration']);
  const calendar = text(config['calendarId']);
  const turn = (to: string) => {
    const { duration: _d, until: _u, ...rest } = object(config);
    change(put(phase, 'config', { [to]: to === 'duration' ? '1d' : '', ...rest }));
  };
  return (
    <>
      <Field label={t('Waits')} fault={at(problems, 'config')}>
        <select value={until ? 'until' : 'duration'} onChange={(e) => { turn(e.target.value); }}><option value="duration">{t('For a length of time')}</option><option value="until">{t('Until a date and time')}</option></select>
      </Field>
      {until
        ? <MomentField value={text(config['until'])} change={(to) => { set('until', to); }} problem={at(problems, 'config.until')} />
        : <DurationField label={t('How long')} hint={calendar ? t('A day counts as 24 working hours.') : undefined} value={text(config['duration'])} change={(to) => { set('duration', to); }} problem={at(problems, 'config.duration')} />}
      <Calendar value={calendar} change={(id) => { set('calendarId', id); }} problem={below(problems, 'config.calendarId')} none={t('24 × 7')} />
    </>
  );
}
