package request_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/request"
	"atrium/internal/op/paging"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// A company's requests are numbered from 1, whatever other companies file.
func TestRequestsAreNumbered(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		for _, tenant := range []*testkit.Tenant{w.A, w.B} {
			as := w.As(tenant, principal.Owner)
			_, o := offer(t, w, as)
			for n := range int64(3) {
				r := testkit.Run(t, w, as, request.Create, request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: "A laptop"})
				require.Equal(t, n+1, r.Number)
			}
		}
	})
}

// Requests that are filed at once have different numbers, and so has one that the release before files, which knows no numbers.
func TestNumbersAreUnique(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		as := w.As(w.A, principal.Owner)
		_, o := offer(t, w, as)
		var filed sync.WaitGroup
		for range 30 {
			filed.Go(func() {
				testkit.Run(t, w, as, request.Create, request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: "A laptop"})
			})
		}
		filed.Wait()
		require.NoError(t, w.Store.Write(as, func(ctx context.Context, tx *store.Tx) error {
			return tx.Request.Create().SetServiceID(o.ServiceID).SetOfferingID(o.ID).SetTitle("Without a number").SetCreatedBy(w.A.Owner.ID).Exec(ctx)
		}))
		rows, err := w.Store.Reader().Request.Query().All(as)
		require.NoError(t, err)
		seen := map[int64]bool{}
		for _, r := range rows {
			require.Positive(t, r.Number, r.Title)
			require.False(t, seen[r.Number], "%d twice", r.Number)
			seen[r.Number] = true
		}
		require.Len(t, seen, 31)
	})
}

// People find a request by its number, in a filter and in a search box, with and without the #.
func TestFoundByNumber(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		as := w.As(w.A, principal.Owner)
		_, o := offer(t, w, as)
		var made []*ent.Request
		for _, title := range []string{"A laptop", "A monitor", "A desk for room 2"} {
			made = append(made, testkit.Run(t, w, as, request.Create, request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: title}))
		}
		for name, c := range map[string]struct {
			in   request.ListInput
			want []*ent.Request
		}{
			"by its number":                {request.ListInput{Numbers: []int{2}}, made[1:2]},
			"by several":                   {request.ListInput{Numbers: []int{1, 3, 99}}, []*ent.Request{made[0], made[2]}},
			"in the search box":            {request.ListInput{Q: "#1"}, made[:1]},
			"a number, and one in a title": {request.ListInput{Q: "2"}, made[1:]},
			"none":                         {request.ListInput{Q: "#99"}, nil},
		} {
			c.in.Page = paging.Page{Number: 1, Size: 10, Sort: "createdAt"}
			list := testkit.Run(t, w, as, request.List, c.in)
			var got, want []string
			for _, r := range list.Rows {
				got = append(got, r.ID)
			}
			for _, r := range c.want {
				want = append(want, r.ID)
			}
			require.ElementsMatch(t, want, got, name)
			require.Equal(t, len(want), list.Total, name)
		}
	})
}
