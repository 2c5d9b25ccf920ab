// Package transfer moves a company, with its sandbox, from one installation to another: from SQLite to PostgreSQL, the other way,
// or between two of a kind.
//
//	Export    writes everything of the company, as of one moment, into one encrypted file
//	Import    imports such a file into an installation, completely or not at all
//
// The command line calls both. They work on the tables as the schema declares them, so a new entity needs no code here unless its
// rows stay, its values are sealed under other bytes than its id, or its jobs move too (stay, boundTo and kinds in tables.go). The rows
// of the company and its sandbox move, and the accounts of its people with their factors. Sessions, OAuth grants, sign-ins under
// way and mailed links do not move, because the new installation issues its own, and neither do row counts, which the database
// computes anew.
//
// Ids stay the same. So API keys, webhook addresses and secrets, answers to idempotency keys and the leaves of the audit log stay
// valid. An import is refused unless the audit log has the root that it had at the export. From then on the new installation's
// key signs the log; the public keys of earlier installations are kept in the settings (merkle.FormerKeys).
//
// The file holds lines of JSON, compressed with gzip and encrypted by age under a passphrase (scrypt):
//
//	{"company": …, "columns": {table: [name, …]}, "heads": [{company, size, root}], …}   the header
//	["requests", value, …]                                                               a row: its values in the order of the columns
//	["(jobs)", {kind, queue, at, args, …}]                                               an unfinished job
//	["(file)", {key, size}]                                                              a file that a row names, encrypted as it is stored
//	["(bytes)", bytes]                                                                   256 KiB of it at most
//	{"rows": n, "files": n}                                                              the last line: without it the file is truncated
//
// Export opens sealed values with one master key, and Import seals them under the other. Times are RFC 3339, bytes are base64, and
// JSON is a string, which keeps its digits and the order of its keys. Both sides stream: Export holds one row in memory, Import at most
// 50, of 4 MiB together, or one of 32 MiB. So the memory of an import does not grow with the file, and no file chooses it: of 2 to 400
// KiB, they took 4,221 MiB by naming another cost of the passphrase, 1,816 by rows of 30 MiB, 1,450 by a line of commas; now 86, 342 and
// 148 (TestImportMemory, with the pages of the executable). scrypt takes 128 MiB at the beginning, as OWASP recommends; age's own
// default of 256 MiB was more than everything else together. Rows are read in the order in which the database has them: sorting those of
// a company takes memory for all of them.
//
// A company with 300,000 requests is exported in 6 s, 40,000 to 60,000 rows a second, with 146 MiB at most beside the executable
// (BenchmarkCompanyExport; 2026-11, two cores).
//
// The company's unfinished jobs move too: those whose arguments name it, as of the same moment as its rows. So everything that
// waits continues where it was. Import takes the kinds of jobs that are a company's (tables.go), and no others. To derive the jobs
// from the rows was refused: each kind needed code of its own, and some were forgotten. Mails that wait are sent by the old
// installation. A call that was under way is repeated under the same idempotency key.
//
// Whoever has exported a company may have changed the file. Import refuses, by line and column, what the schema does not allow, what the
// operation that makes such a row would refuse (check.go), and what names another company of the installation; what only all rows
// tell, such as whose mirror a user of the sandbox is, by the row's id (whole.go). Answers are held to what all
// forms have in common, since forms change. Plans, limits, money and secrets that may be sent anywhere are asked of the operator by name, and
// so are requests and comments that break a rule: rules have grown since people wrote them (asked.go).
//
// If the address of an account is known in the new installation, the account there is used. Its owner is invited, and becomes a member
// by accepting: until then the company sees nothing of the account, and what the file says of their consents and of other issuers
// does not move. An account that the file brings is unproven (people.Prove): whoever writes a file could put anybody's address into it,
// with a password of their own.
//
// Files move as they are, because the company's key moves with its row. They are stored before the import commits: each must be one
// of the company's own that a row names, and at the end every file that a row names must be there, open by that key and have the row's
// size. An import that fails removes what it has stored; what a crash leaves, the sweep of package attachment removes. Previews are
// drawn again, and deleted files stay behind.
//
// The package never stops the company in the old installation. After a permanent move the operator must do that.
package transfer
