// Package notice notifies people of what needs them: somebody mentions them, assigns work to them or asks for their approval or
// advice, or a workflow or a service level needs them. It also tells requesters of answers to their requests and of their end
// (progress.go).
//
//	an operation or a worker ──▶ Send: a row for the person, and depending on its channel
//	                              now     a mail in the same transaction
//	                              digest  one mail a day with all unread ones (digest.go)
//	                              never   no mail
//
// What one change makes due at many requests is gathered (Note.MailAt): the digest's job mails it minutes later, in one mail.
//
// Nobody gets a mail for each of many things that happen to one request within two minutes (group.go). The first is mailed at once, because
// its reader may be waiting for it. The others wait until two minutes after it, and are one mail with the words of each, in order. Until
// then the row has the text of its mail, which goes when it was queued, read or erased; comments are quoted as they are by then. A mailed
// row says when (mailed_at), which is what the next one looks for. A crash leaves rows that are due, and the next run mails them.
//
// Each notification is a row that only its recipient can list and mark as read. Rows are kept for 180 days. A person is never
// notified of a row that the person may not read. Access policies are evaluated for each person outside the write transaction,
// because customers' policies may be slow: an operation calls Readers in its preparation, a worker calls ReadersOutside. Digests, and
// the list, ask the policies again about the request of a notification; the tasks that some are about are not known there. Jobs
// (Args, ProgressArgs) notify of assignments and of progress, so each costs its cause one insert.
//
// Watching a request lets nobody read it: a watcher hears what they may read. What a requester says is told to whoever works on the
// request where none of the desk would hear it (heard.go).
//
// A mail says who did what, in their words, with a link to the page that shows it. Mails about one request have one subject, its number
// and title, and refer to one message that was never sent (References), so that mail programs show them together. They contain a link
// that switches off mails of their kind without signing in (RFC 8058); package account has its page. Without the text people had to sign
// in to learn whether a mail was worth it. That mails carry it is why nobody is told who may not read the row.
//
// A note is in no language: Send renders it once for all people who share a language and a time zone (op.ReaderOf). The list shows the
// subject in the language in which it was told.
//
// Callers: request, execution and agent. The package never decides what deserves a notice.
package notice
