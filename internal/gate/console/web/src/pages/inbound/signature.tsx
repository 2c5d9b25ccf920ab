// signature asks how the calls of an inbound webhook prove themselves.
import type { Fault } from '../../app/fault';
import { t } from '../../app/text';
import * as enums from '../../gen/enums';
import type { SignatureStyle } from '../../gen/types';
import { Field, faultAt } from '../../ui/field';
import { settingsOf, styleNames, type SettingName, type Settings } from './signing';

interface Props { style: SignatureStyle; settings: Settings; set: (style: SignatureStyle, settings: Settings) => void; fault: Fault | null; fixed?: boolean }

const labels: Record<SettingName, string> = { header: t('Header'), prefix: t('Text before it'), encoding: t('Written as'), username: t('User name'), topicArn: t('Topic (ARN)') };

// Signing are the style and what it needs besides the secret. Of a fixed style the settings alone are asked for.
export function Signing({ style, settings, set, fault, fixed = false }: Props) {
  const names = settingsOf(style);
  const hints: Partial<Record<SettingName, string>> = {
    header: style === 'bearer' ? t('Authorization, if empty.') : t('Where the sender puts the signature.'),
    prefix: t('For example “sha256=”.'), username: t('The password is the secret.'), topicArn: t('Only messages of this topic are accepted.'),
  };
  const put = (name: SettingName, value: string) => { set(style, { ...settings, [name]: value === '' ? null : value }); };
  const needed = (name: SettingName) => name === names[0] && style !== 'bearer';
  return (
    <>
      {!fixed && <Field label={t('Signature')} hint={t('How the sender proves that a call is its own.')} fault={faultAt(fault, 'signatureStyle')}><select value={style} onChange={(e) => { set(e.target.value as SignatureStyle, settings); }}>{enums.SignatureStyle.map((s) => <option key={s} value={s}>{styleNames[s]}</option>)}</select></Field>}
      {names.length > 0 && <div className="pair">{names.map((name) => (
        <Field key={name} label={labels[name]} optional={!needed(name)} hint={hints[name]} fault={faultAt(fault, `signature.${name}`)}>
          {name === 'encoding'
            ? <select value={settings.encoding ?? 'hex'} onChange={(e) => { put(name, e.target.value); }}><option value="hex">{t('Hexadecimal')}</option><option value="base64">{'Base64' /* not said */}</option></select>
            : <input className="mono" spellCheck={false} autoComplete="off" value={settings[name] ?? ''} onChange={(e) => { put(name, e.target.value); }} />}
        </Field>
      ))}</div>}
    </>
  );
}
