package main_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README's walk through a process works as it is printed there, but for the server's port and folder: on the demo company,
// from a request over its tasks and its approval to its end.
func TestReadmeProcess(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
		require.NoError(t, err)
		_, code, found := strings.Cut(string(readme), "```sh\n")
		require.True(t, found)
		code, _, found = strings.Cut(code, "```")
		require.True(t, found)
		for from, to := range map[string]string{"https://127.0.0.1:8443": n.base, "cd data\n": "cd " + p.data + "\n"} {
			require.Contains(t, code, from)
			code = strings.ReplaceAll(code, from, to)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		out, err := exec.CommandContext(ctx, "sh", "-euc", code).CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), `"status":"COMPLETED"`)
		require.Contains(t, string(out), `"phaseId":"done"`)
	})
}
