package workflow_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

func TestCalendars(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		plain := testkit.Run(t, w, ctx, workflow.CreateCalendar, workflow.CreateCalendarInput{Name: "Always"})
		require.Equal(t, "UTC", plain.TimeZone)
		hours, err := workflow.HoursOf(plain)
		require.NoError(t, err)
		require.Nil(t, hours)

		zone := "Europe/Berlin"
		week := &workflow.WorkingHours{Mon: []workflow.WorkingTime{{From: "09:00", To: "17:30"}}, Fri: []workflow.WorkingTime{{From: "00:00", To: "24:00"}}}
		office := testkit.Run(t, w, ctx, workflow.CreateCalendar, workflow.CreateCalendarInput{
			Name: "Office", TimeZone: &zone, Holidays: []string{"2026-12-25"},
			WorkingHours: week, Exceptions: []workflow.Exception{{Date: "2026-12-24", Hours: []workflow.WorkingTime{{From: "09:00", To: "12:00"}}}, {Date: "2026-12-31"}},
		})
		read := testkit.Run(t, w, ctx, workflow.GetCalendar, op.ByID{ID: office.ID})
		require.Equal(t, []string{"2026-12-25"}, read.Holidays)
		hours, err = workflow.HoursOf(read)
		require.NoError(t, err)
		require.Equal(t, week, hours)
		exceptions, err := workflow.ExceptionsOf(read)
		require.NoError(t, err)
		require.Len(t, exceptions, 2)
		c, err := workflow.CompileCalendar(read)
		require.NoError(t, err)
		eve := time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)
		require.Equal(t, 3*time.Hour, c.Between(eve, eve.Add(24*time.Hour)), "a Thursday, which has no other hours")
		require.Equal(t, 2, testkit.Run(t, w, ctx, workflow.ListCalendars, workflow.ListCalendarsInput{}).Total)

		for name, c := range map[string]struct {
			in    workflow.CreateCalendarInput
			field string
		}{
			"no zone":            {workflow.CreateCalendarInput{Name: "x", TimeZone: new("Mars/Olympus")}, "timeZone"},
			"this machine's own": {workflow.CreateCalendarInput{Name: "x", TimeZone: new("Local")}, "timeZone"},
			"a path":             {workflow.CreateCalendarInput{Name: "x", TimeZone: new("../../etc/passwd")}, "timeZone"},
			"an empty zone":      {workflow.CreateCalendarInput{Name: "x", TimeZone: new("")}, "timeZone"},
			"no time":            {workflow.CreateCalendarInput{Name: "x", WorkingHours: &workflow.WorkingHours{Mon: []workflow.WorkingTime{{From: "24:00", To: "24:00"}}}}, "workingHours.mon[0].from"},
			"an end before":      {workflow.CreateCalendarInput{Name: "x", WorkingHours: &workflow.WorkingHours{Sun: []workflow.WorkingTime{{From: "10:00", To: "09:59"}}}}, "workingHours.sun[0].to"},
			"an exception twice": {workflow.CreateCalendarInput{Name: "x", Exceptions: []workflow.Exception{{Date: "2026-12-24"}, {Date: "2026-12-24"}}}, "exceptions[1].date"},
			"no holiday":         {workflow.CreateCalendarInput{Name: "x", Holidays: []string{"2026-12-24", "Christmas"}}, "holidays[1]"},
			"a holiday twice":    {workflow.CreateCalendarInput{Name: "x", Holidays: []string{"2026-12-24", "2026-12-24"}}, "holidays"},
			"no name":            {workflow.CreateCalendarInput{}, "name"},
			"no hours at all":    {workflow.CreateCalendarInput{Name: "x", WorkingHours: &workflow.WorkingHours{Mon: []workflow.WorkingTime{}}, Exceptions: []workflow.Exception{{Date: "2026-12-24"}}}, "workingHours"},
		} {
			err := run(ctx, w, workflow.CreateCalendar, c.in)
			require.Equal(t, apperr.Validation, apperr.CodeOf(err), name)
			require.Equal(t, c.field, apperr.From(err).Details[0].Field, name)
		}
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(run(w.As(w.A, principal.Agent), w, workflow.CreateCalendar, workflow.CreateCalendarInput{Name: "x"})))
		require.Equal(t, apperr.NotFound, apperr.CodeOf(run(w.As(w.B, principal.Owner), w, workflow.GetCalendar, op.ByID{ID: office.ID})))
	})
}

