// browser names the programs that people sign in with, and the ways in which they prove who they are.

// browser is a browser's name, by what it says of itself.
export function browser(agent: string | null | undefined): string {
  const name = ([['Edg/', 'Edge'], ['Firefox/', 'Firefox'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']] as const).find(([mark]) => agent?.includes(mark))?.[1];
  const on = ([['Windows', 'Windows'], ['Android', 'Android'], ['iPhone', 'iPhone'], ['Mac OS', 'macOS'], ['Linux', 'Linux']] as const).find(([mark]) => agent?.includes(mark))?.[1];
  return name ? `${name}${on ? ` on ${on}` : ''}` : agent || 'Unknown browser';
}

const ways: Record<string, string> = { pwd: 'password', otp: 'one-time code', sms: 'code by SMS', hwk: 'passkey', mfa: 'two factors', fed: 'single sign-on' };

// proofs are the ways in which somebody has proved who they are, as the API names them, in words.
export const proofs = (methods: readonly string[]): string => [...new Set(methods.map((m) => ways[m] ?? m))].join(', ');
