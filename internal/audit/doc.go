// Package audit reads the audit log. Package op writes it, in the transaction of what it tells of; the database
// refuses to change an entry or to delete one.
package audit