// Empty working hours are none: only exceptions have hours then. Only absent ones mean all hours.
func TestEmptyWorkingHoursAreNone(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		day := workflow.Exception{Date: "2026-12-24", Hours: []workflow.WorkingTime{{From: "09:00", To: "11:00"}}}
		made := testkit.Run(t, w, ctx, workflow.CreateCalendar, workflow.CreateCalendarInput{
			Name: "Only that day", WorkingHours: &workflow.WorkingHours{Mon: []workflow.WorkingTime{}}, Exceptions: []workflow.Exception{day},
		})
		week, err := workflow.HoursOf(made)
		require.NoError(t, err)
		require.Equal(t, &workflow.WorkingHours{}, week, "it reads back as it was given, not as all hours")
		c, err := workflow.CompileCalendar(made)
		require.NoError(t, err)
		december := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		require.Equal(t, 2*time.Hour, c.Between(december, december.AddDate(0, 1, 0)))

		err = run(ctx, w, workflow.UpdateCalendar, workflow.UpdateCalendarInput{ByID: op.ByID{ID: made.ID}, Exceptions: op.SetTo([]workflow.Exception{})})
		require.Equal(t, apperr.Validation, apperr.CodeOf(err))
		require.Equal(t, "exceptions", apperr.From(err).Details[0].Field, "nothing at all would be left")
		all := testkit.Run(t, w, ctx, workflow.UpdateCalendar, workflow.UpdateCalendarInput{ByID: op.ByID{ID: made.ID}, WorkingHours: op.Clear[workflow.WorkingHours]()})
		week, err = workflow.HoursOf(all)
		require.NoError(t, err)
		require.Nil(t, week)
	})
}

// A calendar must leave time for the service levels and timers of published workflows, and a workflow is saved and published with those that
// its calendar leaves time for.
func TestACalendarLeavesTimeForWorkflows(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		hours := func(from, to string) op.Patch[workflow.WorkingHours] {
			return op.SetTo(workflow.WorkingHours{Mon: []workflow.WorkingTime{{From: from, To: to}}})
		}
		for name, phase := range map[string]string{
			"service levels": `{"id": "p", "type": "PROCESS", "sla": {"responseMinutes": 1, "resolutionMinutes": 2000, "calendarId": %q}}`,
			"a timer":        `{"id": "p", "type": "TIMER", "config": {"duration": "33h20m", "calendarId": %q}}`,
		} {
			week := hours("09:00", "10:00").Value()
			c := testkit.Run(t, w, ctx, workflow.CreateCalendar, workflow.CreateCalendarInput{Name: name, WorkingHours: week})
			update := func(to op.Patch[workflow.WorkingHours]) error {
				return run(ctx, w, workflow.UpdateCalendar, workflow.UpdateCalendarInput{ByID: op.ByID{ID: c.ID}, WorkingHours: to})
			}
			flow := create(t, w, w.A, name)
			draft := workflow.NewDefinition(fmt.Appendf(nil, `{"phases": [{"id": "s", "type": "START"}, `+phase+`, {"id": "e", "type": "END"}],
				"transitions": [{"from": "s", "name": "next", "to": "p"}, {"from": "p", "name": "next", "to": "e"}]}`, c.ID))
			save := workflow.UpdateWorkflowInput{ByID: op.ByID{ID: flow.ID}, Definition: op.SetTo(draft)}
			testkit.Run(t, w, ctx, workflow.UpdateWorkflow, save)
			require.NoError(t, update(hours("09:00", "09:01")), "%s: nothing published counts by it", name)
			publish := run(ctx, w, workflow.PublishWorkflow, op.ByID{ID: flow.ID})
			require.Equal(t, apperr.Validation, apperr.CodeOf(publish), name)
			require.Contains(t, apperr.From(publish).Details[0].Message, "2000 minutes of it do not pass within twenty years", name)

			require.NoError(t, update(hours("09:00", "10:00")))
			testkit.Run(t, w, ctx, workflow.PublishWorkflow, op.ByID{ID: flow.ID})
			refused := update(hours("09:00", "09:01"))
			require.Equal(t, apperr.Validation, apperr.CodeOf(refused), name)
			require.Equal(t, "workingHours", apperr.From(refused).Details[0].Field)
			require.Contains(t, apperr.From(refused).Details[0].Message, fmt.Sprintf("the 2000 minutes of the published workflow %q (%s) would not pass", name, flow.ID))
			hidden := testkit.Run(t, w, ctx, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Workflow"})
			require.Contains(t, apperr.From(update(hours("09:00", "09:01"))).Details[0].Message, "the 2000 minutes of a published workflow would not pass")
			testkit.Run(t, w, ctx, policy.Delete, op.ByID{ID: hidden.ID})
			require.NoError(t, update(hours("09:00", "09:02")))
			require.NoError(t, run(ctx, w, workflow.UpdateCalendar, workflow.UpdateCalendarInput{ByID: op.ByID{ID: c.ID}, Name: op.SetTo("Another name")}))
		}
	})
}

