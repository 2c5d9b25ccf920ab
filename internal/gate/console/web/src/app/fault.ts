import type { CombinedError } from '@urql/core';
import { plural, t } from './text';

// Fault is a refusal as pages show it.
export interface Fault {
  code: string;
  message: string;
  details: { field: string; message: string }[];
  requestId?: string;
  reason?: string;
  decisionId?: string;
  retryAfter?: number;
}

// plain says in a form's words that a text is empty: that alone has fewer letters than one.
export const plain = <D extends { message: string }>(d: D): D => (/^must have at least 1 character\.?$/i.test(d.message) ? { ...d, message: t('Is required.') } : d);

// faultOf reads what the server said; a call that had no answer is "connection_lost".
export function faultOf(error: CombinedError | undefined): Fault | null {
  if (!error) return null;
  const g = error.graphQLErrors[0];
  if (!g) return { code: 'connection_lost', message: t('The server could not be reached.'), details: [] };
  const x = (g.extensions ?? {}) as Partial<Fault>;
  return {
    code: x.code ?? 'internal_error', message: g.message, details: (x.details ?? []).map(plain), requestId: x.requestId, reason: x.reason,
    decisionId: x.decisionId, retryAfter: x.retryAfter,
  };
}

// unproven reports whether a refusal asks for a recent proof: the server calls it forbidden, and says so in the reason.
export const unproven = (x: { reason?: string } | null | undefined) => x?.reason === 'reauthentication_required';

// sentence says a fault in a line.
export function sentence(f: Fault): string {
  if (unproven(f)) return t('Nothing was changed. Confirm your identity first.');
  switch (f.code) {
    case 'forbidden':
      if (!f.reason) return t('You may not do this. {message}', { message: f.message });
      return f.reason.startsWith('pol_') ? t('You may not do this. Decided by the access policy {reason}.', { reason: f.reason }) : t('You may not do this. Decided by {reason}.', { reason: f.reason });
    case 'not_found': return t('It was not found: it may have been deleted.');
    case 'precondition_failed': return t('Somebody has changed this meanwhile. Reload and try again.');
    case 'rate_limit_exceeded': return f.retryAfter ? plural(f.retryAfter, 'Too many actions in a short time. Wait {n} second.', 'Too many actions in a short time. Wait {n} seconds.') : t('Too many actions in a short time. Wait a few seconds.');
    case 'connection_lost': return t('The connection was lost. It is not known whether this was done: check before you try again.');
    case 'validation_error': return f.details.length === 0 ? f.message : f.details.map((d) => `${d.field}: ${d.message}`).join(' ');
    default: return f.message;
  }
}
