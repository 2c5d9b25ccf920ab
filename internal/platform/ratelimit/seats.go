package ratelimit

import (
	"context"
	"crypto/rand"
	_ "embed" // seat.lua
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed seat.lua
var seatSource string

// SeatLife is how long a seat is kept without renewal. The seats of a dead node are free after this time.
const SeatLife = 45 * time.Second

// Seats limits the number of long-lived things, such as streams, over all nodes of a Redis. A holder takes a seat in each of
// its places, renews it while it is open, and leaves. Expiry uses Redis's clock, because none of this depends on the product's
// clock.
type Seats struct {
	client redis.UniversalClient
	script *redis.Script
	node   string
	pause  pause
}

// NewSeats returns seats that are counted through client. The caller closes client.
func NewSeats(client redis.UniversalClient, log *slog.Logger) *Seats {
	return &Seats{client: client, script: redis.NewScript(seatSource), node: rand.Text(), pause: pause{log: log, what: "streams"}}
}

// Place is a group of seats with a maximum.
type Place struct {
	Name string
	Most int
}

// Take takes or renews the seat of a holder in every place, or in none. The number of a holder is unique on this node. The keys
// of all places contain group as hash tag, so that a cluster stores them together. Returns the index of the first full place,
// or -1. Returns -1 also while Redis does not answer; each node then counts alone.
func (s *Seats) Take(ctx context.Context, group string, holder uint64, places ...Place) (full int, err error) {
	keys, args := make([]string, len(places)), []any{s.member(holder), SeatLife.Milliseconds()}
	for i, p := range places {
		keys[i], args = seatKey(group, p.Name), append(args, p.Most)
	}
	full = -1
	if _, err := s.pause.ask(ctx, func(ctx context.Context) error {
		answer, err := s.script.Run(ctx, s.client, keys, args...).Int()
		if err != nil {
			return fmt.Errorf("take a seat in Redis: %w", err)
		}
		full = answer - 1
		return nil
	}); err != nil {
		return -1, err
	}
	return full, nil
}

// Leave frees the seats of a holder. While Redis does not answer, they expire by themselves.
func (s *Seats) Leave(ctx context.Context, group string, holder uint64, places ...Place) {
	_, _ = s.pause.ask(context.WithoutCancel(ctx), func(ctx context.Context) error { // pause logs that Redis is unreachable
		_, err := s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, p := range places {
				pipe.ZRem(ctx, seatKey(group, p.Name), s.member(holder))
			}
			return nil
		})
		return err
	})
}

func (s *Seats) member(holder uint64) string { return s.node + "/" + strconv.FormatUint(holder, 36) }

// seatKey returns the Redis key of a place, with the group as hash tag.
func seatKey(group, place string) string { return "atrium:seats:{g:" + group + "}:" + place }
