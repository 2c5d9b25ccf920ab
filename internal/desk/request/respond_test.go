package request_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	entrequest "atrium/ent/request"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// A public comment of staff within the target ends the clock of the first response: the target is met, though the request is accepted long
// after it. What its requester says, and internal notes, are no response; making a note public is one.
func TestAnAnswerIsTheFirstResponse(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		w.work()
		member, staff := w.As(w.A, principal.Member), w.As(w.A, principal.Agent)
		o := w.offer(catalog.SLA{ResponseMinutes: new(60)})
		answered, published, silent := w.file(member, o), w.file(member, o), w.file(member, o)
		say := func(r *ent.Request, visibility string) *ent.Comment {
			return testkit.Run(t, world, staff, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "Which one?", Visibility: &visibility})
		}
		note := say(published, "internal")
		say(silent, "internal")
		for _, r := range []*ent.Request{answered, published, silent} {
			testkit.Run(t, world, member, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "Please."})
			require.Nil(t, w.get(r.ID).FirstResponseAt)
		}
		w.later(30 * time.Minute)
		say(answered, "public")
		testkit.Run(t, world, staff, request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: note.ID}, Visibility: op.SetTo("public")})
		first := w.get(answered.ID)
		require.NotNil(t, first.FirstResponseAt)
		require.Nil(t, first.AcceptedAt)
		require.Equal(t, entrequest.SLAStateMET, *first.SLAState)

		w.later(time.Hour)
		w.settled()
		say(answered, "public")
		for _, r := range []*ent.Request{answered, published, silent} {
			w.patch(staff, r.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
		}
		require.Equal(t, first.FirstResponseAt, w.get(answered.ID).FirstResponseAt, "the first one counts")
		require.Empty(t, w.told(answered.ID))
		require.Empty(t, w.told(published.ID))
		late := w.get(silent.ID)
		require.Equal(t, map[string]int{"sla.breached": 1}, w.told(silent.ID))
		require.Equal(t, late.AcceptedAt, late.FirstResponseAt, "an acceptance is a response")
		require.Equal(t, entrequest.SLAStateBREACHED, *late.SLAState)

		report := testkit.Run(t, world, staff, request.Report, request.ReportInput{})
		require.Equal(t, 30, *report.Total.FirstResponseP50)
	})
}

// Those who wait no longer for a response are not due for one, and are taken after those who do.
func TestAnsweredRequestsAreNotDueForAResponse(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		member, staff := w.As(w.A, principal.Member), w.As(w.A, principal.Agent)
		o := w.offer(catalog.SLA{ResponseMinutes: new(60)})
		answered, waits := w.file(member, o), w.file(member, o)
		testkit.Run(t, world, staff, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: answered.ID}, Body: "Which one?"})
		due := testkit.Run(t, world, staff, request.List, request.ListInput{DueBefore: new(w.Clock.Now().Add(2 * time.Hour))})
		require.Len(t, due.Rows, 1)
		require.Equal(t, waits.ID, due.Rows[0].ID)
	})
}
