package schedule_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/company"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	"atrium/internal/workflow/schedule"
)

// A change of the times computes the next one anew; another change leaves it, also when it is due.
func TestUpdate(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		change := func(id string, in schedule.UpdateInput) {
			t.Helper()
			in.ByID = op.ByID{ID: id}
			testkit.Run(t, o.World, o.owner, schedule.Update, in)
		}
		s := o.create(o.owner, o.filing())
		first := *s.NextRunAt
		o.Clock.SetOffset(2 * time.Hour)
		change(s.ID, schedule.UpdateInput{Name: op.SetTo("Another"), Cron: op.SetTo(*s.Cron)})
		require.True(t, first.Equal(*o.get(s.ID).NextRunAt), "it is due")
		change(s.ID, schedule.UpdateInput{Every: op.SetTo(schedule.Every{Unit: "HOUR", At: "00:30"})})
		require.Nil(t, o.get(s.ID).Cron)
		require.True(t, o.get(s.ID).NextRunAt.After(o.Clock.Now()))
		change(s.ID, schedule.UpdateInput{WorkflowID: op.SetTo(o.workflow.ID), Cron: op.SetTo("5 * * * *")})
		after := o.get(s.ID)
		require.Equal(t, []any{true, true, true}, []any{after.OfferingID == nil, after.Request == nil, after.Every == nil})
		change(s.ID, schedule.UpdateInput{Enabled: op.SetTo(false)})
		require.Nil(t, o.get(s.ID).NextRunAt)
		change(s.ID, schedule.UpdateInput{Enabled: op.SetTo(true)})
		require.Equal(t, 5, o.get(s.ID).NextRunAt.Minute())

		err := testkit.Refused(t, o.World, o.owner, schedule.Update, schedule.UpdateInput{ByID: op.ByID{ID: s.ID}, Cron: op.Clear[string](), TimeZone: op.SetTo("Local")}, apperr.Validation)
		require.ElementsMatch(t, []string{"cron", "timeZone"}, fields(err))
		testkit.Refused(t, o.World, o.owner, workflow.DeleteWorkflow, op.ByID{ID: o.workflow.ID}, apperr.Conflict)
		change(s.ID, schedule.UpdateInput{OfferingID: op.SetTo(o.offering.ID), Request: op.SetTo(schedule.Template{Title: "Check"})})
		testkit.Refused(t, o.World, o.owner, catalog.DeleteOffering, op.ByID{ID: o.offering.ID}, apperr.Conflict)
		testkit.Refused(t, o.World, o.owner, catalog.DeleteService, op.ByID{ID: o.offering.ServiceID}, apperr.Conflict)
		testkit.Run(t, o.World, o.owner, schedule.Delete, op.ByID{ID: s.ID})
		require.Empty(t, testkit.Run(t, o.World, o.owner, schedule.List, schedule.ListInput{}).Rows)
	})
}

func fields(err error) (out []string) {
	for _, d := range apperr.From(err).Details {
		out = append(out, d.Field)
	}
	return out
}

