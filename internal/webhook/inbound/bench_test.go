package inbound_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/test/testkit"
)

// BenchmarkTake measures a call up to its 202, and for comparison the creation of a request, both with sixteen concurrent
// callers.
func BenchmarkTake(b *testing.B) {
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		b.Run(name, func(b *testing.B) {
			h := open(b, world(b))
			plain := testkit.Run(b, h.World, h.ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: h.service.ID}, Name: "Plain"})
			b.Run("call", func(b *testing.B) {
				b.SetParallelism(8)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, err := h.door.Take(context.Background(), h.signed(`{"host":"db-1","load":12.5}`)); err != nil {
							b.Error(err)
						}
					}
				})
			})
			b.Run("call under a key", func(b *testing.B) {
				n := 0
				for b.Loop() {
					c := h.signed(`{"host":"db-1","load":12.5}`)
					c.Header.Set("webhook-id", fmt.Sprint(n))
					n++
					_, err := h.door.Take(context.Background(), c)
					require.NoError(b, err)
				}
			})
			b.Run("request", func(b *testing.B) {
				in := request.CreateInput{ServiceID: h.service.ID, OfferingID: plain.ID, Title: "Load", Fields: body{"host": "db-1", "load": 12.5}}
				b.SetParallelism(8)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, _, err := op.Run(h.ctx, h.Engine, request.Create, in, nil); err != nil {
							b.Error(err)
						}
					}
				})
			})
		})
	}
}
