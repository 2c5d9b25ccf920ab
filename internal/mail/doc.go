// Package mail is the outbox: mails that are sent if and only if the transaction that calls for them commits.
//
// Package account and the other packages that notify people call Outbox.Enqueue, which inserts a job in their transaction. The message
// lies sealed in the job's arguments, because the links in it are secrets. A node that works jobs hands it to a Sender:
// an SMTP server, or by default a folder of .eml files for an operator who has none.
//
//	Enqueue ─> job (sealed) ─> Sender ─┬─> sent
//	                ▲                  ├─> refused for good by the recipient's server: given up, logged
//	                └── wait, longer ──┴─> any other failure, a dozen times within a few hours
//
// A crash between sending and noting it sends a mail twice, with the same Message-ID. The package decides neither who
// gets a mail nor how often: that is up to its callers, who must bound what anonymous callers can set off.
package mail
