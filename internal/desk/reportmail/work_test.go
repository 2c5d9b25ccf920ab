package reportmail_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/reportsubscription"
	"atrium/ent/user"
	"atrium/internal/desk/reportmail"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// On Monday the report of the week before is mailed, each figure beside that of the week before it, and again on the next.
func TestMail(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.file("Old", "LOW")
		d.Later(t, 7*24*time.Hour)
		s := d.subscribe(principal.Owner, "")
		d.finish(d.file("Done", "HIGH"))
		d.file("Open", "LOW")
		monday := d.monday()
		d.work()
		d.till(monday.Add(-time.Minute))
		require.Zero(t, d.mails(s), "not before seven")
		d.till(monday.Add(time.Minute))
		require.Equal(t, 1, d.mails(s))
		date := func(days int) string { return monday.AddDate(0, 0, days).Format("2 January 2006") }
		require.Equal(t, "Weekly report: Desk\n"+
			date(-7)+" to "+date(-1)+", in brackets the week before:\n"+
			"Submitted: 2 (1)\nCompleted: 1 (0)\nStill open: 1 (1)\nFirst response, median: 0 minutes (–)\nResolution, median: 0 minutes (–)\n"+
			"Service levels met: – (–)\nSatisfaction: – (–)\n\n"+
			"/figures?period=custom&from="+monday.AddDate(0, 0, -7).Format(time.DateOnly)+"&to="+monday.AddDate(0, 0, -1).Format(time.DateOnly), d.said(principal.Owner))
		require.Equal(t, monday.AddDate(0, 0, 7), d.get(s.ID).NextAt.UTC())
		require.True(t, s.UpdatedAt.Equal(d.get(s.ID).UpdatedAt), "a mail is no change")

		d.till(monday.AddDate(0, 0, 7).Add(time.Minute))
		require.Equal(t, 2, d.mails(s))
		require.Contains(t, d.said(principal.Owner), "Submitted: 0 (2)")
	})
}

// A mail is in its reader's language and zone, with the filters and the groups that were asked for, and leads to the page with them.
func TestMailInGerman(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		german := people.UpdateViewerInput{Locale: op.SetTo("de"), TimeZone: op.SetTo("Pacific/Auckland")}
		testkit.Run(t, d.World, d.As(d.A, principal.Admin), people.UpdateViewer, german)
		s := d.subscribe(principal.Admin, "priority=HIGH,URGENT&by=priority,team&status=PENDING,COMPLETED")
		zone, err := time.LoadLocation("Pacific/Auckland")
		require.NoError(t, err)
		monday := d.monday().Add(-7 * time.Hour).In(zone)
		monday = time.Date(monday.Year(), monday.Month(), monday.Day(), 7, 0, 0, 0, zone)
		require.Equal(t, monday.UTC(), s.NextAt.UTC())
		d.finish(d.file("Done", "HIGH"))
		d.file("Open", "HIGH")
		d.file("Open", "URGENT")
		d.file("Not asked for", "LOW")
		d.work()
		d.till(monday.Add(time.Minute))
		from, to := monday.AddDate(0, 0, -7), monday.AddDate(0, 0, -1)
		require.Regexp(t, `^Wochenbericht: Desk\n\d+\. \p{L}+ \d{4} bis \d+\. \p{L}+ \d{4}, in Klammern die Woche davor:\n`+
			`Gestellt: 3 \(0\)\nAbgeschlossen: 1 \(0\)\nNoch offen: 2 \(0\)\nErste Reaktion, Median: 0 Minuten \(–\)\nLösung, Median: 0 Minuten \(–\)\n`+
			`Service-Level eingehalten: – \(–\)\nZufriedenheit: – \(–\)\n`+
			`Nach Priorität:\n- Hoch: 2 gestellt, 1 abgeschlossen\n- Dringend: 1 gestellt, 0 abgeschlossen\n`+
			`Nach Team:\n- Ohne: 3 gestellt, 1 abgeschlossen\n\n`+
			`/figures\?period=custom&from=`+from.Format(time.DateOnly)+`&to=`+to.Format(time.DateOnly)+`&priority=HIGH%2CURGENT&by=priority$`, d.said(principal.Admin))
	})
}

