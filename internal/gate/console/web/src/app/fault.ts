import type { CombinedError } from '@urql/core';

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
const plain = (d: Fault['details'][number]) => (/^must have at least 1 character\.?$/i.test(d.message) ? { ...d, message: 'Is required.' } : d);

// faultOf reads what the server said; a call that had no answer is "connection_lost".
export function faultOf(error: CombinedError | undefined): Fault | null {
  if (!error) return null;
  const g = error.graphQLErrors[0];
  if (!g) return { code: 'connection_lost', message: 'The connection lost its way to the server.', details: [] };
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
  if (unproven(f)) return 'Nothing was changed: this needs a proof that it is you.';
  switch (f.code) {
    case 'forbidden': return `You may not do this. ${f.reason ? `Decided by ${f.reason.startsWith('pol_') ? 'the access policy ' : ''}${f.reason}.` : f.message}`;
    case 'not_found': return 'It was not found: it may have been deleted.';
    case 'precondition_failed': return 'Somebody has changed this meanwhile. Look at it again, then repeat.';
    case 'rate_limit_exceeded': return `There were too many calls. Wait ${f.retryAfter ?? 'some'} seconds.`;
    case 'connection_lost': return 'The connection was lost. Nothing is known of what became of it: look before you repeat.';
    case 'validation_error': return f.details.length === 0 ? f.message : f.details.map((d) => `${d.field}: ${d.message}`).join(' ');
    default: return f.message;
  }
}
