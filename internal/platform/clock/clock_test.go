package clock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/platform/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNowIsUTCInMilliseconds(t *testing.T) {
	t.Parallel()
	var c clock.Clock
	before := time.Now().Truncate(time.Millisecond)
	now := c.Now()
	require.False(t, now.Before(before))
	require.False(t, now.After(time.Now()))
	require.Equal(t, time.UTC, now.Location())
	require.Zero(t, now.Nanosecond()%int(time.Millisecond))
}

func TestOffsetMovesTheClock(t *testing.T) {
	t.Parallel()
	var c clock.Clock
	require.Zero(t, c.Offset())
	c.SetOffset(48 * time.Hour)
	require.Equal(t, 48*time.Hour, c.Offset())
	require.WithinDuration(t, time.Now().Add(48*time.Hour), c.Now(), time.Minute)
}

func TestContextCarriesTheClock(t *testing.T) {
	t.Parallel()
	c := &clock.Clock{}
	c.SetOffset(time.Hour)
	require.Same(t, c, clock.From(clock.With(t.Context(), c)))

	none := clock.From(t.Context())
	require.Zero(t, none.Offset(), "without a clock it is the machine's")
	require.WithinDuration(t, time.Now(), none.Now(), time.Minute)
}
