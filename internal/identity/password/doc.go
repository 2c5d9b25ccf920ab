// Package password keeps people's passwords: it hashes and verifies them with argon2id, and says which ones may be
// chosen.
//
// Hashing is dear on purpose: 64 MiB and tens of milliseconds of a CPU each. A Hasher therefore does only so much of it at
// once, lets a bounded number of callers wait for a bounded time, and turns the rest away with ErrBusy, so that a flood
// of guesses slows down nobody but those who sign in. Never call it inside a database transaction.
//
// A server hashes in helpers: processes of the same binary that do nothing else (Help), at a low priority. In the server
// itself each hash would hold one of the processors that Go schedules calls on, and its 64 MiB would make the garbage
// collector run once for each. A helper reads tasks from its standard input, is given none of its variables, starts when there is
// work, ends after a minute without and with the server.
//
//	Verify ──worker──▶ idle helper, or a new one ──task──▶ argon2id ──answer──▶ idle ──1 min──▶ ended
//	                     └ none can be started: hashed here          └ none: killed, the next one is asked, once
//
// Check follows NIST SP 800-63B: a minimum length, no rules of composition, and a list of passwords that everybody tries
// first. common.gz holds the 100,000 most common ones of 8 characters and more; commongen, which made it, names its
// sources. An operator may add a file of breached passwords' hashes.
//
// A password is the same however a keyboard composes its letters: Hash, Verify and Check all see it in Unicode's
// normalisation form NFKC. The package logs nothing, and no error of it carries a password.
package password
