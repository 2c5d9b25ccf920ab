// Package erasure takes from a company what it may no longer know: a person who was erased, out of everything that they wrote
// and that was written down about them, and the values of audit entries that are older than the company keeps them.
//
//	people.ErasePerson ─▶ the user has no name any more, and a job for it and for each mirror ─▶ Person
//	every day, for companies with a retention ──────────────────────────────────────────────────▶ Retention
//
// Person goes by ids alone: names are not looked for, since a text may name many people. What goes of a person are
//
//	requests               title, description, fields, tags; one that is open is cancelled, since nobody can work on it
//	their executions       variables, inputs and outputs of phases, tasks and approvals with what was said, incidents
//	their agents' work     steps, reasons, proposals; what all of the company's runs were given, which tells of other requests and of
//	                       the staff: they cannot be replayed any more. Of evaluations the reports stay
//	comments, decisions    the text; what others wrote on the same request stays
//	events, deliveries     the title in the payload, and what receivers answered: a replay sends what is left
//	kept answers           of their calls, and of calls about them
//	notifications          to them, and about their requests
//	access decisions       by them and about them
//	audit entries          by them, their keys and about them: values and salts; leaves and proofs stay as they are
//
// Each batch is a transaction, and doing one again leaves the same, besides audit entries that say so once more: a job that a
// crash interrupts begins again. Audit entries are erased at last, whether or not they have their places in the Merkle log: the
// commitment that stays gives the same leaf. On SQLite what is deleted or overwritten is zeroed in the file (secure_delete: a
// creation takes 1.22 ms with it and 1.33 ms without, five pairs), and the write-ahead log is emptied at the end. On PostgreSQL
// the rows are gone; what vacuum and the archives of its log still hold is the operator's.
//
// It decides about nobody: package people does.
package erasure
