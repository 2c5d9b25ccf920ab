package ratelimit

import (
	"context"
	"crypto/rand"
	_ "embed" // take.lua
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

//go:embed take.lua
var takeSource string

// How long Redis keeps its data, by its own clock: twice the minute, and one hour after the day. The slack allows for a node or
// a Redis whose clock is a little off.
const (
	logTTL   = 2 * time.Minute
	daySlack = time.Hour
)

// Redis counts in a Redis server (version 7 or later) or a cluster that several nodes share. Every call is one script, which
// decides and counts atomically. A key takes about 100 bytes for each call of its last minute and 100 for its day; both expire.
type Redis struct {
	client redis.UniversalClient
	script *redis.Script
	node   string        // random, so that members are unique among nodes and processes
	calls  atomic.Uint64 // number of calls; with node it makes the members
}

// NewRedis returns a Limiter that counts through client. The caller closes client. The client needs the option
// ContextTimeoutEnabled, which OpenRedis sets; otherwise Take may exceed its context by the client's own timeouts.
func NewRedis(client redis.UniversalClient) *Redis {
	return &Redis{client: client, script: redis.NewScript(takeSource), node: rand.Text()}
}

// OpenRedis returns a client for NewRedis from a redis://, rediss:// or unix:// URL, without connecting. The caller closes it.
// The error for an invalid URL does not contain the URL, which may contain a password. What the client says by itself, at each
// connection that fails, goes to log as debug messages, of all clients of the process.
func OpenRedis(rawURL string, log *slog.Logger) (*redis.Client, error) {
	opts, err := redis.ParseURL(rawURL)
	if err != nil {
		return nil, errors.New("the Redis URL is not valid: want redis://[user:password@]host:port[/database]")
	}
	opts.ContextTimeoutEnabled = true
	opts.DisableIdentity = true
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	redis.SetLogger(clientLog{log})
	return redis.NewClient(opts), nil
}

// clientLog is the client's logger, which is one for all clients.
type clientLog struct{ log *slog.Logger }

func (l clientLog) Printf(ctx context.Context, format string, v ...any) {
	l.log.DebugContext(ctx, "redis: "+fmt.Sprintf(format, v...))
}

// Take implements Limiter. It returns an error that wraps the client's when Redis does not answer before ctx ends, or answers
// with an error.
func (r *Redis) Take(ctx context.Context, key string, l Limit, now time.Time) (Result, error) {
	return r.TakeMany(ctx, key, l, now, 1)
}

// TakeMany implements Limiter.
func (r *Redis) TakeMany(ctx context.Context, key string, l Limit, now time.Time, n int) (Result, error) {
	given, err := instant(key, now, n)
	if err != nil {
		return Result{}, err
	}
	logKey, dayKey := redisKeys(key)
	member := r.node + strconv.FormatUint(r.calls.Add(1), 36)
	answer, err := r.script.Run(ctx, r.client, []string{logKey, dayKey},
		given, window, day, l.PerMinute, l.PerDay, member,
		logTTL.Milliseconds(), daySlack.Milliseconds(), n).Int64Slice()
	if err != nil {
		return Result{}, fmt.Errorf("count a call in Redis: %w", err)
	}
	if len(answer) != 6 {
		return Result{}, fmt.Errorf("count a call in Redis: the script answered %d numbers, not 6", len(answer))
	}
	read := counts{
		given: given, n: n, at: answer[1],
		minute: int(answer[2]), oldest: answer[3], blocking: answer[4],
		day: int(answer[5]),
	}
	return read.result(answer[0] == 1, l), nil
}

// redisKeys returns the names of a key's log and day. They share a hash tag, the text between the first { and the next }, so
// that a cluster stores both in one slot. "k:" keeps the tag from being empty for any key.
func redisKeys(key string) (log, day string) {
	tag := "atrium:ratelimit:{k:" + key + "}"
	return tag + ":minute", tag + ":day"
}
