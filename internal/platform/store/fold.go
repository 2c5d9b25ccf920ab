package store

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"modernc.org/sqlite"

	"atrium/internal/platform/text"
)

// Collation returns the SQL that makes texts compare by Unicode's root collation: in every script without regard to case, but for texts
// that differ in nothing else. PostgreSQL has it by ICU, and SQLite by Go; both put texts that are equal to it in the order of their bytes.
func Collation(dialect string) string {
	if dialect == "postgres" {
		return ` COLLATE "und-x-icu"`
	}
	return " COLLATE atrium_root"
}

// collators hold the root collation, since one collator serves one goroutine.
var collators = sync.Pool{New: func() any { return collate.New(language.Und) }}

// SQLite's own functions know no letters beyond ASCII. No index and no schema uses these, so that any SQLite program reads the file.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("atrium_fold", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		switch v := args[0].(type) {
		case nil:
			return nil, nil // NULL stays NULL
		case string:
			return text.Fold(v), nil
		case []byte:
			return text.Fold(string(v)), nil
		default:
			return nil, fmt.Errorf("atrium_fold: %T is no text", v)
		}
	})
	sqlite.MustRegisterCollationUtf8("atrium_root", func(a, b string) int {
		c := collators.Get().(*collate.Collator)
		defer collators.Put(c)
		if by := c.CompareString(a, b); by != 0 {
			return by
		}
		return strings.Compare(a, b)
	})
}
