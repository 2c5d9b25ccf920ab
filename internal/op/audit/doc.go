// Package audit writes the entries of the audit log: who did what to which row, and how it ended. Write is the only function
// that writes entries, in the transaction of the change that the entry describes. An entry about a denial has a transaction
// of its own.
//
// Its callers are package op, for every operation; workers, for changes without an operation; the sign-in pages, the identity
// provider and inbound webhooks, for callers without a principal; and company, transfer and the export command. Diff computes
// an entry's changes from an entity before and after, masks secrets and leaves out long values.
//
// It stands below op, so that op can use it, and imports only the entities and leaves. Package auditlog has the operations
// that read the log.
package audit
