package request_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/period"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// The figures cover requests filed, finished and cancelled in a period, as far as the caller sees
// them.
func TestStats(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		advance := func(d time.Duration) { w.Clock.SetOffset(w.Clock.Offset() + d) }
		s, o := offer(t, w, owner)
		desk := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		from := w.Clock.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		advance(from.Add(8 * time.Hour).Sub(w.Clock.Now()))
		file := func(team *string) string {
			return testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "x", TeamID: team}).ID
		}
		move := func(id, to string) {
			testkit.Run(t, w, owner, request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, Status: op.SetTo(to)})
		}
		first, second, third := file(&desk.ID), file(&desk.ID), file(nil)
		advance(10 * time.Minute)
		move(first, "IN_PROGRESS")
		advance(20 * time.Minute)
		move(second, "IN_PROGRESS")
		move(third, "CANCELLED")
		advance(24 * time.Hour)
		move(first, "COMPLETED")

		ask := func(as principal.Role, by string) []*request.Stat {
			t.Helper()
			return testkit.Run(t, w, w.As(w.A, as), request.Stats, request.StatsInput{Input: period.Input{From: from, To: from.Add(72 * time.Hour)}, By: by})
		}
		days := ask(principal.Agent, "day")
		require.Len(t, days, 2)
		require.Equal(t, from.Format(time.DateOnly), *days[0].Key)
		require.Equal(t, []int{3, 0, 1, 1}, []int{days[0].Filed, days[0].Finished, days[0].Cancelled, days[0].Open})
		require.Equal(t, []int{10, 30}, []int{*days[0].AnswerP50, *days[0].AnswerP90})
		require.Equal(t, 24*60+30, *days[0].CompletionP50)
		require.Equal(t, []int{0, 1}, []int{days[1].Filed, days[1].Finished})
		require.Nil(t, days[1].AnswerP50)
		teams := ask(principal.Owner, "team")
		require.Equal(t, desk.ID, *teams[0].Key)
		require.Nil(t, teams[1].Key)
		require.Equal(t, []int{2, 1}, []int{teams[0].Filed, teams[1].Filed})
		require.Equal(t, s.ID, *ask(principal.Owner, "service")[0].Key)
		monday, err := time.Parse(time.DateOnly, *ask(principal.Owner, "week")[0].Key)
		require.NoError(t, err)
		require.Equal(t, time.Monday, monday.Weekday())
		require.Empty(t, ask(principal.Member, "day"), "none of the member's own")

		for name, to := range map[string]time.Time{"no time": from, "too long a time": from.AddDate(2, 0, 0)} {
			testkit.Refused(t, w, owner, request.Stats, request.StatsInput{Input: period.Input{From: from, To: to}, By: "day"}, apperr.Validation, name)
		}
	})
}
