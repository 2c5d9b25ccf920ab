// Package audit writes the entries of the audit log: who did what to which row, and how it ended. Write is the only function
// that does, and it writes in the transaction of what the entry tells of.
//
// Its callers are package op, for every operation; workers, for what they change without one; the sign-in pages and the
// identity provider, whose callers have no principal yet; and company, for the entry of a company's beginning. Diff makes the
// changes of an entry out of an entity before and after, with secrets masked and long values left out.
//
// It stands below op, so that op can use it, and imports the entities only. The operations that read the log are in auditlog.
package audit
