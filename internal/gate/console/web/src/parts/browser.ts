// browser names the programs that people sign in with, and the ways in which they prove who they are.
import { t } from '../app/text';

// browser is a browser's name, by what it says of itself.
export function browser(agent: string | null | undefined): string {
  const name = ([['Edg/', 'Edge'], ['Firefox/', 'Firefox'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']] as const).find(([mark]) => agent?.includes(mark))?.[1]; // not said
  const on = ([['Windows', 'Windows'], ['Android', 'Android'], ['iPhone', 'iPhone'], ['Mac OS', 'macOS'], ['Linux', 'Linux']] as const).find(([mark]) => agent?.includes(mark))?.[1]; // not said
  return name ? (on ? t('{name} on {on}', { name, on }) : name) : agent || t('Unknown browser');
}

const ways: Record<string, string> = { pwd: t('password'), otp: t('one-time code'), sms: t('code by SMS'), hwk: t('passkey'), mfa: t('two factors'), fed: t('single sign-on') };

// proofs are the ways in which somebody has proved who they are, as the API names them, in words.
export const proofs = (methods: readonly string[]): string => [...new Set(methods.map((m) => ways[m] ?? m))].join(', ');
