package request_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/request"
	"atrium/internal/op/paging"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// The pages of a long list are its rows in order, each once, though the pages behind its middle are read from its end.
func TestPagesOfALongList(t *testing.T) {
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		const n = 2650
		seedRequests(t, w, ctx, n)
		for sort, before := range map[string]func(a, b int64) bool{
			"":              func(a, b int64) bool { return a > b },
			"createdAt":     func(a, b int64) bool { return a < b },
			"priority":      func(a, b int64) bool { return (a-1)%4 < (b-1)%4 || (a-1)%4 == (b-1)%4 && a < b }, // as they are seeded
			"-priority":     func(a, b int64) bool { return (a-1)%4 > (b-1)%4 || (a-1)%4 == (b-1)%4 && a > b },
			"responseDueAt": nil, // all are due never
		} {
			seen, last := map[int64]bool{}, int64(0)
			for number := 1; number <= n/100+2; number++ {
				list := testkit.Run(t, w, ctx, request.List, request.ListInput{Page: paging.Page{Number: number, Size: 100, Sort: sort}})
				require.Equal(t, n, list.Total)
				require.Len(t, list.Rows, max(0, min(100, n-100*(number-1))), "page %d by %q", number, sort)
				for _, r := range list.Rows {
					require.False(t, seen[r.Number], "%d by %q", r.Number, sort)
					seen[r.Number] = true
					if before != nil && last != 0 {
						require.True(t, before(last, r.Number), "%d then %d by %q", last, r.Number, sort)
					}
					last = r.Number
				}
			}
			require.Len(t, seen, n)
		}
	})
}
