package schedule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/schedulerun"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	"atrium/internal/workflow/schedule"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long tests wait for background work, and how often they look.
const (
	patience = time.Minute
	tick     = 10 * time.Millisecond
)

type body = map[string]any

// office is a world with a movable clock, in which one company has an offering and a published workflow.
type office struct {
	*testkit.World
	t        *testing.T
	owner    context.Context
	workflow *ent.Workflow
	offering *ent.Offering // with the field "system"
}

func open(t *testing.T, w *testkit.World) *office {
	t.Helper()
	o := &office{World: w, t: t, owner: w.As(w.A, principal.Owner)}
	raw, err := json.Marshal(body{
		"phases":      []body{{"id": "begin", "type": "START"}, {"id": "done", "type": "END"}},
		"transitions": []body{{"from": "begin", "name": "next", "to": "done"}},
	})
	require.NoError(t, err)
	o.workflow = testkit.Run(t, w, o.owner, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Check", Definition: workflow.NewDefinition(raw)})
	o.workflow = testkit.Run(t, w, o.owner, workflow.PublishWorkflow, op.ByID{ID: o.workflow.ID})
	s := testkit.Run(t, w, o.owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	asks := form.Definition{Fields: []form.Field{{Key: "system", Type: form.Text}}}
	o.offering = testkit.Run(t, w, o.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Check", Form: &asks})
	return o
}

// each runs the test on both databases.
func each(t *testing.T, test func(t *testing.T, o *office)) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { test(t, open(t, w)) })
}

// work makes a node run schedules until the test ends, or stop is called.
func (o *office) work() (stop func()) {
	o.t.Helper()
	return o.WorkJobs(o.t, schedule.Work(o.Engine))
}

// settled waits until no schedule is due.
func (o *office) settled() {
	o.t.Helper()
	require.Eventually(o.t, func() bool {
		all, err := o.Store.Reader().Schedule.Query().All(o.owner)
		require.NoError(o.t, err)
		for _, s := range all {
			if s.NextRunAt != nil && !s.NextRunAt.After(o.Clock.Now()) {
				return false
			}
		}
		return true
	}, patience, tick)
}

// minute is that of times half an hour away.
func (o *office) minute() int { return o.Clock.Now().Add(30 * time.Minute).UTC().Minute() }

// filing is a schedule that files a request every hour, next in half an hour.
func (o *office) filing() schedule.CreateInput {
	return schedule.CreateInput{
		Name: "Hourly", OfferingID: &o.offering.ID, Cron: new(fmt.Sprintf("%d * * * *", o.minute())), TimeZone: "Europe/Berlin",
		Request: &schedule.Template{Title: "Check it", Fields: body{"system": "mail"}, Priority: new("HIGH")},
	}
}

// starting is a schedule that starts the workflow every hour, next in half an hour.
func (o *office) starting() schedule.CreateInput {
	return schedule.CreateInput{Name: "Hourly", WorkflowID: &o.workflow.ID, Every: &schedule.Every{Unit: "HOUR", At: fmt.Sprintf("00:%02d", o.minute())}, TimeZone: "UTC"}
}

func (o *office) create(as context.Context, in schedule.CreateInput) *ent.Schedule {
	o.t.Helper()
	return testkit.Run(o.t, o.World, as, schedule.Create, in)
}

func (o *office) get(id string) *ent.Schedule {
	o.t.Helper()
	s, err := o.Store.Reader().Schedule.Get(o.owner, id)
	require.NoError(o.t, err)
	return s
}

// runs returns the runs of a schedule, the oldest planned time first.
func (o *office) runs(id string) []*ent.ScheduleRun {
	o.t.Helper()
	all, err := o.Store.Reader().ScheduleRun.Query().Where(schedulerun.ScheduleID(id)).Order(ent.Asc(schedulerun.FieldPlannedAt)).All(o.owner)
	require.NoError(o.t, err)
	return all
}

func (o *office) requests() []*ent.Request {
	o.t.Helper()
	all, err := o.Store.Reader().Request.Query().All(o.owner)
	require.NoError(o.t, err)
	return all
}
