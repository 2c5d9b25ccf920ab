// Package transfer moves a company, with its sandbox, from one installation to another: from SQLite to PostgreSQL, the other way,
// or between two of a kind.
//
//	Export    everything of the company, as it was at one moment, into one encrypted file
//	Import    such a file into an installation, whole or not at all
//
// Both go through the tables as the schema declares them, so that an entity needs nothing to be moved but to be one. What moves
// are the rows of the company and its sandbox, and the accounts of its people with their factors. What does not are sessions and
// what applications were granted, sign-ins and mailed links, since another issuer gives those, and counts, which the database
// makes anew. Ids stay, and with them API keys, the addresses and secrets of webhooks, answers to idempotency keys, and the audit
// log's leaves: an import is refused unless the log has the root that it had when it was exported. From then on the new installation's key signs;
// those of the installations before are kept in the settings (merkle.FormerKeys).
//
// The file is a stream that age encrypts under a passphrase (scrypt), of gzip, of lines of JSON:
//
//	{"company": …, "columns": {table: [name, …]}, "heads": [{company, size, root}]}   the header
//	["requests", value, …]                                                               a row, its values in the order of the columns
//	{"rows": n}                                                                          the end: without it the file is cut off
//
// Sealed values are opened by the one master key and sealed under the other. Times are RFC 3339, bytes base64, and JSON a text, so
// that its digits and its order stay. Both sides stream: what they hold is a row, or some fifty.
//
// Jobs do not move. Import has executions, deliveries and agents' runs go on where they stood (Requeue of those packages); a call
// that was on its way is made once more, under the same idempotency key. An account whose address is known here already is that
// one: its people sign in as they do here.
//
// It never stops the company where it was: who moves one for good sees to that.
package transfer
