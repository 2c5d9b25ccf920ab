package store

import (
	"database/sql/driver"
	"fmt"
	"strings"

	"modernc.org/sqlite"
)

// SQLite's lower() folds only ASCII. atrium_lower folds as Go does, so that a search for "ärger" finds "Ärger" on both databases.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("atrium_lower", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		switch v := args[0].(type) {
		case nil:
			return nil, nil // NULL stays NULL
		case string:
			return strings.ToLower(v), nil
		case []byte:
			return strings.ToLower(string(v)), nil
		default:
			return nil, fmt.Errorf("atrium_lower: %T is no text", v)
		}
	})
}
