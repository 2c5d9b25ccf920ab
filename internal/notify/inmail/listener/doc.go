// Package listener is the SMTP server that takes mails for the product's mailboxes, and for nobody else: it relays nothing and has no
// accounts. It knows neither mailboxes nor where mails are kept; the functions in Options do.
//
//	connect ─ limits ─▶ EHLO, STARTTLS ─▶ MAIL ─▶ RCPT ─ Known ─┬─ 250 ─▶ DATA or BDAT ─ Store ─┬─ 250: it is durable
//	   │                                                        ├─ 550: no such mailbox         ├─ 451: not kept, try again
//	   └─ 421: too many connections                             ├─ 451: nobody could say        ├─ 552: larger than 25 MB
//	                                                            └─ 552: announced as larger     └─ 554: refused for good
//
// Once a client has its 250, the mail is ours; until then it is the client's, who sends it again. So Store returns nil only when the
// mail is durable, and keeps nothing of a mail whose reader fails. A client that goes away between the end of its mail and our answer sends
// the mail again: that it is stored once is for the caller to see to, by the Message-ID.
//
// The protocol is go-smtp's, with three additions. A client that closes an encrypted connection in the middle of a BDAT chunk is no error
// to it: the chunk ends, and half a mail would be stored as a whole one. So the end of such a mail counts only if the connection is still
// there. And it refuses a mail for its size before anybody hears for whom it is, so sessions limit the size and have each refusal noted
// (TooLarge); SIZE is announced without a number, so that senders say theirs and do not keep to themselves what they cannot send. And its only
// timeout is for a command; that of DATA ends with the mail, so a mail has five minutes.
//
// Bounds: 100 connections, 10 of them of one address (a /64 in IPv6), 120 mails a minute of one, 100 recipients a mail, 10 unknown ones a
// connection, 30 minutes a connection. A mail is handed on as it comes: memory does not grow with its size. One of 10 KB takes
// 0.3 ms, without what Store does.
package listener
