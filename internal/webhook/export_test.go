package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"atrium/internal/principal"
	"atrium/internal/store"
)

// After is schedule.after for a schedule.
func After(retries []time.Duration, step int, asked time.Duration) (time.Duration, bool) {
	return schedule(retries).after(step, asked)
}

// RetryAfter is retryAfter of a header's value.
func RetryAfter(value string, now time.Time) time.Duration {
	return retryAfter(http.Header{"Retry-After": {value}}, now)
}

// Kept is kept.
func Kept(body []byte, secrets ...Secret) string { return kept(body, secrets) }

// Lanes are lanes.
type Lanes struct{ *lanes }

// NewLanes returns lanes.
func NewLanes() Lanes { return Lanes{newLanes()} }

// Enter is lanes.enter.
func (l Lanes) Enter(ctx context.Context, subscription string) (time.Duration, bool) {
	return l.enter(ctx, subscription, time.Now())
}

// EnterAt is Enter at a moment.
func (l Lanes) EnterAt(ctx context.Context, subscription string, now time.Time) (time.Duration, bool) {
	return l.enter(ctx, subscription, now)
}

// Leave is lanes.leave.
func (l Lanes) Leave(subscription string, held, called time.Duration) {
	l.leave(subscription, held, called)
}

// Waiting returns how many wait for a place.
func (l Lanes) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queued
}

// Known returns how many lanes are remembered.
func (l Lanes) Known() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byID)
}

// The bounds of lanes.
const (
	LaneWidth    = laneWidth
	FirstWidth   = firstWidth
	Brisk        = brisk
	Slots        = slots
	MaxPark      = maxPark
	MinPark      = minPark
	MaxIdleLanes = maxIdleLanes
)

// Batcher is a batcher of numbers.
type Batcher struct{ *batcher[int, int] }

// NewBatcher returns a batcher.
func NewBatcher(most int, do func(context.Context, []int) ([]int, error)) Batcher {
	return Batcher{&batcher[int, int]{most: most, do: do}}
}

// Call is batcher.call.
func (b Batcher) Call(in int) (int, error) { return b.call(in) }

// ReplayBatch is replayBatch.
const ReplayBatch = replayBatch

// Pending returns how many wait for the next batch.
func (b Batcher) Pending() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending)
}

// Tend is weeks.tend by the system, with a machine's time and the moment before which deliveries are old.
func Tend(s *store.Store, log *slog.Logger, now, before time.Time) error {
	return weeks{s, log}.tend(principal.System(context.Background(), "test"), now, before)
}

// SweepDeliveries deletes one batch of deliveries that were settled before a moment, and returns how many there were.
func SweepDeliveries(s *store.Store, before time.Time) (n int, err error) {
	err = s.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) (err error) {
		n, err = (&sweeper{store: s}).oldDeliveries(ctx, tx, before)
		return err
	})
	return n, err
}

// SweepEvents deletes one batch of a company's events that happened before a moment.
func SweepEvents(s *store.Store, company string, before time.Time) (n int, err error) {
	err = s.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) (err error) {
		n, err = (&sweeper{store: s}).oldEvents(ctx, tx, company, before)
		return err
	})
	return n, err
}

// Monday is monday.
func Monday(t time.Time) time.Time { return monday(t) }

// How weeks are made and how long they are kept.
const (
	Week     = week
	KeptFor  = keptFor
	LockWait = lockWait
)
