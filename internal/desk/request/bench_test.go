package request_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

// The cost of an operation without a door: rights, transaction, audit entry and event.
func BenchmarkOperations(b *testing.B) {
	w := testkit.SQLiteWorld(b)
	ctx := w.As(w.A, principal.Owner)
	s := testkit.Run(b, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	o := testkit.Run(b, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
	in := request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop", Fields: map[string]any{"model": "14 inch", "count": 2.0}}
	var id string
	for range 50 {
		id = testkit.Run(b, w, ctx, request.Create, in).ID
	}
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := op.Run(ctx, w.Engine, request.Get, op.ByID{ID: id}, op.Call{}.Checked())
			require.NoError(b, err)
		}
	})
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := op.Run(ctx, w.Engine, request.List, request.ListInput{Status: []string{"PENDING"}}, op.Call{}.Checked())
			require.NoError(b, err)
		}
	})
	b.Run("create", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := op.Run(ctx, w.Engine, request.Create, in, op.Call{}.Checked())
			require.NoError(b, err)
		}
	})
}

// The creates of a company while the service levels of another change again and again: 600 open requests, 20 escalations, and a calendar
// of one minute a week with a thousand exceptions. One is filed every 10 ms.
func BenchmarkBesideChangedServiceLevels(b *testing.B) {
	world := testkit.SQLiteWorld(b)
	ctx, other := world.As(world.A, principal.Owner), world.As(world.B, principal.Owner)
	week := workflow.WorkingHours{Mon: []workflow.WorkingTime{{From: "09:00", To: "09:01"}}}
	in := workflow.CreateCalendarInput{Name: "A minute a week", WorkingHours: &week}
	for i := range 1000 {
		in.Exceptions = append(in.Exceptions, workflow.Exception{Date: world.Clock.Now().AddDate(0, 0, 7*i).Format(time.DateOnly)})
	}
	c := testkit.Run(b, world, ctx, workflow.CreateCalendar, in)
	levels := catalog.SLA{ResponseMinutes: new(950), ResolutionMinutes: new(950), CalendarID: &c.ID}
	for i := range 20 {
		levels.Escalations = append(levels.Escalations, sla.Escalation{AfterMinutes: 900 + i, Of: []string{"response", "resolution"}[i%2], Do: sla.Notify})
	}
	offer := func(ctx context.Context, levels *catalog.SLA) request.CreateInput {
		s := testkit.Run(b, world, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		o := testkit.Run(b, world, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop", SLA: levels})
		return request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop"}
	}
	file, beside := offer(ctx, &levels), offer(other, nil)
	for range 600 {
		testkit.Run(b, world, ctx, request.Create, file)
	}
	world.WorkJobs(b, request.Clocks(world.Engine))
	measure := func(b *testing.B, change func(i int)) {
		var took []time.Duration
		for i := range b.N {
			change(i)
			for range 300 {
				began := time.Now()
				testkit.Run(b, world, other, request.Create, beside)
				took = append(took, time.Since(began))
				time.Sleep(max(0, 10*time.Millisecond-time.Since(began)))
			}
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
	}
	b.Run("alone", func(b *testing.B) { measure(b, func(int) {}) })
	b.Run("beside", func(b *testing.B) {
		measure(b, func(i int) {
			levels.ResolutionMinutes = new(951 + i%2)
			testkit.Run(b, world, ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: file.OfferingID}, SLA: op.SetTo(levels)})
		})
	})
}
