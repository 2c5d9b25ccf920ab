// callout is the form of a WEBHOOK_CALLOUT: it tells another system what happens.
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';
import { Body } from './body';
import type { FormProps } from './common';
import { usePhase } from './context';
import { SecretPicker } from './secretpicker';
import { SendOnce } from './sendonce';
import { at, text } from './shape';
import { TemplateField } from './templatefield';

export function CalloutForm({ config, set }: FormProps) {
  const { id, problems } = usePhase();
  return (
    <>
      <TemplateField label={t('Address')} place={'call'} placeholder={'https://'} value={text(config['url'])} change={(to) => { set('url', to); }} problem={at(problems, 'config.url', 'config')} hint={t('Begins with https://.')} />
      <Field label={t('Event')} optional hint={t('How the receiver tells calls apart; workflow.callout when empty.')} fault={at(problems, 'config.event')}><input className="mono" spellCheck={false} placeholder={'workflow.callout'} value={text(config['event'])} onChange={(e) => { set('event', e.target.value || undefined); }} /></Field>
      <Body label={t('What is sent')} path="config.data" value={config['data']} change={(to) => { set('data', to); }} />
      <SecretPicker label={t('Signed with')} none={t('Not signed')} hint={t('The receiver can then check that the call is yours.')} value={text(config['signingSecret'])} change={(to) => { set('signingSecret', to); }} problem={at(problems, 'config.signingSecret')} />
      <SendOnce phaseId={id} />
    </>
  );
}
