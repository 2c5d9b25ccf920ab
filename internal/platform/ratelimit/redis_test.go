package ratelimit_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/ratelimit"
	"atrium/internal/test/testkit"
)

func openRedis(t *testing.T, url string) *redis.Client {
	t.Helper()
	client, err := ratelimit.OpenRedis(url, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func TestRedisConforms(t *testing.T) {
	t.Parallel()
	conformance(t, func(t *testing.T) ratelimit.Limiter {
		return ratelimit.NewRedis(openRedis(t, testkit.Redis(t)))
	})
}

func TestRedisNodesShareCounts(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	nodes := []ratelimit.Limiter{ratelimit.NewRedis(openRedis(t, url)), ratelimit.NewRedis(openRedis(t, url))}
	limit := ratelimit.Limit{PerMinute: 300, PerDay: 10_000}
	require.Equal(t, 300, together(t, func(i int) (ratelimit.Result, error) {
		return nodes[i%2].Take(t.Context(), "k", limit, noon)
	}))
}

func TestRedisKeysExpireAndShareASlot(t *testing.T) {
	t.Parallel()
	client := openRedis(t, testkit.Redis(t))
	l := ratelimit.NewRedis(client)
	for _, key := range []string{"key_1", "}", "{"} {
		require.NoError(t, client.FlushAll(t.Context()).Err())
		require.False(t, take(t, l, key, ratelimit.Limit{}, noon).Allowed)
		require.Empty(t, client.Keys(t.Context(), "*").Val(), "a refused call leaves nothing behind")

		take(t, l, key, ratelimit.Free(), noon)
		names := client.Keys(t.Context(), "*").Val()
		require.Len(t, names, 2)
		require.NotEmpty(t, hashTag(names[0]))
		require.Equal(t, hashTag(names[0]), hashTag(names[1]))
		for _, name := range names {
			ttl := client.PTTL(t.Context(), name).Val()
			want := 2 * time.Minute
			if strings.HasSuffix(name, ":day") {
				want = 13 * time.Hour
			}
			require.InDelta(t, want.Seconds(), ttl.Seconds(), 30)
		}
	}
}

// hashTag returns the hash tag as Redis Cluster defines it: the text between the first { and the next }.
func hashTag(name string) string {
	_, rest, _ := strings.Cut(name, "{")
	tag, _, _ := strings.Cut(rest, "}")
	return tag
}

func TestRedisKeepsOnlyTheCallsOfTheMinute(t *testing.T) {
	t.Parallel()
	client := openRedis(t, testkit.Redis(t))
	l := ratelimit.NewRedis(client)
	limit := ratelimit.Limit{PerMinute: 10, PerDay: 1_000}
	for i := range 100 {
		take(t, l, "k", limit, noon.Add(time.Duration(i)*3*time.Second))
	}
	log := client.Keys(t.Context(), "*:minute").Val()[0]
	require.LessOrEqual(t, client.ZCard(t.Context(), log).Val(), int64(10))
}

// The client repeats a script when the answer is lost. The call must neither be counted twice nor be refused because of itself.
func TestRedisCountsARepeatedScriptOnce(t *testing.T) {
	t.Parallel()
	client := openRedis(t, testkit.Redis(t))
	client.AddHook(&repeater{})
	l := ratelimit.NewRedis(client)
	limit := ratelimit.Limit{PerMinute: 2, PerDay: 100}
	for want := 99; want >= 98; want-- {
		res := take(t, l, "k", limit, noon)
		require.True(t, res.Allowed)
		require.Equal(t, want, res.DayRemaining)
	}
	require.False(t, take(t, l, "k", limit, noon).Allowed)
}

// repeater runs every command twice, as after a lost answer.
type repeater struct{}

func (*repeater) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*repeater) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := next(ctx, cmd); err != nil {
			return err
		}
		return next(ctx, cmd)
	}
}

func (*repeater) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestRedisKeepsToTheLaterTimeWhenAClockWasSetBack(t *testing.T) {
	t.Parallel()
	client := openRedis(t, testkit.Redis(t))
	l := ratelimit.NewRedis(client)
	limit := ratelimit.Limit{PerMinute: 1, PerDay: 100}
	require.True(t, take(t, l, "k", limit, noon.Add(30*24*time.Hour)).Allowed)
	res := take(t, l, "k", limit, noon)
	require.False(t, res.Allowed)
	require.Equal(t, 2*time.Minute, res.RetryAfter, "by then the log has expired")

	log := client.Keys(t.Context(), "*:minute").Val()[0]
	require.NoError(t, client.Del(t.Context(), log).Err())
	require.Equal(t, 99, take(t, l, "k", limit, noon).DayRemaining)
}

func TestRedisSurvivesALostScriptCache(t *testing.T) {
	t.Parallel()
	client := openRedis(t, testkit.Redis(t))
	l := ratelimit.NewRedis(client)
	take(t, l, "k", ratelimit.Free(), noon)
	require.NoError(t, client.ScriptFlush(t.Context()).Err())
	require.Equal(t, 58, take(t, l, "k", ratelimit.Free(), noon).MinuteRemaining)
}

func TestRedisErrorsAreWrapped(t *testing.T) {
	t.Parallel()
	client := openRedis(t, testkit.Redis(t))
	l := ratelimit.NewRedis(client)
	take(t, l, "k", ratelimit.Free(), noon)
	log := client.Keys(t.Context(), "*:minute").Val()[0]
	require.NoError(t, client.Set(t.Context(), log, "not a log", 0).Err())
	_, err := l.Take(t.Context(), "k", ratelimit.Free(), noon)
	require.ErrorContains(t, err, "count a call in Redis: ")
	require.ErrorContains(t, err, "WRONGTYPE")
	require.True(t, redis.HasErrorPrefix(err, "WRONGTYPE"))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.Take(ctx, "other", ratelimit.Free(), noon)
	require.ErrorIs(t, err, context.Canceled)
}

// silent returns the URL of a server that accepts connections and never answers. Only a context ends the wait.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				<-done
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		close(done)
		wg.Wait()
	})
	return "redis://" + listener.Addr().String() + "?read_timeout=1h&dial_timeout=1h&max_retries=-1"
}

func TestRedisReturnsWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	l := ratelimit.NewRedis(openRedis(t, silent(t)))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := l.Take(ctx, "k", ratelimit.Free(), noon)
	require.Error(t, err)
}

func TestOpenRedisDoesNotRepeatABadURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://:hunter2@host", "redis://:hunter2@host:port", "redis://:hunter2%zz@host"} {
		_, err := ratelimit.OpenRedis(url, slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, "the Redis URL is not valid")
		require.NotContains(t, err.Error(), "hunter2")
	}
}
