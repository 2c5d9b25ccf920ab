package jobs_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit"
)

// River is used only through its public API. Two files are excepted, with their reasons: one holds all SQL on its tables, the other
// wraps the listener of its driver for SQLite.
func TestRiverIsUsedByItsAPI(t *testing.T) {
	t.Parallel()
	inside := regexp.MustCompile(`riverdriver\.(Driver|Executor|ExecutorTx|Listener)\b|(FROM|INTO|UPDATE) +river_`)
	excepted := map[string]bool{"internal/platform/jobs/tables.go": true, "internal/platform/jobs/wake.go": true}
	for path, source := range testkit.Sources(t, "cmd", "internal", "rest", "graph", "authz") {
		require.Equal(t, excepted[path], inside.MatchString(source), path)
	}
}