// A calendar must leave time for the largest target of what counts by it, or it would never be due.
func TestACalendarLeavesTimeForItsTargets(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		minute := workflow.WorkingHours{Mon: []workflow.WorkingTime{{From: "09:00", To: "09:01"}}}
		c := testkit.Run(t, w, ctx, workflow.CreateCalendar, workflow.CreateCalendarInput{Name: "A minute a week", WorkingHours: &minute})
		s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		offer := func(levels catalog.SLA) catalog.CreateOfferingInput {
			levels.CalendarID = &c.ID
			return catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop", SLA: &levels}
		}
		refused := func(field, message string, err error) {
			t.Helper()
			require.Equal(t, apperr.Validation, apperr.CodeOf(err))
			require.Equal(t, field, apperr.From(err).Details[0].Field)
			require.Contains(t, apperr.From(err).Details[0].Message, message)
		}
		late := []sla.Escalation{{AfterMinutes: 525600, Of: "response", Do: sla.Raise}}
		for _, levels := range []catalog.SLA{
			{ResponseMinutes: new(525600)}, {ResolutionMinutes: new(1100)}, {ResponseMinutes: new(1), Escalations: late},
			{ResolutionMinutes: new(1), ByPriority: &sla.ByPriority{LOW: &sla.Targets{ResolutionMinutes: new(2000)}}},
		} {
			refused("sla.calendarId", "minutes of it do not pass within twenty years", run(ctx, w, catalog.CreateOffering, offer(levels)))
		}
		o := testkit.Run(t, w, ctx, catalog.CreateOffering, offer(catalog.SLA{ResolutionMinutes: new(1000)}))
		more := catalog.SLA{CalendarID: &c.ID, ResolutionMinutes: new(1000), Escalations: late}
		refused("sla.calendarId", "525600 minutes", run(ctx, w, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, SLA: op.SetTo(more)}))

		day := []workflow.Exception{{Date: w.Clock.Now().AddDate(0, 0, 2).Format(time.DateOnly), Hours: []workflow.WorkingTime{{From: "09:00", To: "18:00"}}}}
		only := workflow.UpdateCalendarInput{ByID: op.ByID{ID: c.ID}, WorkingHours: op.SetTo(workflow.WorkingHours{}), Exceptions: op.SetTo(day)}
		refused("workingHours", "the 1000 minutes of the offering \"Laptop\"", run(ctx, w, workflow.UpdateCalendar, only))
		hidden := testkit.Run(t, w, ctx, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Offering"})
		refused("workingHours", "the 1000 minutes of an offering would not", run(ctx, w, workflow.UpdateCalendar, only))
		testkit.Run(t, w, ctx, policy.Delete, op.ByID{ID: hidden.ID})
		testkit.Run(t, w, ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, SLA: op.SetTo(catalog.SLA{CalendarID: &c.ID, ResolutionMinutes: new(540)})})
		testkit.Run(t, w, ctx, workflow.UpdateCalendar, only)
	})
}
