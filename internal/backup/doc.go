// Package backup writes an installation on SQLite into one file, and makes an installation of such a file.
//
//	Write    a consistent copy of the database while a server writes to it, checked, into a tar file
//	Read     the database, and the keys where there are any, out of it into a folder, checked
//
// The file is a tar archive that its own tools open:
//
//	manifest.json   what it is: the program's version, when it was made, the SHA-256 of the database
//	atrium.db       the database
//	keys.tar.age    master key, CA and certificate (--with-keys), encrypted under a passphrase by age (scrypt)
//
// The copy is made by VACUUM INTO: one read transaction, so that it holds the state of one moment, and the server's writer
// does not wait for it. It is compact, and holds nothing that was deleted. The write-ahead log cannot be cut back meanwhile and
// grows by what is written.
//
// What is copied is checked before anybody is told that there is a backup, and again before it becomes an installation: the
// pages and references of the file, that the master key opens what was sealed, and that every company's audit log is what was
// sealed. The last two need the product, so that the caller hands them in as a function.
//
// PostgreSQL has its own tools, which can do more than this (pg_dump, WAL archiving); the README says what they need.
package backup
