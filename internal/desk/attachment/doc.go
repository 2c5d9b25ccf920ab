// Package attachment keeps files at requests and comments.
//
//	Create     announces a file: rights, name, size and the company's room are checked before a byte is sent
//	Depot      takes the bytes (Receive), gives them back (Content, Preview), has them scanned, and removes what no row names (Sweep)
//	Claim      hands drafts over to the request or the comment that is being written; ClaimAnswers, those that answers to a form name
//
//	UPLOADING ──bytes──▶ READY, PENDING ──scanner──▶ CLEAN │ INFECTED, whose bytes are removed
//	                     READY, SKIPPED: a server without a scanner
//
// Rows decide. The bytes are in a file store (package files) and need no transaction: a file is stored first, then one short transaction
// makes its row READY, so a crash leaves at most a file that no row names, which the sweep removes after two days. The same bytes are
// stored once in a company, and never shared between companies, which would tell one what another has. A row that is deleted stays for
// a day with its bytes, out of everybody's sight, so that a backup finds the bytes that its rows name.
//
// Whoever may read a request reads its files, but those of internal comments, which are for staff. Whoever may comment may add some.
// Those who added a file, and staff, remove it, unless an answer of the request names it. A staff member's download or preview of somebody
// else's file is in the audit log, once in ten minutes. Bytes are never run: their type is what they look like, and package
// rest sends everything but images, PDF and text as unknown bytes. Previews are drawn by us.
package attachment
