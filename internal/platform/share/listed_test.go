package share_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bounds finds what bounds work: places, queues, groups and semaphores.
var bounds = regexp.MustCompile(`share\.New\(|\bNewPlaces\(|\b(Named|Shared)Queue\(|\.SetLimit\(|semaphore\.NewWeighted|MaxWorkers:|make\(chan struct\{\}, (max|all)?[A-Z(]`)

// Each file that bounds work stands in the table of this package, so that whoever adds places says what one company has of them.
func TestEveryPlaceIsListed(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	table, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	found, missing := 0, []string(nil)
	for _, dir := range []string{"internal", "graph", "rest", "authz", "cmd"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			name = filepath.ToSlash(name)
			if d.IsDir() && d.Name() == "generated" {
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/test/") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || strings.HasPrefix(name, "internal/platform/share/") || !bounds.Match(text) {
				return err
			}
			found++
			if !strings.Contains(string(table), "\t"+name+" ") {
				missing = append(missing, name)
			}
			return nil
		}))
	}
	require.Empty(t, missing, "they bound work: which share of it has one company?")
	require.Equal(t, strings.Count(string(table), ".go "), found, "the table names files that bound nothing")
}
