package requestimport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/requestimport"
	"atrium/internal/test/testkit"
)

// Nodes are killed while they bring tables in, with keys and without: each row is exactly one request.
func TestNodesAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := open(t, w)
		var ids []string
		rows := 0
		w.KillNodes(t, 4, "TestNodeThatImports", "", func(n int) {
			var table strings.Builder
			table.WriteString("key,title\n")
			for row := range 450 {
				key := ""
				if n%2 == 0 {
					key = fmt.Sprintf("%d-%d", n, row)
				}
				fmt.Fprintf(&table, "%s,Row %d of %d\n", key, row, n)
				rows++
			}
			ids = append(ids, d.bring(d.owner, requestimport.CreateInput{CSV: table.String()}).ID)
		})
		defer d.work()()
		for _, id := range ids {
			i := d.ended(id)
			require.Equal(t, []any{completed, 450, 450, 0, 0}, []any{i.Status, i.Done, i.Imported, i.Known, i.Faulty})
		}
		titles := map[string]int{}
		for _, r := range d.requests() {
			titles[r.Title]++
		}
		require.Len(t, titles, rows)
		require.Len(t, d.requests(), rows)
	})
}

// TestNodeThatImports is the process that is killed. It does nothing in any other process.
func TestNodeThatImports(t *testing.T) {
	w, _ := testkit.OpenNode(t)
	if w == nil {
		return
	}
	w.WorkUntilKilled(t, requestimport.WorkSoon(w.Engine))
}
