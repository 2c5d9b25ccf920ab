package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	"atrium/ent/execution"
	"atrium/ent/notification"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	"atrium/internal/workflow/schedule"
)

// A schedule files its request as whoever saved it last, audited, and starts its workflow without one.
func TestRun(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		admin := o.As(o.A, principal.Admin)
		files, starts := o.create(admin, o.filing()), o.create(o.owner, o.starting())
		first := *files.NextRunAt
		o.work()
		o.Later(o.t, time.Hour)
		o.settled()
		ran := o.runs(files.ID)
		require.Len(t, ran, 1)
		require.Equal(t, "STARTED", string(ran[0].Status))
		require.True(t, first.Equal(ran[0].PlannedAt))
		require.Len(t, o.requests(), 1)
		r := o.requests()[0]
		require.Equal(t, *ran[0].RequestID, r.ID)
		by, _ := principal.From(admin)
		require.Equal(t, []string{"Check it", "HIGH", by.ID, by.ID}, []string{r.Title, string(r.Priority), r.CreatedBy, r.RequesterID})
		require.JSONEq(t, `{"system": "mail"}`, string(r.Fields))
		require.Equal(t, first.Add(time.Hour), o.get(files.ID).NextRunAt.UTC())
		require.True(t, files.UpdatedAt.Equal(o.get(files.ID).UpdatedAt), "a run is no change")

		started := o.runs(starts.ID)
		require.Len(t, started, 1)
		e, err := o.Store.Reader().Execution.Query().Where(execution.ID(*started[0].ExecutionID)).Only(o.owner)
		require.NoError(t, err)
		require.Equal(t, []any{execution.TriggerSchedule, (*string)(nil), o.workflow.ID}, []any{e.Trigger, e.RequestID, e.WorkflowID})
		require.Contains(t, string(e.Webhook), starts.ID)

		for _, action := range []string{"schedule.ran", "request.created"} {
			n, err := o.Store.Reader().AuditEntry.Query().Where(auditentry.Action(action), auditentry.ActorID(by.ID)).Count(o.owner)
			require.NoError(t, err)
			require.Equal(t, 1, n, action)
		}
	})
}

// However many nodes work, each planned time has one run.
func TestNodesTogether(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.work()
		if o.Store.Dialect() == dialect.Postgres { // on SQLite one process works jobs
			o.work()
		}
		var ids []string
		for range 5 {
			ids = append(ids, o.create(o.owner, o.filing()).ID)
		}
		for range 4 {
			o.Later(o.t, time.Hour)
			o.settled()
		}
		for _, id := range ids {
			require.Len(t, o.runs(id), 4)
		}
		require.Len(t, o.requests(), 20)
	})
}

// What passed while no server ran: one run makes up for it, or it is noted as skipped.
func TestMissed(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		once, skip := o.filing(), o.filing()
		skip.Missed = new("SKIP")
		first, second := o.create(o.owner, once), o.create(o.owner, skip)
		planned := *first.NextRunAt
		o.Later(o.t, planned.Sub(o.Clock.Now())+3*time.Hour+time.Minute)
		o.work()
		o.settled()
		require.Len(t, o.runs(first.ID), 1)
		require.True(t, planned.Equal(o.runs(first.ID)[0].PlannedAt))
		ran := o.runs(second.ID)
		require.Len(t, ran, 2)
		require.Equal(t, []string{"SKIPPED", "STARTED"}, []string{string(ran[0].Status), string(ran[1].Status)}, "the last time is not missed yet")
		require.True(t, planned.Add(3*time.Hour).Equal(ran[1].PlannedAt))
		require.Nil(t, ran[0].StartedAt)
		require.NotEmpty(t, *ran[0].Reason)
		for _, id := range []string{first.ID, second.ID} {
			require.True(t, planned.Add(4*time.Hour).Equal(*o.get(id).NextRunAt))
		}
		require.Len(t, o.requests(), 2)
	})
}

// A service account that is disabled files nothing by its schedules either.
func TestDisabledServiceAccounts(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		account := testkit.Run(t, o.World, o.owner, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "Robot", Role: new("admin")})
		by, _ := principal.From(o.owner)
		p := *by
		p.Type, p.ID, p.Name, p.Role = principal.TypeServiceAccount, account.ID, account.Name, principal.Admin
		s := o.create(principal.With(t.Context(), &p), o.filing())
		testkit.Run(t, o.World, o.owner, people.UpdateServiceAccount, people.UpdateServiceAccountInput{ByID: op.ByID{ID: account.ID}, Enabled: op.SetTo(false)})
		o.work()
		o.Later(o.t, time.Hour)
		o.settled()
		require.Equal(t, "Whoever saved the schedule last was deactivated.", *o.runs(s.ID)[0].Reason)
		require.Empty(t, o.requests())
	})
}

