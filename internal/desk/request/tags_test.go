package request_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// A list by tags finds what has them, whether ten requests have a value or a thousand, and counts it right beside any other filter.
func TestListByTags(t *testing.T) {
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		const n = 3200 // of which some 1,100 have each site: more than a list names
		seedRequests(t, w, ctx, n)
		all, err := w.Store.Reader().Request.Query().All(ctx)
		require.NoError(t, err)
		for _, in := range []request.ListInput{
			{Tags: map[string][]string{"site": {"oslo"}}},
			{Tags: map[string][]string{"site": {"oslo", "paris"}}},
			{Tags: map[string][]string{"site": {"oslo"}}, Status: []string{"PENDING", "IN_PROGRESS"}},
			{Tags: map[string][]string{"ticket": {"77"}}},
			{Tags: map[string][]string{"ticket": {"77", "78", "none"}}, Priority: []string{"HIGH"}},
			{Tags: map[string][]string{"ticket": {"77"}, "site": {"oslo"}}},
			{Tags: map[string][]string{"ticket": {"no such"}}},
			{Tags: map[string][]string{"site.ticket": {"77"}}},
		} {
			var want []string
			for _, r := range all {
				has := func(of []string, v string) bool { return len(of) == 0 || slices.Contains(of, v) }
				fits := has(in.Status, string(r.Status)) && has(in.Priority, string(r.Priority))
				for key, values := range in.Tags {
					fits = fits && slices.Contains(values, r.Tags[key])
				}
				if fits {
					want = append(want, r.ID)
				}
			}
			in.Page = paging.Page{Size: 100}
			list := testkit.Run(t, w, ctx, request.List, in)
			require.Equal(t, len(want), list.Total, "%v", in.Tags)
			slices.Sort(want)
			slices.Reverse(want) // newest first, as ids are
			require.Equal(t, want[:min(100, len(want))], idsOf(list.Rows), "%v", in.Tags)
			require.Zero(t, testkit.Run(t, w, w.As(w.B, principal.Owner), request.List, in).Total)
		}
	})
}

// The tags by which a request is found are those that it has: as it was filed, changed, and not when it is gone.
func TestTagsFollowTheRequest(t *testing.T) {
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		_, offering := offer(t, w, ctx)
		found := func(key, value string) []string {
			return idsOf(testkit.Run(t, w, ctx, request.List, request.ListInput{Tags: map[string][]string{key: {value}}}).Rows)
		}
		file := func(tags map[string]string) *ent.Request {
			return testkit.Run(t, w, ctx, request.Create, request.CreateInput{ServiceID: offering.ServiceID, OfferingID: offering.ID, Title: "Tagged", Tags: tags})
		}
		plain, one := file(nil), file(map[string]string{"site": "berlin", "quote": `it's "100 %"`})
		require.Equal(t, []string{one.ID}, found("site", "berlin"))
		require.Equal(t, []string{one.ID}, found("quote", `it's "100 %"`))
		retag := func(r *ent.Request, tags map[string]string) {
			testkit.Run(t, w, ctx, request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Tags: op.SetTo(tags)})
		}
		retag(one, map[string]string{"site": "oslo"})
		retag(plain, map[string]string{"site": "oslo"})
		require.Empty(t, found("site", "berlin"))
		require.Empty(t, found("quote", `it's "100 %"`))
		require.Equal(t, []string{one.ID, plain.ID}, found("site", "oslo"))
		retag(one, map[string]string{})
		require.Equal(t, []string{plain.ID}, found("site", "oslo"))
	})
}

func idsOf(rows []*ent.Request) (ids []string) {
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}
