package store

import (
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// IsUnavailable reports whether err means that the database is unreachable or cannot store anything at the moment, whatever the statement:
// the connection broke or was refused, PostgreSQL is stopping, starting, full or silent, SQLite's disk is full or fails, or another
// process writes to its file. A commit that was under way may have succeeded.
func IsUnavailable(err error) bool {
	if errors.Is(err, errNoAnswer) {
		return true
	}
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pgErr.Code[:min(2, len(pgErr.Code))] { // PostgreSQL, appendix A
		case "08", "53", "58": // connection, resources, the system
			return true
		}
		return strings.HasPrefix(pgErr.Code, "57P") // shutdown, crash, starting
	}
	if liteErr, ok := errors.AsType[*sqlite.Error](err); ok {
		switch liteErr.Code() & 0xff { // without the extended code
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
			return true
		}
		return false
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	_, network := errors.AsType[*net.OpError](err)
	return network || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err) && !pgconn.Timeout(err) // not an ended context of the caller
}
