package request_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
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
