// Package mailbox makes requests and comments of the mail that people send.
//
//	SMTP listener ──▶ Take: stored with its row and a job, then 250 ──▶ worker: exactly one outcome, with a reason that staff read
//
//	COMMENT     an answer by somebody who takes part in its request
//	REQUEST     a new mail, filed against the mailbox's offering
//	HELD        it waits for staff: whoever sent it could not be proved or is no member, or the form asks for more (Release)
//	REFUSED     nothing was made of it          LOOP       a machine sent it, so nothing is answered
//	DUPLICATE   the same Message-ID came before BOUNCE     a mail of ours came back; the person's mailState says so
//
// A message is acknowledged once it is stored, and its job ends in the transaction that makes the comment or the request: whatever dies
// in between, each message becomes exactly one. It runs as the person whose mail it is, by the ordinary operations (audited with via:
// mail), so scopes, forms, access policies and events hold. Only text and files come by mail: no status, no approval.
//
// Who it is: From counts only when SPF or DKIM vouch for its domain (package sender), or a server that the mailbox names says so. Which
// request: the references to a mail of ours, or #1042 in the subject. The answer address of our mails carries a token of company, request
// and person (package reply); with it, whoever holds such a mail answers, and without it only those who take part in the request. A mail
// with somebody else's token is held.
//
// Raw messages are kept for 30 days, encrypted under the company's key. A sender's 21st message of an hour is held.
package mailbox
