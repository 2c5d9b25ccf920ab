package store_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
)

// The cell reads what SQLite's driver writes, to the microsecond, and nothing else.
func TestMicros(t *testing.T) {
	t.Parallel()
	const driver = "2006-01-02 15:04:05.999999999-07:00"
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 10_000 {
		at := time.UnixMicro(random.Int64N(4e15)).UTC()
		if n%2 == 0 {
			at = at.Truncate([]time.Duration{time.Second, time.Millisecond, 10 * time.Microsecond}[n%3])
		}
		var m store.Micros
		require.NoError(t, m.Scan(at.Format(driver)))
		require.Equal(t, store.Micros{At: at.UnixMicro(), Valid: true}, m, at)
		require.NoError(t, m.ScanTimestamptz(pgtype.Timestamptz{Time: at, Valid: true}))
		require.Equal(t, at.UnixMicro(), m.At)
	}
	m := store.Micros{At: 1, Valid: true}
	require.NoError(t, m.Scan(nil))
	require.Zero(t, m)
	for _, bad := range []any{"", "2026-03-02", "2026-03-02T09:30:00+00:00", "2026-03-02 09:30:00", "2026-03-02 09:30:00+02:00", "2026-03-02 09:30:0x+00:00", "2026-03-02 09:30:00,5+00:00", 7, time.Now()} {
		require.Error(t, m.Scan(bad), bad)
		require.Zero(t, m, bad)
	}
}

// The bytes are those of the row; null is told from an empty text.
func TestBytes(t *testing.T) {
	t.Parallel()
	var b store.Bytes
	require.NoError(t, b.Scan("a"))
	require.Equal(t, "a", string(b))
	require.NoError(t, b.Scan(nil))
	require.Nil(t, b)
	require.NoError(t, b.Scan(""))
	require.NotNil(t, b)
	require.NoError(t, b.Scan([]byte("b")))
	require.NoError(t, b.ScanBytes([]byte("c")))
	require.Equal(t, "c", string(b))
	require.Error(t, b.Scan(1))
}
