// Package password hashes and verifies passwords with argon2id, and decides which passwords may be chosen. Packages signin,
// account and company call it.
//
// Hashing is expensive on purpose: 64 MiB and tens of milliseconds of CPU time each. A Hasher therefore hashes GOMAXPROCS − 1
// passwords at once (1 to 8), lets 32 callers wait for each of them, for 2 s, and refuses the rest with ErrBusy. One source, which
// is the network of a client, leaves a worker and a quarter of the queue to others, and waits behind each of them for one hash. Never
// call it inside a database transaction.
//
// Each password is hashed on its own thread with a low priority (niceness 10; Linux only). Go runs at most GOMAXPROCS threads
// at once, and a hash occupies one of them. So the server adds the Hasher's workers to GOMAXPROCS, and the operating system
// prefers the threads that serve calls. BenchmarkFloodOfPasswords in cmd/atrium compares the 99th percentile of API reads
// during a flood of wrong passwords with that on a quiet server. Two cores, SQLite, November 2026, 5 to 8 runs of 3 s each:
//
//	hashed on Go's own threads                      2.1 × quiet (12 to 20 ms)   15 passwords/s
//	on extra threads of low priority                1.5 × quiet (6 to 9 ms)     14 passwords/s
//	in child processes of low priority              0.9 × quiet (5 to 7 ms)     14 passwords/s
//
// Other processes used a small share of the machine, so the quiet server needed 3 to 7 ms. Child processes, which the product
// used before, took 280 lines of code and a protocol over pipes to save the last two milliseconds.
//
// Check follows NIST SP 800-63B: a minimum length, no composition rules, and a list of common passwords. common.gz holds the
// 100,000 most common ones of at least 8 characters; commongen generates it and names the sources. An operator may add a file
// of hashes of breached passwords.
//
// Hash, Verify and Check normalise a password to Unicode form NFKC, so it does not matter how a keyboard composes its letters.
// The package logs nothing, and no error contains a password.
package password