// What is wrong with a schedule, by field, and who may not make one.
func TestRefused(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		theirs := testkit.Run(t, o.World, o.As(o.B, principal.Owner), workflow.CreateCalendar, workflow.CreateCalendarInput{Name: "Theirs"}).ID
		closed := testkit.Run(t, o.World, o.owner, workflow.CreateCalendar, workflow.CreateCalendarInput{
			Name: "2020", WorkingHours: &workflow.WorkingHours{}, Exceptions: []workflow.Exception{{Date: "2020-01-02", Hours: []workflow.WorkingTime{{From: "09:00", To: "10:00"}}}},
		}).ID
		nobody := o.B.Users[principal.Member].ID
		for name, c := range map[string]struct {
			change func(*schedule.CreateInput)
			fields []string
		}{
			"nothing to do":        {func(in *schedule.CreateInput) { in.OfferingID, in.Request = nil, nil }, []string{"workflowId"}},
			"two things to do":     {func(in *schedule.CreateInput) { in.WorkflowID = &o.workflow.ID }, []string{"workflowId"}},
			"no request":           {func(in *schedule.CreateInput) { in.Request = nil }, []string{"request"}},
			"a request too much":   {func(in *schedule.CreateInput) { in.WorkflowID, in.OfferingID = &o.workflow.ID, nil }, []string{"request"}},
			"no such answer":       {func(in *schedule.CreateInput) { in.Request.Fields = body{"colour": "red"} }, []string{"request.fields.colour"}},
			"an empty title":       {func(in *schedule.CreateInput) { in.Request.Title = " " }, []string{"request.title"}},
			"somebody elsewhere":   {func(in *schedule.CreateInput) { in.Request.RequesterID = &nobody }, []string{"request.requesterId"}},
			"a calendar elsewhere": {func(in *schedule.CreateInput) { in.CalendarID = &theirs }, []string{"calendarId"}},
			"a closed calendar":    {func(in *schedule.CreateInput) { in.CalendarID = &closed }, []string{"calendarId"}},
			"never":                {func(in *schedule.CreateInput) { in.Cron = new("0 0 31 2 *") }, []string{"cron"}},
			"too often":            {func(in *schedule.CreateInput) { in.Cron = new("*/2 * * * *") }, []string{"cron"}},
			"no zone":              {func(in *schedule.CreateInput) { in.TimeZone = "Mars/Base" }, []string{"timeZone"}},
			"both":                 {func(in *schedule.CreateInput) { in.Every = &schedule.Every{Unit: "DAY", At: "09:00"} }, []string{"cron"}},
			"no time of day":       {func(in *schedule.CreateInput) { in.Cron, in.Every = nil, &schedule.Every{Unit: "DAY", At: "25:00"} }, []string{"every.at"}},
			"no weekdays":          {func(in *schedule.CreateInput) { in.Cron, in.Every = nil, &schedule.Every{Unit: "WEEK", At: "09:00"} }, []string{"every.weekdays"}},
		} {
			in := o.filing()
			c.change(&in)
			require.ElementsMatch(t, c.fields, fields(testkit.Refused(t, o.World, o.owner, schedule.Create, in, apperr.Validation)), name)
		}
		hidden := testkit.Run(t, o.World, o.owner, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Offering"})
		in := o.filing()
		in.Request.Fields = body{"colour": "red"}
		require.Equal(t, []string{"offeringId"}, fields(testkit.Refused(t, o.World, o.owner, schedule.Create, in, apperr.Validation)), "nor what the form of a hidden offering asks")
		testkit.Run(t, o.World, o.owner, policy.Delete, op.ByID{ID: hidden.ID})
		testkit.Refused(t, o.World, o.As(o.A, principal.Agent), schedule.Create, o.filing(), apperr.Forbidden)
		testkit.Refused(t, o.World, o.As(o.B, principal.Owner), schedule.Create, o.filing(), apperr.Validation)

		s := o.create(o.owner, o.filing())
		them := o.As(o.B, principal.Owner)
		testkit.Refused(t, o.World, them, schedule.Run, schedule.RunInput{ByID: op.ByID{ID: s.ID}}, apperr.NotFound)
		testkit.Refused(t, o.World, them, schedule.ListRuns, schedule.ListRunsInput{ByID: op.ByID{ID: s.ID}}, apperr.NotFound)
	})
}

// A plan has room for so many schedules.
func TestRoom(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		require.NoError(t, o.Store.Write(principal.System(t.Context(), "test fixture"), func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.UpdateOneID(o.A.Company.ID).SetPlan(company.PlanFree).Exec(ctx)
		}))
		for range 5 {
			o.create(o.owner, o.filing())
		}
		testkit.Refused(t, o.World, o.owner, schedule.Create, o.filing(), apperr.Conflict)
	})
}

// The next ten times, as they would be.
func TestTimes(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		in := schedule.TimesInput{Every: &schedule.Every{Unit: "WEEK", At: "09:00", Weekdays: []string{"mon"}}, TimeZone: "Europe/Berlin"}
		list := testkit.Run(t, o.World, o.owner, schedule.Times, in)
		require.Len(t, list, 10)
		for _, at := range list {
			require.Equal(t, time.Monday, at.Weekday())
			require.Contains(t, []int{7, 8}, at.Hour())
		}
		in.Every, in.Cron = nil, new("@daily")
		require.Equal(t, []string{"cron"}, fields(testkit.Refused(t, o.World, o.owner, schedule.Times, in, apperr.Validation)))
	})
}
