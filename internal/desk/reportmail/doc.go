// Package reportmail mails reports about requests once a week: each Monday at seven, where their reader is.
//
// subscription.go has the operations on subscriptions, which are one person's own: nobody else lists, reads, changes or deletes them, and
// both doors call them. work.go is the job, letter.go the words of a mail.
//
// # What is mailed
//
// A subscription keeps the filters and groups of a report as the query of its address, which request.Report decodes: there is one set of
// rules for both. The time is always the week before, from Monday to Sunday in the reader's time zone, beside the one before it.
//
// # As whom
//
// The report is the operation request.report, run as the subscriber with the role and the access policies that hold by then. No mail goes
// to people who were deactivated or erased, who are no staff any more, whom mail does not reach (mailState), or who are in a sandbox, and
// none where the report is forbidden to them. Their subscriptions stay and go on, unless the person was erased, and mail again when the
// reason has gone. A report of more than can be read is told by a mail that says so.
//
// # Exactly once
//
// The row holds the next Monday (nextAt), and each of them has a job, inserted in the transaction that wrote it, as package schedule has
// it. The figures are read before the job's transaction. It locks the row, sees that this is still its next Monday, enqueues the mail,
// writes the next Monday with its job and completes its own. So nodes that are killed, or that work beside each other, mail once.
//
// A Monday that passed while no server ran is mailed when one is back, or skipped after three days. Where the clock leaps over seven, or
// shows it twice, the rule is that of schedules. Somebody who has moved to another time zone gets the next mail at seven there, or, if
// seven has passed there by then, at once.
//
// # Shares
//
// The jobs have a queue of their own with two workers on a node, of which a company has one at a time: the jobs of others pass those that
// wait. A report is read for three seconds at most, after five of waiting for its turn (package request).
package reportmail
