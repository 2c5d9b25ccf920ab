// Package mailbox makes requests and comments of the mail that people send.
//
//	SMTP listener (Take) ──┐
//	IMAP, every minute ────┼─▶ stored with its row and a job, then acknowledged ──▶ worker: exactly one outcome, with a reason that staff read
//	a provider's webhook ──┘
//
//	COMMENT     an answer by somebody who takes part in its request
//	REQUEST     a new mail, filed against the mailbox's offering, which a receipt answers
//	HELD        it waits for staff: whoever sent it could not be proved or is no member, or may not do this (Release)
//	REFUSED     nothing was made of it          LOOP       a machine sent it: nothing is answered (Release)
//	DUPLICATE   the same Message-ID came before BOUNCE     a mail of ours did not arrive; the person's mailState says so
//
//	mailbox.go, source.go  the mailboxes and where their mail comes from     message.go  what staff see and decide
//	take.go, fetch.go, hook.go  how mail comes                               answer.go   the addresses for answers
//	work.go  a message's job: judge.go whose it is, find.go which request it answers, apply.go what it becomes
//
// A message is acknowledged once it is stored, and its job ends in the transaction that makes the comment or the request, under a lock of
// its Message-ID: whatever dies in between, and however often it comes, each message becomes one thing (TestNodesAreKilled). It runs as the
// person whose mail it is, by the ordinary operations (audited with via: mail), so scopes, forms, access policies and events hold; they are
// asked outside of the transaction, because they may be slow. Only text and files come by mail: no status, no approval.
//
// Who it is: From counts only when SPF or DKIM vouch for its domain (package sender), or a server that the mailbox names says so. Which
// request: the references to a mail of ours, or #1042 in the subject. The answer address of our mails carries a token of company, request
// and person (package reply); with it, whoever holds such a mail answers, and without it only those who take part in the request. A mail
// with somebody else's token is held. A mail that told what not everybody may read who reads the request has another token, and References
// that say so (mail.NoteThread): its answer is an internal note, or, of somebody who may write none, a public comment of their own words alone.
// Anybody can write a report that a mail did not arrive, so it counts at the answer address alone.
//
// A node works four messages at once, two of one company: a DNS that somebody made slow takes 5 s of each. A sender's 21st message of an
// hour is held, and the sixth is answered by no receipt. Raw messages are kept for 30 days, encrypted under the company's key; with them go
// the rows of what became nothing.
package mailbox
