// Package auditlog holds the operations that read the audit log: lists, one entry, exports. Both doors offer them.
//
// It never writes an entry: package audit does, in the transaction of what the entry tells of. The database refuses to
// change an entry or to delete one.
package auditlog
