// Package account is what people do with their accounts besides signing in: accept an invitation, set a password that
// they forgot, change password and e-mail address, and open a company where the operator lets anybody do so.
//
// cmd mounts Server.Handler beside package signin's pages, whose sign-ins it borrows, and gives Letters
// to the operations' engine (op.Mailer) and to signin as what notifies. Letters are mails in the transaction that calls
// for them; Work is the part of the queue that looks up the account that an anonymous request is about.
//
// What a mail carries is a MailedLink: 32 random bytes in the address, of which only the SHA-256 is kept.
//
//	               GET: looked at, never used (programs that check mails follow links)
//	                ┌─┐
//	                ▼ │
//	(mailed) ──> alive ──> used      by the form that the page shows; of two at once one wins
//	               ├─────> expired   30 minutes (reset), 1 hour (address), 1 day (sign-up), 7 days (invitation)
//	               └─────> dead      the password was set, a later invitation went out, the user was deactivated
//
// Answers to anonymous callers say nothing about who has an account: the request counts, queues a sealed job and answers, the same
// way for every address, and the job finds out what there is to mail.
//
// What it never does: sign anybody in (a reset leads back to the sign-in, second factor included), log an address of a
// link, or hash a password inside a transaction.
package account
