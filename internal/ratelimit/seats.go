package ratelimit

import (
	"context"
	_ "embed" // seat.lua
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed seat.lua
var seatSource string

// SeatLife is how long a seat is kept that nobody renews: those of a node that died are free again after it.
const SeatLife = 45 * time.Second

// Seats counts what stays open for long, such as streams, over all nodes of a Redis: a holder takes a seat in each of its places,
// renews it while it is open, and leaves. By Redis's clock, as nothing here follows the product's.
type Seats struct {
	client redis.UniversalClient
	script *redis.Script
	node   string
	pause  pause
}

// NewSeats returns seats that are counted through client, which stays the caller's to close.
func NewSeats(client redis.UniversalClient, log *slog.Logger) *Seats {
	return &Seats{client: client, script: redis.NewScript(seatSource), node: NewRedis(client).node, pause: pause{log: log, what: "streams"}}
}

// Place is where seats are bounded.
type Place struct {
	Name string
	Most int
}

// Take takes the seat of a holder, whose number is its own on this node, in every place or in none, or renews it. All places begin
// with group, so that a cluster keeps them together. Returns the index of the first place that is full, or -1; -1 as well while
// Redis does not answer, when each node counts alone.
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

// Leave gives a holder's seats back. While Redis does not answer they lapse by themselves.
func (s *Seats) Leave(ctx context.Context, group string, holder uint64, places ...Place) {
	_, _ = s.pause.ask(context.WithoutCancel(ctx), func(ctx context.Context) error { // the log says that Redis is away
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

// seatKey is the name of a place's seats, with the group as hash tag.
func seatKey(group, place string) string { return "atrium:seats:{g:" + group + "}:" + place }
