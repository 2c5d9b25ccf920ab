// What became of a message is said in words, and what staff may do with a held one follows from who sent it.
import { describe, expect, it } from 'vitest';
import { faultSaid, onRelease, outcomeSays, outcomeTone, outcomeWord, reasonSaid, releasable } from '../pages/mail/outcomes';
import { MailOutcome } from '../gen/enums';

describe('a message', () => {
  it('has a word, a sentence and a colour for each outcome', () => {
    for (const o of MailOutcome) expect([outcomeWord[o], outcomeSays[o], outcomeTone[o]].every(Boolean), o).toBe(true);
  });

  it('says why, with what the check of its sender found apart', () => {
    expect(reasonSaid('It is not proven to come from its sender. dkim: no signature; spf: the client\'s address is not known')).toEqual({
      says: 'Nothing proves that it comes from its sender.', findings: ['dkim: no signature', 'spf: the client\'s address is not known'],
    });
    expect(reasonSaid('It is not proven to come from its sender. ').findings).toEqual([]);
  });

  it('says how many messages its sender has sent', () => {
    expect(reasonSaid('Its sender has sent 1021 messages within an hour.').says).toBe('Its sender has sent 1,021 messages within an hour.');
  });

  it('leaves out what the page offers itself, and says what it does not know as the server does', () => {
    expect(reasonSaid('Its sender is no member. Invite them, and release it.').says).toBe('Its sender is not a member.');
    expect(reasonSaid('The request is not valid. fields.model: Is required.').says).toBe('The request is not valid. fields.model: Is required.');
  });
});

describe('a message that may be released', () => {
  it('is held, or was sent by a program, such as a mailing list, but by no mailbox of the company', () => {
    expect(MailOutcome.filter((outcome) => releasable({ outcome, reason: 'The message comes from a mailing list.' })).toSorted()).toEqual(['HELD', 'LOOP']);
    expect(releasable({ outcome: 'LOOP', reason: 'It comes from a mailbox of the company.' })).toBe(false);
  });
});

describe('a held message', () => {
  it('is filed for whoever belongs to the company, invited ones too', () => {
    expect(onRelease('active', 'hold')).toBe('filed');
    expect(onRelease('invited', 'refuse')).toBe('filed');
  });

  it('is filed for a stranger where the mailbox invites strangers, and takes an invitation elsewhere', () => {
    expect(onRelease(undefined, 'create')).toBe('filed');
    expect(onRelease(undefined, 'hold')).toBe('invite');
    expect(onRelease(undefined, 'refuse')).toBe('invite');
  });

  it('comes to nothing for somebody who has left', () => {
    expect(onRelease('deactivated', 'create')).toBe('refused');
    expect(onRelease('erased', 'hold')).toBe('refused');
  });
});

describe('a mailbox that is fetched', () => {
  it('says what is wrong with its server', () => {
    expect(faultSaid('The mail server refuses the username or the password.')).toBe('The mail server refuses the user or the password.');
    expect(faultSaid('The mail server cannot be reached, or does not answer as it should: dial: timeout')).toMatch(/: dial: timeout$/);
    expect(faultSaid('Something new')).toBe('Something new');
  });
});
