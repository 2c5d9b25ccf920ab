package reportmail_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/reportmail"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Nodes are killed while Monday's reports are mailed: each is mailed once.
func TestNodesAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := open(t, w)
		monday := d.monday()
		after := monday.Add(time.Hour).Sub(time.Now())
		var all []*ent.ReportSubscription
		w.KillNodes(t, 4, "TestNodeThatMailsReports", after.String(), func(n int) {
			reader := d.AddUser(t, []*testkit.Tenant{d.A, d.B}[n%2], fmt.Sprintf("reader%d@a.test", n), principal.Agent)
			w.Clock.SetOffset(after - 2*time.Hour)
			for range 8 {
				all = append(all, testkit.Run(t, w, w.AsUser(reader), reportmail.Create, reportmail.CreateInput{Name: "Desk"}))
			}
			d.Later(t, 2*time.Hour)
		})
		d.work()
		d.settled()
		for _, s := range all {
			require.Equal(t, 1, d.mails(s))
			require.Equal(t, monday.AddDate(0, 0, 7), d.get(s.ID).NextAt.UTC())
		}
	})
}

// TestNodeThatMailsReports is the process that is killed. It does nothing in any other process.
func TestNodeThatMailsReports(t *testing.T) {
	w, offset := testkit.OpenNode(t)
	if w == nil {
		return
	}
	by, err := time.ParseDuration(offset)
	require.NoError(t, err)
	w.Store.Clock().SetOffset(by)
	w.Engine.Mailer = &post{last: map[string]op.Told{}}
	w.WorkUntilKilled(t, reportmail.WorkSoon(w.Engine))
}
