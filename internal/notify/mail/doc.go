// Package mail is the outbox: a mail is sent if and only if the transaction that enqueues it commits.
//
// Package account and the other packages that notify people call Outbox.Enqueue, which inserts a job in their transaction. The
// message is encrypted in the job's arguments, because it contains secret links. A node that works jobs passes it to a Sender:
// an SMTP server, or by default a folder of .eml files for an operator who has no server.
//
//	Enqueue ─> job (sealed) ─> Sender ─┬─> sent
//	                ▲                  ├─> rejected for good by the recipient's server: given up, logged
//	                └── wait, longer ──┴─> any other failure, a dozen times within half a day
//
// A node sends four mails at a time. Of those that one company writes in a minute, the first hundred are sent in turn with others' and
// the rest after them (share.go).
//
// A mail to a user or an account that is erased before it was sent is dropped. What is kept of a failure is what the server answered
// as a code, since its text may repeat the recipient's address.
//
// With a key, mails that go out by SMTP are signed for their sender's domain (DKIM). To sign takes 1.8 ms with RSA of 2,048 bits.
//
// A Letter is what notices are written as: plain text, and the same as HTML without images or scripts, for the light and the dark. Texts of
// people are never markup in it. Its texts come in the reader's language, and it adds the words around them in the same.
//
// After a crash between sending a mail and recording it, the mail is sent again with the same Message-ID. The package decides
// neither who gets a mail nor how often: its callers do, and must limit the mails that anonymous callers can cause.
package mail
