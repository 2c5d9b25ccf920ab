package testkit

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Repository returns the folder that holds go.mod.
func Repository(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	require.NoError(tb, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(tb, parent, dir, "no go.mod above the test")
		dir = parent
	}
}

// Sources returns the product's Go files below folders of the repository, without tests and what only tests use: the texts by path.
func Sources(tb testing.TB, folders ...string) map[string]string {
	tb.Helper()
	root, texts := Repository(tb), map[string]string{}
	for _, folder := range folders {
		require.NoError(tb, filepath.WalkDir(filepath.Join(root, folder), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			source, err := os.ReadFile(file)
			path := filepath.ToSlash(strings.TrimPrefix(file, root+string(filepath.Separator)))
			if !strings.HasPrefix(path, "internal/test/") {
				texts[path] = string(source)
			}
			return err
		}))
	}
	return texts
}
