// Package backup writes an installation on SQLite into one file, and restores an installation from such a file.
//
//	Write    copies the database consistently while a server writes to it, checks the copy, and puts it into a tar file with the
//	         attached files that it names
//	Read     extracts the database, the files, and the keys if there are any, into a folder, and checks them
//
// The file is a plain tar archive:
//
//	manifest.json   the program's version, the time of the backup, the SHA-256 of the database
//	atrium.db       the database
//	files/…         the attached files that the database names, encrypted as they are; the manifest counts them. Previews are drawn again
//	keys.tar.age    master key, CA and certificate (--with-keys), encrypted under a passphrase by age (scrypt). A master key in the
//	                environment becomes a file; one in a KMS stays there, and the manifest says that the backup is without it
//
// VACUUM INTO makes the copy in one read transaction, so it holds the state of one moment and the server's writer does not wait.
// The copy is compact and contains no deleted data. Until it is complete, the write-ahead log cannot be truncated, and grows with
// each write.
//
// Files are read after the database was copied. That is no race: a file is stored before a row names it, and stays for a day after its
// row was deleted. One that is missing all the same fails the backup by name.
//
// The copy is checked before Write reports success, and again before Read makes it an installation. SQLite checks the file's
// pages and references. The caller checks that the master key opens the sealed values, and that no company's audit log has
// changed since it was sealed; it passes these checks as a function, because they need the product.
//
// A backup of a million requests takes 50 s, and callers who create a hundred requests a second meanwhile create 94
// (BenchmarkBackupUnderLoad; 2026-11, two cores).
//
// The command line calls the package. It never backs up PostgreSQL, whose own tools can do more (pg_dump, WAL archiving);
// cmd/atrium/deploy/README.md says what they need.
package backup