// A report is computed as its reader, by the access policies that hold by then.
func TestAsItsReader(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.file("Seen", "LOW")
		d.file("Hidden", "LOW")
		d.subscribe(principal.Owner, "")
		d.subscribe(principal.Agent, "")
		hide := policy.NewCondition([]byte(`{"resource.title": "Hidden", "principal.role": "agent"}`))
		denial := policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hide}
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), policy.Create, denial)
		d.work()
		d.till(d.monday().Add(time.Minute))
		require.Contains(t, d.said(principal.Owner), "Submitted: 2 (0)")
		require.Contains(t, d.said(principal.Agent), "Submitted: 1 (0)")
	})
}

// set changes a user's row.
func (d *desk) set(u *ent.User, change func(*ent.UserUpdateOne)) {
	d.t.Helper()
	require.NoError(d.t, d.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		c := tx.User.UpdateOneID(u.ID)
		change(c)
		return c.Exec(ctx)
	}))
}

// People who were deactivated, who are no staff any more, or whom mail does not reach get none, and do again when that has changed. The
// subscriptions of people who were erased are gone.
func TestWhoGetsNone(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		owner := d.As(d.A, principal.Owner)
		goes, falls, bounces, erased := d.AddUser(t, d.A, "goes@a.test", principal.Agent), d.AddUser(t, d.A, "falls@a.test", principal.Agent),
			d.AddUser(t, d.A, "bounces@a.test", principal.Agent), d.AddUser(t, d.A, "erased@a.test", principal.Agent)
		subs := map[string]*ent.ReportSubscription{}
		for _, u := range []*ent.User{goes, falls, bounces, erased} {
			subs[u.ID] = testkit.Run(t, d.World, d.AsUser(u), reportmail.Create, reportmail.CreateInput{Name: "Desk"})
		}
		testkit.Run(t, d.World, owner, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: goes.ID}})
		testkit.Run(t, d.World, owner, people.UpdateUser, people.UpdateUserInput{ByID: op.ByID{ID: falls.ID}, Role: op.SetTo("member")})
		d.set(bounces, func(c *ent.UserUpdateOne) { c.SetMailState(user.MailStateBOUNCED) })
		testkit.Run(t, d.World, owner, people.ErasePerson, people.ErasePersonInput{UserID: erased.ID, Reason: "asked"})
		gone := d.Store.Reader().ReportSubscription.Query().Where(reportsubscription.ID(subs[erased.ID].ID)).CountX(principal.System(context.Background(), "test"))
		require.Zero(t, gone)

		monday := d.monday()
		d.work()
		d.till(monday.Add(time.Minute))
		for _, u := range []*ent.User{goes, falls, bounces} {
			require.Zero(t, d.mails(subs[u.ID]), u.Email)
			require.Equal(t, monday.AddDate(0, 0, 7), d.get(subs[u.ID].ID).NextAt.UTC(), u.Email)
		}
		testkit.Run(t, d.World, owner, people.ReactivateUser, op.ByID{ID: goes.ID})
		testkit.Run(t, d.World, owner, people.UpdateUser, people.UpdateUserInput{ByID: op.ByID{ID: falls.ID}, Role: op.SetTo("agent")})
		d.set(bounces, func(c *ent.UserUpdateOne) { c.SetMailState(user.MailStateOK) })
		d.till(monday.AddDate(0, 0, 7).Add(time.Minute))
		for _, u := range []*ent.User{goes, falls, bounces} {
			require.Equal(t, 1, d.mails(subs[u.ID]), u.Email)
		}
		require.Zero(t, d.mails(subs[erased.ID]))
	})
}

