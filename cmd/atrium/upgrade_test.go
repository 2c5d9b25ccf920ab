//go:build faults

package main_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The last release and this one serve one database under load while each old node is replaced by a new one. No call fails, and no
// row and no job is lost. `make upgrade-test` builds the last release and names it in ATRIUM_PREVIOUS.
func TestRollingUpgrade(t *testing.T) {
	next := onPostgres(t)
	last := next
	last.release = os.Getenv("ATRIUM_PREVIOUS")
	require.NotEmpty(t, last.release, "ATRIUM_PREVIOUS names no binary: run `make upgrade-test`")
	flags := deliveringFlags(t, impatient, "--drain", "1s")
	a := last.serve(flags...)
	b := a.beside(flags...)
	tr := startTraffic(t, 4, false, a, b)
	tr.answered(50)

	applied := next.object("migrate")["applied"].([]any)
	tr.answered(50)                           // the old nodes work on the new schema
	first := &node{place: next, base: a.base} // the public address of all nodes
	c := first.beside(flags...)
	tr.use(a, b, c)
	tr.answered(50) // both releases work at the same time
	require.Zero(t, a.stop())
	d := first.beside(flags...)
	tr.use(b, c, d)
	tr.answered(50)
	require.Zero(t, b.stop())
	tr.use(c, d)
	tr.answered(50)
	tr.end()

	require.Empty(t, tr.failed, "calls failed during the upgrade")
	tr.requireBalanced(next)
	for _, n := range []*node{a, b, c, d} {
		require.NotContains(t, n.err.String(), `"level":"ERROR"`)
	}
	requireHealthy(t, next)
	if len(applied) > 0 {
		last.refused([]string{"newer than this binary"}, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	}
}
