package request_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// The requester alone says how content they are, once the request was completed and its offering asks, and may change it for a week.
func TestRating(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		own, staff := w.As(w.A, principal.Member), w.As(w.A, principal.Agent)
		o := w.offer(catalog.SLA{})
		finish := func() string {
			r := w.file(own, o)
			w.patch(staff, r.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
			w.patch(staff, r.ID, request.UpdateInput{Status: op.SetTo("COMPLETED")})
			return r.ID
		}
		rate := func(id string, as principal.Role, n int) error {
			_, _, err := op.Run(w.As(w.A, as), w.Engine, request.Rate, request.RateInput{ByID: op.ByID{ID: id}, Satisfaction: n, Comment: new("Quick.")}, nil)
			return err
		}
		unasked := finish()
		require.Equal(t, apperr.Conflict, apperr.CodeOf(rate(unasked, principal.Member, 5)), "the offering does not ask")
		testkit.Run(t, w.World, w.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, AskSatisfaction: op.SetTo(true)})
		id := finish()
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(rate(id, principal.Agent, 5)), "staff rate nothing of others")
		require.Equal(t, apperr.Validation, apperr.CodeOf(rate(id, principal.Member, 6)))
		require.NoError(t, rate(id, principal.Member, 2))
		w.later(6 * 24 * time.Hour)
		require.NoError(t, rate(id, principal.Member, 4))
		require.Equal(t, 4, *w.get(id).Satisfaction)
		require.Equal(t, "Quick.", *w.get(id).SatisfactionComment)
		w.later(24 * time.Hour)
		require.Equal(t, apperr.Conflict, apperr.CodeOf(rate(id, principal.Member, 1)), "a week after the first answer")

		found := testkit.Run(t, w.World, staff, request.List, request.ListInput{Satisfaction: []int{3, 4}})
		require.Len(t, found.Rows, 1)
		asked := w.get(id).SatisfactionAskedAt
		w.patch(staff, id, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
		w.patch(staff, id, request.UpdateInput{Status: op.SetTo("COMPLETED")})
		require.Equal(t, asked, w.get(id).SatisfactionAskedAt, "asked once")
	})
}
