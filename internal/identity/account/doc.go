// Package account lets people do everything with their accounts except signing in: accept an invitation, set a forgotten password,
// change password and e-mail address, and open a company if the operator lets everybody do so.
//
// cmd mounts Server.Handler beside package signin's pages, whose sign-ins it uses. cmd passes Mails to the operations' engine
// (op.Mailer) and to signin as its notifier. Mails queue mails in the caller's transaction; Work is the job that looks up the
// account of an anonymous request.
//
// A link in a mail is a MailedLink: 32 random bytes in the address, of which only the SHA-256 is stored.
//
//	               GET: looked at, never used (programs that check mails follow links)
//	                ┌─┐
//	                ▼ │
//	(mailed) ──> alive ──> used      by the form that the page shows; of two at once one wins
//	               ├─────> expired   30 minutes (reset), 1 hour (address), 1 day (sign-up), 7 days (invitation)
//	               └─────> dead      the password was set, a later invitation went out, the user was deactivated
//
// Answers to anonymous callers do not reveal who has an account. The request is counted, queues a sealed job and is answered in
// the same way for every address, and the job finds out what to mail.
//
// Mails are in the person's language (people.ReaderOfAccount); without one, in that of the page on which they were asked for.
//
// The package never signs anybody in (a reset leads back to the sign-in, second factor included), never logs the address of a
// link, and never hashes a password inside a transaction.
package account
