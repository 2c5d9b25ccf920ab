package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The operator changes a policy while nodes serve: those that only work jobs read it again, too.
func TestWorkersFollowThePolicyFolder(t *testing.T) {
	t.Parallel()
	p := onPostgres(t)
	p.serve("--role", "api")
	dir := t.TempDir()
	worker := p.serve("--role", "worker", "--policy-dir", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.rego"), []byte("package atrium.operator\n"), 0o600))
	require.Eventually(t, func() bool { return strings.Contains(worker.err.String(), "policies were read again") }, patience, 50*time.Millisecond)
}
