package jobs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// River is used only through its public API. Two files are excepted, with their reasons: one holds all SQL on its tables, the other
// wraps the listener of its driver for SQLite.
func TestRiverIsUsedByItsAPI(t *testing.T) {
	t.Parallel()
	inside := regexp.MustCompile(`riverdriver\.(Driver|Executor|ExecutorTx|Listener)\b|(FROM|INTO|UPDATE) +river_`)
	excepted := map[string]bool{"internal/platform/jobs/tables.go": true, "internal/platform/jobs/wake.go": true}
	root := filepath.Join("..", "..", "..")
	for _, folder := range []string{"cmd", "internal", "rest", "graph", "authz"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			require.Equal(t, excepted[filepath.ToSlash(rel)], inside.Match(source), rel)
			return err
		}))
	}
}
