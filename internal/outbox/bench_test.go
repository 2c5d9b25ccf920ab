package outbox_test

import (
	"context"
	"testing"

	"atrium/internal/events"
	"atrium/internal/outbox"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/testkit"
)

// BenchmarkEmit measures what an event costs a company without subscriptions, beside the event's row alone.
func BenchmarkEmit(b *testing.B) {
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		for what, write := range map[string]func(context.Context, *store.Tx, outbox.Event) error{
			"emit": outbox.Emit,
			"row alone": func(ctx context.Context, tx *store.Tx, e outbox.Event) error {
				_, err := outbox.Record(ctx, tx, e)
				return err
			},
		} {
			b.Run(name+"/"+what, func(b *testing.B) {
				w := world(b)
				ctx := w.As(w.A, principal.Owner)
				e := outbox.Event{CompanyID: w.A.Company.ID, Name: events.RequestCreated, SubjectID: "req_1", At: w.Clock.Now(), Data: events.Request{ID: "req_1"}}
				b.ResetTimer()
				for range b.N {
					if err := w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return write(ctx, tx, e) }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
