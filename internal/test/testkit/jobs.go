package testkit

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Unfinished returns the unfinished jobs of one or two companies, in the order of insertion. The keys of their arguments are sorted.
func (w *World) Unfinished(tb testing.TB, companies ...string) (list []jobs.Moved) {
	tb.Helper()
	of := [2]string{}
	require.LessOrEqual(tb, len(companies), len(of))
	copy(of[:], companies)
	ctx := principal.System(tb.Context(), "test")
	require.NoError(tb, w.Store.Snapshot(ctx, func(rows store.Rows) error {
		return jobs.Unfinished(ctx, w.Store, rows, of, func(j jobs.Moved) (err error) {
			var args map[string]any
			if err = json.Unmarshal(j.Args, &args); err == nil {
				j.Args, err = json.Marshal(args)
			}
			list = append(list, j)
			return err
		})
	}))
	return list
}
