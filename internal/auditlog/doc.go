// Package auditlog holds the operations that read the audit log: lists, one entry, exports. Both doors offer them.
//
// Verify and Prove show what the Merkle log of package merkle holds of the company. An export in JSON lines carries what proves
// each of its entries, so that it can be verified without the server that made it.
//
// It never writes an entry: package audit does, in the transaction of what the entry tells of. The database refuses to delete
// an entry, and to change more of one than an erasure may.
package auditlog
