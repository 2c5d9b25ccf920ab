// Package merkle makes each company's audit entries the leaves of a Merkle log (RFC 6962, golang.org/x/mod/sumdb/tlog), whose
// checkpoints are signed notes (sumdb/note). A sandbox has its own log.
//
//	audit.Write ─▶ entry with the hash of its leaf ─▶ sealer, every 2 s ─▶ leaf: index and stored hashes
//	                (in the change's transaction)                             │
//	                                              proofs, checkpoints, Verify ◀┘
//
// Package audit defines what is hashed: an entry's public columns, and a salted commitment to each of its two personal parts.
// Erasing a part replaces its salt by the commitment and the id of the entry audit.erased that records the erasure, so the leaf
// and all proofs stay valid. That entry holds a digest of the erased parts: Verify reports a missing part without such an
// entry.
//
// # Sealing
//
// Sealing an entry means giving it an index in the log. A writer of entries computes two salts and three hashes, and does
// nothing else for the log: it takes no counter and no lock. A sealer on every node that works jobs looks for entries without a
// leaf and appends them in the order of their commits: on SQLite that is the rowid, on PostgreSQL the age of the transaction
// and then the id. Each look goes back a few seconds. One in four goes back further than a transaction may last. At the start
// and every ten minutes the sealer compares the numbers of entries and leaves, of all companies in one statement, so it finds every
// entry, even one from a node whose clock is wrong. It does so in a goroutine of its own, beside its looks. A lock lets one sealer append at a time. The unique keys (company, index) and (entry) make a second
// leaf impossible, and a batch commits as a whole: a killed sealer leaves neither gaps nor duplicates.
// Callers who create requests as fast as they can create as many beside a sealer as without one: 1.00 times on SQLite, 1.01 on
// PostgreSQL (BenchmarkSealing, median of 24 turns; 2026-11, two cores). An entry takes the sealer 0.06 ms.
//
// A leaf's row holds the hashes that tlog stores for its record: its own and those of the subtrees that it completes, 64 bytes
// on average. So rows are only ever added, and no table of tiles has to be rewritten. After the hashes follows a mark, a hash
// that binds the row to its index: it shows that a row was moved, and proves nothing.
//
// # What Verify finds
//
// Verify computes every leaf and the tree again. It finds entries that were changed, removed, reordered or inserted between
// sealed ones, and reports the lowest index that differs. It cannot find an entry that was inserted before it was sealed. An
// attacker who can write to the database can compute a whole new log; only a checkpoint that is stored elsewhere reveals that.
//
// CheckpointWriter stores them, hourly those of all logs that have changed, and at shutdown, which has 8 s, those of the logs that
// have grown. An hourly round computes each root, so it also reports a log that was changed without growing.
//
// Callers: auditlog for the operations, cmd for the commands and the workers, transfer for moving a company. The package does
// not decide who may call the operations.
package merkle
