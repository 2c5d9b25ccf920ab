// Package notice tells people what waits for them: that somebody mentions them, assigns them work, asks for their approval or
// advice, or that a workflow or a service level needs them.
//
//	an operation or a worker ──▶ Give: a row for the person, and by its channel
//	                              now     a mail in the same transaction
//	                              digest  a mail a day of all that is unread (digest.go)
//	                              never   no mail
//
// Every notice is a row of the person's own, which only the person lists and marks as read; rows are kept for 180 days.
// Nobody is told of what they may not read. Access policies are asked about each person outside of the write transaction,
// because a customer chooses what they cost: an operation calls Readers in its preparation, a worker calls ReadersOutside.
// Assignments are told by a job (Args), so that assigning costs one insert.
//
// Mails carry a link that switches their kind off without signing in (RFC 8058); package account has its page.
package notice
