// Package merkle makes each company's audit entries the leaves of a Merkle log (RFC 6962, golang.org/x/mod/sumdb/tlog), whose
// checkpoints are signed notes (sumdb/note). A sandbox has a log of its own.
//
//	audit.Write ─▶ entry with the hash of its leaf ─▶ sealer, every 2 s ─▶ leaf: index and stored hashes
//	                (in the change's transaction)                             │
//	                                              proofs, checkpoints, Verify ◀┘
//
// What is hashed stands in package audit: an entry's public columns, and a salted commitment to each of its two personal parts.
// Erasing a part replaces its salt by the commitment and names the entry audit.erased that tells of it, so that leaf and proofs
// stay as they were. That entry holds a digest of the parts that it took: a part that is missing without one is found.
//
// # Sealing
//
// A writer pays for two salts and three hashes, and knows nothing of the log: nothing is counted or locked for it. A sealer on
// every node that works jobs looks for entries without a leaf and appends them in the order of commits: SQLite's rowid, and on
// PostgreSQL the age of the transaction, then the id. Each look goes back a few seconds, one in four goes back further than a
// transaction may last, and at the start and every ten minutes entries are counted against leaves, so that none is forgotten,
// whatever its clock said. A lock lets one sealer append at a time. The unique keys (company, index) and (entry) make a second
// leaf impossible, and a batch commits whole: a sealer that is killed leaves neither a gap nor a double.
//
// A leaf's row holds the hashes that tlog stores for its record: its own, and those of the subtrees that it completes, 64 bytes
// on average. So the log is only ever added to, and needs no table of tiles that is written again and again. Behind them stands
// a mark that binds the row to its index: it tells where a row was moved to, and proves nothing.
//
// # What can be found
//
// Verify computes every leaf and the tree anew. It finds an entry that was changed, removed or reordered, and one that was put
// between sealed ones, and names the lowest index that differs. It cannot find an entry that was put in before it was sealed.
// Whoever can write to the database can compute a whole log anew; only a checkpoint that is kept elsewhere shows that.
//
// It never decides who may ask: the operations are in auditlog, the commands in cmd.
package merkle