// A run that fails says why, goes on, and tells the administrators once in a row.
func TestFailed(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		s := o.create(o.As(o.A, principal.Admin), o.filing())
		testkit.Run(t, o.World, o.owner, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: o.A.Users[principal.Admin].ID}})
		o.work()
		for range 2 {
			o.Later(o.t, time.Hour)
			o.settled()
		}
		ran := o.runs(s.ID)
		require.Len(t, ran, 2)
		for _, r := range ran {
			require.Equal(t, "FAILED", string(r.Status))
			require.Equal(t, "Whoever saved the schedule last was deactivated.", *r.Reason)
		}
		require.Empty(t, o.requests())
		told := func() int {
			n, err := o.Store.Reader().Notification.Query().Where(notification.KindEQ(notification.KindIncident)).Count(o.owner)
			require.NoError(t, err)
			return n
		}
		require.Equal(t, 1, told(), "the owner, once")
		testkit.Run(t, o.World, o.owner, schedule.Update, schedule.UpdateInput{ByID: op.ByID{ID: s.ID}, Name: op.SetTo("Mine")})
		testkit.Run(t, o.World, o.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.offering.ID}, Status: op.SetTo("inactive")})
		o.Later(o.t, time.Hour)
		o.settled()
		require.Len(t, o.runs(s.ID), 3)
		require.Equal(t, "The offering takes no requests: it is not active.", *o.runs(s.ID)[2].Reason)
		testkit.Run(t, o.World, o.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.offering.ID}, Status: op.SetTo("active")})
		o.Later(o.t, time.Hour)
		o.settled()
		require.Len(t, o.requests(), 1, "it runs as the owner now")
	})
}

// Runs by hand are recorded, and leave the planned times alone.
func TestByHand(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		in := o.filing()
		in.Enabled = new(false)
		s := o.create(o.owner, in)
		require.Nil(t, s.NextRunAt)
		for range 53 {
			testkit.Run(t, o.World, o.owner, schedule.Run, schedule.RunInput{ByID: op.ByID{ID: s.ID}})
		}
		require.Len(t, o.runs(s.ID), 50, "the last ones are kept")
		require.Len(t, o.requests(), 53)
		require.Nil(t, o.get(s.ID).NextRunAt)
		testkit.Run(t, o.World, o.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.offering.ID}, Status: op.SetTo("inactive")})
		testkit.Refused(t, o.World, o.owner, schedule.Run, schedule.RunInput{ByID: op.ByID{ID: s.ID}}, apperr.Conflict)
	})
}

// A schedule of what its person may not see any more fails.
func TestPolicies(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		s := o.create(o.As(o.A, principal.Admin), o.starting())
		condition := policy.NewCondition(fmt.Appendf(nil, `{"resource.id": %q}`, o.workflow.ID))
		testkit.Run(t, o.World, o.owner, policy.Create, policy.CreateInput{Name: "D", Effect: "Deny", Action: "read", Resource: "Workflow", Condition: &condition})
		o.work()
		o.Later(o.t, time.Hour)
		o.settled()
		require.Len(t, o.runs(s.ID), 1)
		require.Equal(t, "FAILED", string(o.runs(s.ID)[0].Status))
		require.Empty(t, o.runs(s.ID)[0].ExecutionID)
		list := testkit.Run(t, o.World, o.As(o.A, principal.Admin), schedule.List, schedule.ListInput{})
		require.Empty(t, list.Rows, "nor does a list show it")
		testkit.Refused(t, o.World, o.As(o.A, principal.Admin), schedule.Get, op.ByID{ID: s.ID}, apperr.Forbidden)
	})
}

// A calendar that changes moves the next times of its schedules.
func TestCalendars(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		c := testkit.Run(t, o.World, o.owner, workflow.CreateCalendar, workflow.CreateCalendarInput{Name: "Berlin", TimeZone: new("Europe/Berlin")})
		in := o.starting()
		in.Every, in.TimeZone, in.CalendarID, in.OnClosed = &schedule.Every{Unit: "DAY", At: "09:00"}, "Europe/Berlin", &c.ID, new("NEXT_WORKING_DAY")
		s := o.create(o.owner, in)
		before := *s.NextRunAt
		o.work()
		testkit.Run(t, o.World, o.owner, workflow.UpdateCalendar, workflow.UpdateCalendarInput{
			ByID: op.ByID{ID: c.ID}, Holidays: op.SetTo([]string{before.Format(time.DateOnly)}),
		})
		require.Eventually(t, func() bool { return o.get(s.ID).NextRunAt.After(before) }, patience, tick)
		testkit.Refused(t, o.World, o.owner, workflow.DeleteCalendar, op.ByID{ID: c.ID}, apperr.Conflict)
	})
}
