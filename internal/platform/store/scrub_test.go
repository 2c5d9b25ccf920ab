package store_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
)

// Words that rows had are in no free place of SQLite's file once it is scrubbed. Where rows have grown into other pages the pages that they
// came from keep copies, in spite of secure_delete, which zeroes what is deleted and not what has moved.
func TestScrubbedFilesHoldRowsAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "atrium.db")
	s, err := store.Open(t.Context(), store.Options{DataDir: filepath.Dir(path)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	db, err := store.OpenSQLiteFile(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	exec := func(query string, args ...any) {
		_, err := db.ExecContext(t.Context(), query, args...)
		require.NoError(t, err)
	}
	exec("PRAGMA synchronous = OFF")
	exec("CREATE TABLE said (id INTEGER PRIMARY KEY, row TEXT UNIQUE, text TEXT DEFAULT '')")
	chance := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		exec("INSERT INTO said (row) VALUES (?)", fmt.Sprintf("row%d", chance.Uint64()))
		exec("UPDATE said SET text = ? WHERE id = ?", fmt.Sprintf("word%016x %s", chance.Uint64(), strings.Repeat("x ", chance.IntN([]int{300, 300, 3000}[i%3]))), chance.IntN(i+1)+1)
		if chance.IntN(3) == 0 {
			exec("UPDATE said SET text = '' WHERE id = ?", chance.IntN(i+1)+1)
		}
	}
	require.NotZero(t, erased(t, db, path), "nothing is shown if no copy stays without scrubbing")
	sum := func() (sum string) {
		t.Helper()
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) || ' ' || sum(length(text)) || ' ' || group_concat(hex(substr(text, -9))) FROM said").Scan(&sum))
		return sum
	}
	before := sum()
	require.NoError(t, s.Scrub(t.Context()))
	require.Zero(t, erased(t, db, path))
	var sound string
	require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&sound))
	require.Equal(t, "ok", sound)
	require.Equal(t, before, sum())
}

// erased returns how many words the file holds that no row has.
func erased(t *testing.T, db *sql.DB, path string) int {
	t.Helper()
	_, err := db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, err)
	rows := map[string]bool{}
	found, err := db.QueryContext(t.Context(), "SELECT substr(text, 1, 20) FROM said WHERE text <> ''")
	require.NoError(t, err)
	for found.Next() {
		var word string
		require.NoError(t, found.Scan(&word))
		rows[word] = true
	}
	require.NoError(t, found.Err())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	gone := map[string]bool{}
	for _, word := range regexp.MustCompile("word[0-9a-f]{16}").FindAllString(string(file), -1) {
		if !rows[word] {
			gone[word] = true
		}
	}
	return len(gone)
}
