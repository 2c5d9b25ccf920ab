// Package erasure removes personal data from a company: everything that an erased person wrote and that was recorded about them,
// and the values of audit entries that are older than the company's retention.
//
//	people.ErasePerson ─▶ removes the user's name; inserts a job for the user and for each mirror user ─▶ Args
//	every day, for companies with a retention ─────────────────────────────────────────────────────────▶ RetainArgs
//
// A mirror user is the same person's row in the sandbox (identity.MirrorUser). Erasing a person goes by ids alone. It does not
// search for names, since a text may name many people. It removes:
//
//	requests               title, description, fields, tags; an open request is cancelled, since nobody can work on it
//	their executions       variables, inputs and outputs of phases, tasks, and approvals with their comments, incidents
//	their agents' work     steps, reasons, proposals; the inputs of all of the company's runs, because they quote other requests
//	                       and the staff, so these runs cannot be replayed any more. Runs that are at work have read them, and plan
//	                       anew; evaluations that are at work end. The reports of evaluations stay
//	comments, decisions    the text; what others wrote on the same request stays
//	files                  of their requests and those that they added anywhere: the names; bytes and previews a day later
//	mails that came        from their address: the rows; the messages within two days
//	others' requests       the reasons for which they declined them, and what they completed tasks and resolved incidents with: there, in
//	                       the visits of the phases, and in the variables of executions that have ended. One that runs goes on with them,
//	                       and is looked at again each day
//	views                  the name of those that they made for others, and what is searched for in them; the others keep the view
//	events, deliveries     the title in the payload, and what receivers answered: a replay sends what is left
//	stored answers         to idempotent calls by the person and about their rows
//	notifications          to them, about their requests, and of their mentions, which begin with their name; the texts of all mails that wait, which
//	                       are listed by their subjects then
//	mails                  to them that are still to be sent: package mail drops them
//	access decisions       by them and about them
//	audit entries          by them, by their keys and about them: values and salts; leaves and proofs do not change
//
// columns_test.go lists every column that can hold text, with how it is erased or why it stays: a new one has to be in the list.
//
// Each batch is one transaction. Repeating a batch leaves the same rows and one more audit entry, so a job that a crash interrupted
// starts over. Audit entries are erased last, whether or not the Merkle log holds them already: the commitment that stays gives the
// same leaf. On SQLite deleted and overwritten data is zeroed in the file (secure_delete: a create operation takes 1.22 ms with it
// and 1.33 ms without, in five pairs of runs); at the end the copies that moved rows leave are zeroed and the write-ahead log is emptied
// (store.Scrub: 0.3 s for 62 MB, while others write). On PostgreSQL the rows are gone;
// the operator must deal with what VACUUM has not yet reclaimed and with WAL archives.
//
// The package never decides who is erased. Package people does.
package erasure
