// signing says how the calls of an inbound webhook prove themselves: the names of the ways, what each of them needs, and an example.
import { t } from '../../app/text';
import type { SignatureStyle } from '../../gen/types';

export interface Settings { header: string | null; prefix: string | null; encoding: 'hex' | 'base64' | null; username: string | null; topicArn: string | null }
export type SettingName = keyof Settings;

export const noSettings: Settings = { header: null, prefix: null, encoding: null, username: null, topicArn: null };

export const styleNames: Record<SignatureStyle, string> = {
  hex: 'Atrium (hex)', standard: 'Standard Webhooks', github: 'GitHub', stripe: 'Stripe', slack: 'Slack', pagerduty: 'PagerDuty', // not said
  header: t('HMAC in a header of your choice'), bearer: t('Secret in a header (bearer token)'), basic: t('User name and password'), sns: 'Amazon SNS', // not said
};

// settingsOf are the settings that a style takes; those that it needs come first.
export const settingsOf = (style: SignatureStyle): SettingName[] => (({ header: ['header', 'prefix', 'encoding'], bearer: ['header', 'prefix'], basic: ['username'], sns: ['topicArn'] } as Partial<Record<SignatureStyle, SettingName[]>>)[style] ?? []);

// sent are the settings as the API takes them: those of the style alone, and null when there are none.
export function sent(style: SignatureStyle, s: Settings): Partial<Settings> | null {
  const given = settingsOf(style).filter((name) => s[name] !== null && s[name] !== '').map((name) => [name, s[name]] as const);
  return given.length > 0 ? Object.fromEntries(given) as Partial<Settings> : null;
}

const openssl = (what: string) => `$(printf %s "${what}" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/.* //')`; // not said

// An Example is what a call carries: its body as JSON, and the headers besides those of its signature.
export interface Example { body: string; headers: Readonly<Record<string, string>> }
const some: Example = { body: '{"title":"Printer is empty"}', headers: {} }; // not said
const ownHeaders = /^(content-type|content-length|host|user-agent)$/i;
const quoted = (text: string) => text.replace(/["\\$`]/g, '\\$&');

// curl is a call that the webhook takes. SECRET is a variable of the shell; Amazon's messages nobody else can sign.
export function curl(url: string, style: SignatureStyle, s: Settings, verify = true, of = some): string {
  const start = `body='${of.body.replaceAll("'", String.raw`'\''`)}'`; // not said
  const event = Object.entries(of.headers).filter(([name]) => !ownHeaders.test(name)).map(([name, value]) => `${quoted(name)}: ${quoted(value)}`);
  const call = (headers: string[], before = '') => [start, ...(before ? [before] : []), [`curl -X POST '${url}' -H 'content-type: application/json'`, ...[...event, ...headers].map((h) => `-H "${h}"`), `--data-raw "$body"`].join(' ')].join('; '); // not said
  if (!verify) return call([]);
  const at = 'at=$(date +%s)'; // not said
  switch (style) {
    case 'github': return call([`x-hub-signature-256: sha256=${openssl('$body')}`, ...(event.some((h) => /^x-github-event:/i.test(h)) ? [] : ['x-github-event: issues'])]); // not said
    case 'pagerduty': return call([`x-pagerduty-signature: v1=${openssl('$body')}`]); // not said
    case 'stripe': return call([`stripe-signature: t=$at,v1=${openssl('$at.$body')}`], at); // not said
    case 'slack': return call(['x-slack-request-timestamp: $at', `x-slack-signature: v0=${openssl('v0:$at:$body')}`], at); // not said
    case 'standard': return call(['webhook-id: $id', 'webhook-timestamp: $at', 'webhook-signature: v1,$(printf %s "$id.$at.$body" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$(printf %s "${SECRET#whsec_}" | openssl base64 -d -A | xxd -p -c 256) -binary | openssl base64 -A)'], `${at}; id=call-1`); // not said
    case 'header': {
      const value = s.encoding === 'base64' ? '$(printf %s "$body" | openssl dgst -sha256 -hmac "$SECRET" -binary | openssl base64 -A)' : openssl('$body'); // not said
      return call([`${quoted(s.header ?? '')}: ${quoted(s.prefix ?? '')}${value}`]);
    }
    case 'bearer': {
      const header = s.header ?? 'authorization'; // not said
      return call([`${quoted(header)}: ${quoted(s.prefix ?? (/^authorization$/i.test(header) ? 'Bearer ' : ''))}$SECRET`]); // not said
    }
    case 'basic': return call([`authorization: Basic $(printf %s "${quoted(s.username ?? '')}:$SECRET" | openssl base64 -A)`]); // not said
    case 'sns': return `aws sns subscribe --protocol https --topic-arn '${s.topicArn ?? ''}' --notification-endpoint '${url}'`; // not said
    default: return call([`x-webhook-signature: sha256=${openssl('$body')}`]); // not said
  }
}

const reasons: Record<string, string> = {
  'The condition is not met.': t('The condition is not met.'), // not said
  'GitHub asks whether the address answers.': t('GitHub asks whether the address answers.'), // not said
  'PagerDuty asks whether the address answers.': t('PagerDuty asks whether the address answers.'), // not said
  'Slack asks whether the address answers.': t('Slack asks whether the address answers.'), // not said
  'Amazon SNS has ended the subscription.': t('Amazon SNS has ended the subscription.'), // not said
  'The subscription of Amazon SNS was confirmed.': t('The subscription of Amazon SNS was confirmed.'), // not said
  'The subscription of Amazon SNS could not be confirmed. Have SNS ask again.': t('The subscription of Amazon SNS could not be confirmed. Have SNS ask again.'), // not said
};

// why is the reason of a call in the language of the page, as far as it is one of the product's own.
export function why(reason: string): string {
  const [, cause = ''] = /^The condition could not be evaluated: (.*)$/s.exec(reason) ?? [];
  return cause ? t('The condition could not be evaluated: {cause}', { cause }) : reasons[reason] ?? reason;
}
