// Package password keeps people's passwords: it hashes and verifies them with argon2id, and says which ones may be
// chosen.
//
// Hashing is dear on purpose: 64 MiB and tens of milliseconds of a CPU each. A Hasher therefore hashes only a few passwords
// at once, lets a bounded number of callers wait for a bounded time, and turns the rest away with ErrBusy. Never call it inside
// a database transaction.
//
// Each password is hashed on a thread of its own with a low priority (niceness 10; Linux only). Go schedules calls on as many
// threads at once as GOMAXPROCS says, and a hash holds one of them; so the server adds the Hasher's workers to GOMAXPROCS, and
// the operating system lets calls go first. BenchmarkFloodOfPasswords in cmd/atrium measures the 99th percentile of API reads
// while wrong passwords pour in, against the same reads on a quiet server. Two cores, SQLite, November 2026, 5 to 8 turns of
// 3 s each:
//
//	hashed on Go's own threads                      2.1 × quiet (12 to 20 ms)   15 passwords/s
//	on threads of low priority, with as many more   1.5 × quiet (6 to 9 ms)     14 passwords/s
//	in child processes of low priority              0.9 × quiet (5 to 7 ms)     14 passwords/s
//
// Other work ran on the machine, with a small share of its time, so that a quiet server needed 3 to 7 ms. Child processes,
// which the product had before, took 280 lines and a protocol over pipes for the last two milliseconds.
//
// Check follows NIST SP 800-63B: a minimum length, no rules of composition, and a list of passwords that everybody tries
// first. common.gz holds the 100,000 most common ones of 8 characters and more; commongen, which made it, names its
// sources. An operator may add a file of breached passwords' hashes.
//
// A password is the same however a keyboard composes its letters: Hash, Verify and Check all see it in Unicode's
// normalisation form NFKC. The package logs nothing, and no error of it carries a password.
package password
