package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// BenchmarkEdges measures a list of 20 requests with three edges each, through the API.
func BenchmarkEdges(b *testing.B) {
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		b.Run(name, func(b *testing.B) {
			s := apitest.Serve(b, world(b), door)
			h := opened(b, s)
			for range 20 {
				h.filed(b, s, principal.Owner, "A laptop")
			}
			for name, query := range map[string]string{
				"rows":  `{ requests(first: 20) { totalCount edges { node { id title status priority createdBy createdAt } } } }`,
				"edges": `{ requests(first: 20) { totalCount edges { node { id title status priority createdAt service { id name } offering { id name } creator { id name } } } } }`,
			} {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						require.False(b, ask(b, s, s.A.OwnerKey, query, nil).Has("errors"))
					}
				})
			}
		})
	}
}
