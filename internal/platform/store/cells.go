package store

import (
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5/pgtype"
)

// Cells into which a hand-written query scans very many rows, on either database, without an allocation for each: database/sql and
// pgx fill the same ones.

// Micros is a time in microseconds since 1970; Valid is false for null. On SQLite the query selects MicrosOf the column.
type Micros struct {
	At    int64
	Valid bool
}

// MicrosOf returns the SQL that selects a column of times for Micros. As a text, SQLite's driver does not make a time.Time of it.
func MicrosOf(of, column string) string {
	if of == dialect.Postgres {
		return column
	}
	return "CAST(" + column + " AS TEXT)"
}

// ScanTimestamptz is how pgx fills the cell.
func (m *Micros) ScanTimestamptz(v pgtype.Timestamptz) error {
	*m = Micros{v.Time.UnixMicro(), v.Valid}
	return nil
}

// Scan is how database/sql fills the cell.
func (m *Micros) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*m = Micros{}
		return nil
	case string:
		*m = Micros{}
		at, err := sqliteMicros(v)
		if err == nil {
			*m = Micros{at, true}
		}
		return err
	}
	*m = Micros{}
	return fmt.Errorf("store: %T is no time", v)
}

// The form in which SQLite's driver writes times, always in UTC, and where its parts are.
const (
	sqliteSeconds = "2006-01-02 15:04:05"
	sqliteZone    = "+00:00"
)

// sqliteMicros reads a time as SQLite keeps it: 2026-03-02 09:30:00.25+00:00. It is time.Parse for this form alone, in a tenth of the
// time.
func sqliteMicros(s string) (int64, error) {
	if len(s) < len(sqliteSeconds)+len(sqliteZone) || s[len(s)-len(sqliteZone):] != sqliteZone {
		return 0, fmt.Errorf("store: %q is no time in UTC", s)
	}
	valid := s[4] == '-' && s[7] == '-' && s[10] == ' ' && s[13] == ':' && s[16] == ':'
	number := func(from, to int) (n int) {
		for _, c := range []byte(s[from:to]) {
			valid = valid && '0' <= c && c <= '9'
			n = n*10 + int(c-'0')
		}
		return n
	}
	seconds := time.Date(number(0, 4), time.Month(number(5, 7)), number(8, 10), number(11, 13), number(14, 16), number(17, 19), 0, time.UTC).Unix()
	micros := 0
	if end := len(s) - len(sqliteZone); end > len(sqliteSeconds) {
		valid = valid && s[len(sqliteSeconds)] == '.'
		first := len(sqliteSeconds) + 1
		last := min(end, first+6)
		micros = number(first, last)
		for range 6 - (last - first) {
			micros *= 10
		}
	}
	if !valid {
		return 0, fmt.Errorf("store: %q is no time", s)
	}
	return seconds*1e6 + int64(micros), nil
}

// Bytes is a text that lasts until the next row; nil for null.
type Bytes []byte

// ScanBytes is how pgx fills the cell.
func (b *Bytes) ScanBytes(v []byte) error {
	*b = v
	return nil
}

// Scan is how database/sql fills the cell.
func (b *Bytes) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*b = nil
	case string:
		if *b == nil {
			*b = Bytes{}
		}
		*b = append((*b)[:0], v...)
	case []byte:
		*b = v
	default:
		return fmt.Errorf("store: %T is no text", v)
	}
	return nil
}
