package ratelimit_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/ratelimit"
	"atrium/internal/test/testkit"
)

// Holders on two nodes share the seats of a place. A seat becomes free when its holder leaves, and when its node dies.
func TestSeatsAreSharedByNodes(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	client := openRedis(t, url)
	nodes := [2]*ratelimit.Seats{}
	for i := range nodes {
		nodes[i] = ratelimit.NewSeats(openRedis(t, url), slog.New(slog.DiscardHandler))
	}
	person, other, company := ratelimit.Place{Name: "ann", Most: 2}, ratelimit.Place{Name: "bob", Most: 2}, ratelimit.Place{Name: "all", Most: 3}
	enter := func(node int, holder uint64, places ...ratelimit.Place) int {
		full, err := nodes[node].Take(t.Context(), "co_1", holder, places...)
		require.NoError(t, err)
		return full
	}
	require.Equal(t, -1, enter(0, 1, person, company))
	require.Equal(t, -1, enter(1, 1, person, company), "another node's holder of the same number is another")
	require.Equal(t, 0, enter(0, 2, person, company))
	require.Equal(t, -1, enter(0, 1, person, company), "who sits already stays")
	require.Equal(t, -1, enter(0, 3, other, company))
	require.Equal(t, 1, enter(1, 4, other, company))
	require.EqualValues(t, 1, client.ZCard(t.Context(), "atrium:seats:{g:co_1}:bob").Val(), "a holder who finds one place full takes none")

	nodes[0].Leave(t.Context(), "co_1", 3, other, company)
	require.Equal(t, -1, enter(1, 4, other, company))

	for _, key := range client.Keys(t.Context(), "*").Val() {
		require.InDelta(t, ratelimit.SeatLife.Seconds(), client.PTTL(t.Context(), key).Val().Seconds(), 10)
	}
	lapsed := float64(time.Now().Add(-time.Second).UnixMilli())
	members := client.ZRange(t.Context(), "atrium:seats:{g:co_1}:ann", 0, -1).Val()
	require.Len(t, members, 2)
	for _, key := range []string{"ann", "all"} { // as if the seats had not been renewed
		require.NoError(t, client.ZAddXX(t.Context(), "atrium:seats:{g:co_1}:"+key, redis.Z{Score: lapsed, Member: members[0]}).Err())
	}
	require.Equal(t, -1, enter(0, 9, person, company))
}

// While Redis does not answer, everybody gets a seat at once.
func TestSeatsWithoutRedis(t *testing.T) {
	t.Parallel()
	seats := ratelimit.NewSeats(openRedis(t, silent(t)), slog.New(slog.DiscardHandler))
	for holder := range uint64(100) {
		full, err := seats.Take(t.Context(), "co_1", holder, ratelimit.Place{Name: "ann", Most: 1})
		require.NoError(t, err)
		require.Equal(t, -1, full)
		seats.Leave(t.Context(), "co_1", holder, ratelimit.Place{Name: "ann", Most: 1})
	}
}
