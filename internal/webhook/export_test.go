package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/platform/egress"
	"atrium/internal/platform/period"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
)

// After calls schedule.after.
func After(retries []time.Duration, step int, asked time.Duration) (time.Duration, bool) {
	return schedule(retries).after(step, asked)
}

// RetryAfter calls retryAfter with a header's value.
func RetryAfter(value string, now time.Time) time.Duration {
	return retryAfter(http.Header{"Retry-After": {value}}, now)
}

// Kept calls kept.
func Kept(a egress.Answer, whole bool, secrets ...secret.Value) string {
	return kept(a, whole, secrets)
}

// Lost returns how many unrecorded attempts a job with these errors may have made.
func Lost(s *store.Store, errs ...string) int {
	job := &river.Job[AttemptArgs]{JobRow: &rivertype.JobRow{}}
	for _, text := range errs {
		job.Errors = append(job.Errors, rivertype.AttemptError{Error: text})
	}
	return len((&Dispatcher{Options: Options{Store: s}}).lost(job))
}

// Limits wraps limits.
type Limits struct{ *limits }

// NewLimits returns limits.
func NewLimits() Limits { return Limits{newLimits()} }

// Enter calls limits.enter for a receiver of a company of its own.
func (l Limits) Enter(ctx context.Context, subscription string) (leave func(called bool), snooze time.Duration) {
	return l.enter(ctx, "company of "+subscription, subscription)
}

// EnterOf calls limits.enter.
func (l Limits) EnterOf(ctx context.Context, company, subscription string) (leave func(called bool), snooze time.Duration) {
	return l.enter(ctx, company, subscription)
}

// Waiting returns how many jobs wait for a place.
func (l Limits) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting
}

// Known returns how many receivers are remembered.
func (l Limits) Known() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byID)
}

// Age makes a receiver look as if no place had been given back for a duration.
func (l Limits) Age(subscription string, by time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.byID[subscription]
	r.lastReleased = r.lastReleased.Add(-by)
}

// The bounds of limits.
const (
	PerCompany  = perCompany
	PerReceiver = perReceiver
	PerSlow     = perSlow
	Slots       = slots
	MinSnooze   = minSnooze
	MaxSnooze   = maxSnooze
)

// ReplayBatch is replayBatch.
const ReplayBatch = replayBatch

// Tend calls partitions.maintain as the system, with the machine's time and the moment before which deliveries are old.
func Tend(s *store.Store, log *slog.Logger, now, before time.Time) error {
	return partitions{s, log}.maintain(principal.System(context.Background(), "test"), now, before)
}

// SweepDeliveries deletes one batch of deliveries that were settled before a moment, and returns how many there were.
func SweepDeliveries(s *store.Store, before time.Time) (n int, err error) {
	err = s.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) (err error) {
		n, err = (&sweeper{store: s}).oldDeliveries(ctx, tx.Client, before)
		return err
	})
	return n, err
}

// SweepEvents deletes one batch of a company's events that happened before a moment.
func SweepEvents(s *store.Store, company string, before time.Time) (n int, err error) {
	err = s.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) (err error) {
		n, err = (&sweeper{store: s}).oldEvents(ctx, tx.Client, company, before)
		return err
	})
	return n, err
}

// Monday is monday.
func Monday(t time.Time) time.Time { return period.Monday(t) }

// How far ahead weeks are made, and how long they are kept.
const (
	Week     = week
	KeptFor  = keptFor
	LockWait = lockWait
)

// Order wraps order.
type Order struct{ *order }

// NewOrder returns an order.
func NewOrder() Order { return Order{newOrder()} }

// Begin calls order.begin.
func (o Order) Begin(delivery string) (end func()) { return o.begin(delivery) }

// Await calls order.await for a job that is behind a number of deliveries, of which the last is given, until it looks for the first
// time. It reports whether the job's turn came, rather than that it should snooze.
func (o Order) Await(ctx context.Context, delivery string, ahead int) bool {
	behind, _ := o.await(ctx, &earlier{delivery: delivery, ahead: ahead}, func(context.Context) (*earlier, error) { return nil, nil })
	return behind == nil
}

// SnoozeBehind returns how long a job snoozes.
func SnoozeBehind(ahead int, due time.Duration) time.Duration {
	return (&earlier{ahead: ahead, due: due}).snooze()
}

// Waiting returns how many jobs wait for an earlier delivery.
func (o Order) Waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waiting
}

// Ours returns how many deliveries are remembered.
func (o Order) Ours() int { return len(o.ours) }

// The bounds of order.
const (
	MaxBehind     = maxBehind
	MaxInLine     = maxInLine
	BelievedAlive = believedAlive
)
