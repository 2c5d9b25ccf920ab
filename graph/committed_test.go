package graph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/formatter"

	"atrium/graph"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

var (
	update   = flag.Bool("update", false, "write graph/schema.graphql anew, unless that breaks clients")
	breaking = flag.Bool("breaking", false, "with -update, write it even so")
)

// committed is the file of the schema that clients know.
const committed = "schema.graphql"

// printed returns the schema that is served, in the schema language.
func printed() string {
	var b bytes.Buffer
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatSchema(graph.Schema())
	return b.String()
}

// judgement is what GraphQL's reference implementation reports about a schema.
type judgement struct{ Faults, Breaking, Told []string }

// reference runs testdata/node/schema.mjs, with its library installed into a temporary folder.
func reference(t *testing.T, input map[string]any) (out judgement) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/node")))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = dir
	said, err := install.CombinedOutput()
	require.NoError(t, err, "npm ci: %s", said)
	b, err := json.Marshal(input)
	require.NoError(t, err)
	run := exec.CommandContext(ctx, "node", "schema.mjs")
	run.Dir, run.Stdin = dir, bytes.NewReader(b)
	var faults bytes.Buffer
	run.Stderr = &faults
	said, err = run.Output()
	require.NoError(t, err, "%s", &faults)
	require.NoError(t, json.Unmarshal(said, &out), "%s", said)
	return out
}

// The schema is committed, so that changes are seen, and changes that break clients are refused. GraphQL's reference
// implementation checks the schema and the result of introspection.
func TestCommittedSchema(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, testkit.SQLiteWorld(t), door)
	told := ask(t, s, s.A.Owner, introspection, nil).Get("data")
	was, err := os.ReadFile(committed)
	require.NoError(t, err)
	now := printed()
	got := reference(t, map[string]any{"committed": string(was), "current": now, "introspection": told})
	require.Empty(t, got.Faults)
	require.Empty(t, got.Told)
	if !*breaking {
		require.Empty(t, got.Breaking, "this breaks clients; if it has to be: go test ./graph -run CommittedSchema -update -breaking")
	}
	if *update {
		require.NoError(t, os.WriteFile(committed, []byte(now), 0o644))
		return
	}
	old, lines := strings.Split(string(was), "\n"), strings.Split(now, "\n")
	for i := range min(len(old), len(lines)) {
		require.Equal(t, old[i], lines[i], "line %d; run: go test ./graph -run CommittedSchema -update", i+1)
	}
	require.Len(t, lines, len(old), "run: go test ./graph -run CommittedSchema -update")
}
