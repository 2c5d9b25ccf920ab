package execution_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/notification"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	run "atrium/internal/workflow/execution"
)

// When an edit of the offering makes requests late, the people accountable for their phases get one mail, too: their notices wait for it.
func TestAccountablePeopleHearOfOneEditOnce(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		mails := &posted{sent: map[string][]string{}}
		w.Engine.Mailer = mails
		boss := w.A.Users[principal.Admin]
		work := phase("work", "PROCESS", body{"title": "Work"})
		work["participants"] = []body{{"role": "accountable", "type": "user", "id": boss.ID}}
		s := open(t, w, line([]body{phase("start", "START", nil), work, phase("done", "END", nil)}))
		w.Engine.Events = append(events.Subscribers{}, run.Follow(w.Queue))
		s.workLogged(io.Discard, request.Clocks(w.Engine)) // one queue: a second one would fetch jobs that it does not know
		var last string
		for range 2 {
			r := s.file(nil)
			s.at(r, "WAITING", "work")
			last = r.OfferingID
		}
		w.Clock.SetOffset(time.Hour)
		testkit.Run(t, w, s.ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: last}, SLA: op.SetTo(catalog.SLA{ResolutionMinutes: new(30)})})
		require.Eventually(t, func() bool {
			n, err := w.Store.Reader().Notification.Query().Where(notification.UserID(boss.ID), notification.DigestAtGT(w.Clock.Now())).Count(s.ctx)
			require.NoError(t, err)
			return n == 2
		}, patience, tick)
		require.Empty(t, mails.to(boss.Email))
	})
}
