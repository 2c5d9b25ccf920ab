// Package imap fetches the mails of a mailbox that a company has elsewhere. A mail is marked as seen only after the caller has made it
// durable, and Account.Fetch begins behind the last one that was: nothing is lost, and what is fetched twice after a crash is for the
// caller to recognise, by its Cursor or its Message-ID. No mail is deleted or moved.
//
//	dial (the caller's egress guard) ─▶ TLS ─▶ LOGIN ─▶ SELECT ─▶ UID SEARCH ─▶ size ─▶ BODY.PEEK[] ─▶ keep ─▶ +FLAGS \Seen
//	                                                                             ▲                                   │
//	                                                                             └────────────── the next ───────────┘
//
// The server is the customer's choice, so it is not trusted: only TLS with a certificate that verifies, 50 mails and 5 minutes a call,
// and no more bytes than what was asked for may have: 256 KB for an answer, and 25 MB for a mail. A larger mail is passed on
// without its content, so that the caller can say so, and so is one whose content the server does not send. A server may announce the set
// of all mails in 12 bytes: it is never listed. To fetch 50 mails of 10 KB takes 30 ms, without what keep and the network do.
//
// go-imap has no version that is final (v2.0.0-beta.8); this package is the only one that imports it.
package imap
