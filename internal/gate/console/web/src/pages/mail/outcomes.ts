// outcomes say what became of a message, and what staff can still do.
import { plural, t } from '../../app/text';
import type { MailboxKind, MailOutcome, UnknownSenders, UserStatus } from '../../gen/types';

export const outcomeWord: Record<MailOutcome, string> = {
  RECEIVED: t('Processing'), COMMENT: t('Comment'), REQUEST: t('New request'), HELD: t('Held'), REFUSED: t('mail|Refused'), LOOP: t('Automatic'),
  DUPLICATE: t('Duplicate'), BOUNCE: t('Bounce'),
};

// outcomeTone is how the chip of an outcome looks: as the badge of this value.
export const outcomeTone: Record<MailOutcome, string> = {
  RECEIVED: 'open', COMMENT: 'active', REQUEST: 'active', HELD: 'WARNING', REFUSED: 'denied', LOOP: 'off', DUPLICATE: 'off', BOUNCE: 'off', // not said
};

export const outcomeSays: Record<MailOutcome, string> = {
  RECEIVED: t('It has just arrived, or its sender cannot be checked at the moment.'), COMMENT: t('It became a comment of a request.'), REQUEST: t('It submitted a request.'),
  HELD: t('It waits for staff.'), REFUSED: t('It became neither a request nor a comment.'), LOOP: t('It was sent automatically, so it was ignored and not answered.'),
  DUPLICATE: t('This message was received before.'), BOUNCE: t('It says that a mail from here did not arrive.'),
};

export const kindWord: Record<MailboxKind, string> = { smtp: t('Forwarded to this server'), imap: t('Fetched by IMAP'), webhook: t('Sent by a mail provider') };

export const unknownWord: Record<UnknownSenders, string> = { hold: t('Hold it until staff have looked at it'), create: t('Invite its sender, and submit the request'), refuse: t('Refuse it') };

// sentences are the reasons that the server gives, which are English, in the language of the page.
const sentences: Record<string, string> = {
  'Its sender is no member.': t('Its sender is not a member.'), // not said
  'Its sender is no member any more.': t('Its sender is no longer a member.'), // not said
  'Its sender is no member. Invite them, and release it.': t('Its sender is not a member.'), // not said
  'It answers a mail that was sent to somebody else.': t('It answers a mail that was sent to somebody else.'), // not said
  'It comes from a mailbox of the company.': t('It comes from a mailbox of the company.'), // not said
  'It names no one author.': t('It does not have exactly one sender.'), // not said
  'Staff refused it.': t('Staff refused it.'), // not said
  'The message is a report about another message.': t('The message is a report about another message.'), // not said
  'The message says that it was sent automatically.': t('The message says that it was sent automatically.'), // not said
  'The message has no address that an answer could go to.': t('The message has no address that an answer could go to.'), // not said
  'The message comes from a mail server.': t('The message comes from a mail server.'), // not said
  'The message comes from a mailing list.': t('The message comes from a mailing list.'), // not said
  'The message is bulk mail.': t('The message is bulk mail.'), // not said
  'The message is an automatic reply.': t('The message is an automatic reply.'), // not said
  'The subject is one of automatic replies.': t('The subject is one of automatic replies.'), // not said
};

const ours = 'It comes from a mailbox of the company.'; // not said

// releasable is whether staff may release a message: one that is held, or that a program sent, unless it comes from a mailbox.
export const releasable = (m: { outcome: MailOutcome; reason?: string | null }): boolean => m.outcome === 'HELD' || (m.outcome === 'LOOP' && m.reason !== ours); // not said

const unproven = 'It is not proven to come from its sender.'; // not said

// reasonSaid is the reason of an outcome in the language of the page, with the findings of the check of its sender apart.
export function reasonSaid(reason: string): { says: string; findings: string[] } {
  if (reason.startsWith(unproven)) return { says: t('Nothing proves that it comes from its sender.'), findings: reason.slice(unproven.length).split(';').map((f) => f.trim()).filter(Boolean) };
  const many = /^Its sender has sent (\d+) messages within an hour\.$/.exec(reason);
  if (many) return { says: plural(Number(many[1]), 'Its sender has sent {n} message within an hour.', 'Its sender has sent {n} messages within an hour.'), findings: [] };
  return { says: sentences[reason] ?? reason, findings: [] };
}

const unreachable = 'The mail server cannot be reached, or does not answer as it should: '; // not said

// faultSaid is why mail cannot be fetched, in the language of the page.
export function faultSaid(fault: string): string {
  if (fault === 'The mail server refuses the username or the password.') return t('The mail server refuses the user or the password.'); // not said
  return fault.startsWith(unreachable) ? t('The mail server cannot be reached, or does not answer as it should: {error}', { error: fault.slice(unreachable.length) }) : fault;
}

// onRelease is what becomes of a held message once staff vouch for its sender, of whom `status` is known; undefined for no member: it is
// filed, its sender has to be invited first, or it would be refused.
export function onRelease(status: UserStatus | undefined, unknown: UnknownSenders): 'filed' | 'invite' | 'refused' {
  if (status === 'active' || status === 'invited') return 'filed';
  if (status) return 'refused';
  return unknown === 'create' ? 'filed' : 'invite';
}