// A Monday on which no server ran is made up for once within three days, and is skipped after them.
func TestMissedMondays(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.file("Old", "LOW")
		s := d.subscribe(principal.Owner, "")
		monday := d.monday()
		d.Later(t, monday.Add(71*time.Hour).Sub(d.Clock.Now()))
		d.file("This week", "LOW")
		stop := d.WorkJobs(t, reportmail.WorkSoon(d.Engine))
		d.settled()
		stop()
		require.Equal(t, 1, d.mails(s))
		require.Contains(t, d.said(principal.Owner), "Submitted: 1 (0)", "of the week before that Monday")
		require.Equal(t, monday.AddDate(0, 0, 7), d.get(s.ID).NextAt.UTC())

		d.Later(t, monday.AddDate(0, 0, 7).Add(73*time.Hour).Sub(d.Clock.Now()))
		d.work()
		d.settled()
		require.Equal(t, 1, d.mails(s), "that Monday is too long ago")
		require.Equal(t, monday.AddDate(0, 0, 14), d.get(s.ID).NextAt.UTC())
	})
}

// Somebody who goes west before Monday gets the mail at seven there, once.
func TestReaderInAnotherZone(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		s := d.subscribe(principal.Owner, "")
		monday := d.monday()
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), people.UpdateViewer, people.UpdateViewerInput{TimeZone: op.SetTo("America/Phoenix")}) // UTC-7 all year
		d.work()
		d.till(monday.Add(time.Minute))
		require.Zero(t, d.mails(s))
		require.Equal(t, monday.Add(7*time.Hour), d.get(s.ID).NextAt.UTC())
		d.till(monday.Add(7*time.Hour + time.Minute))
		require.Equal(t, 1, d.mails(s))
		require.Equal(t, monday.AddDate(0, 0, 7).Add(7*time.Hour), d.get(s.ID).NextAt.UTC())
	})
}

// Two nodes that work beside each other, as often as a job comes, mail each report once.
func TestTwoNodes(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		var all []*ent.ReportSubscription
		for n := range 3 {
			all = append(all, d.subscribe(principal.Owner, ""), d.subscribe(principal.Agent, fmt.Sprintf("by=%s", []string{"team", "service", "priority"}[n])))
		}
		monday := d.monday()
		require.NoError(t, d.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
			for _, s := range all { // jobs of the same Monday, as if one had been given back
				if err := d.Queue.InsertTx(ctx, tx, reportmail.Args{Company: s.CompanyID, ID: s.ID, At: s.NextAt}, s.NextAt); err != nil {
					return err
				}
			}
			return nil
		}))
		d.work()
		d.work()
		d.till(monday.Add(time.Minute))
		require.Eventually(t, func() bool { return len(d.Unfinished(t, d.A.Company.ID)) == len(all) }, patience, tick, "the next Monday's are left")
		for _, s := range all {
			require.Equal(t, 1, d.mails(s))
		}
	})
}

// While one report of a company is read its others wait, and those of other companies do not.
func TestCompaniesTakeTurns(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		ours := d.subscribe(principal.Owner, "")
		theirs := testkit.Run(t, d.World, d.As(d.B, principal.Owner), reportmail.Create, reportmail.CreateInput{Name: "Desk"})
		places := jobs.NewPlaces(2, 1, 20*time.Millisecond)
		leave, err := places.Take(t.Context(), d.A.Company.ID)
		require.NoError(t, err)
		d.WorkJobs(t, reportmail.WorkIn(d.Engine, places))
		d.Later(t, d.monday().Add(time.Minute).Sub(d.Clock.Now()))
		require.Eventually(t, func() bool { return d.mails(theirs) == 1 }, patience, tick)
		require.Zero(t, d.mails(ours))
		leave()
		d.settled()
		require.Equal(t, 1, d.mails(ours))
	})
}
