// Package auditlog has the operations that read the audit log: lists, one entry, exports, verification and proofs. REST calls the
// list, GraphQL all of them.
//
// Verify and Prove use the Merkle log of package merkle. Verify has the time that GraphQL gives an operation; a log for which that
// is too short is verified by the command line. An export in JSON lines contains a proof for each entry, so it can be
// verified without the server that made it.
//
// The package never writes an entry: package audit does, in the transaction of the change that the entry describes. The
// database refuses to delete an entry, and allows no change of one except an erasure.
package auditlog
