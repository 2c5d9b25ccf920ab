// ends are the forms of START and END.
import { t } from '../../../app/text';
import { Action, type FormProps } from './common';

export function StartForm({ phase, change }: FormProps) {
  return (
    <>
      <p className="soft">{t('Each submitted request starts here, and so does each call of an inbound webhook of this workflow.')}</p>
      {typeof phase['requestAction'] === 'string' && <Action phase={phase} change={change} label={t('What happens to the request')} />}
    </>
  );
}

export function EndForm({ phase, change }: FormProps) {
  return <Action phase={phase} change={change} label={t('What happens to the request')} hint={t('The workflow ends here.')} />;
}
