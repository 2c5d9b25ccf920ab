package testkit_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit"
)

func TestRedisIsPrivateAndEndsWithTheTest(t *testing.T) {
	var options *redis.Options
	t.Run("while the test runs", func(t *testing.T) {
		first, err := redis.ParseURL(testkit.Redis(t))
		require.NoError(t, err)
		second, err := redis.ParseURL(testkit.Redis(t))
		require.NoError(t, err)
		require.NotEqual(t, first.Addr, second.Addr)

		a, b := redis.NewClient(first), redis.NewClient(second)
		t.Cleanup(func() { require.NoError(t, a.Close()); require.NoError(t, b.Close()) })
		require.NoError(t, a.Set(t.Context(), "x", "1", 0).Err())
		require.ErrorIs(t, b.Get(t.Context(), "x").Err(), redis.Nil)
		saving, err := a.ConfigGet(t.Context(), "save").Result()
		require.NoError(t, err)
		require.Equal(t, map[string]string{"save": ""}, saving)
		options = first
	})

	options.MaxRetries, options.DialerRetries = -1, 1
	gone := redis.NewClient(options)
	t.Cleanup(func() { require.NoError(t, gone.Close()) })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	require.Error(t, gone.Ping(ctx).Err())
}

func TestRedisFailsWhenTheServerIsNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	spy := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		testkit.Redis(spy)
	}()
	<-done
	require.Contains(t, spy.message, "needs the program redis-server, which is not on PATH")
}

// failing records the message of Fatal instead of failing the test.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Fatal(args ...any) {
	f.message = fmt.Sprint(args...)
	runtime.Goexit()
}
