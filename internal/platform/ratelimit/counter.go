package ratelimit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/throttle"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/store"
)

// Attempts is a limit on attempts that are counted in the database.
type Attempts struct {
	Max int // the number of attempts that closes the counter

	// Window is how long a counter lasts: from its first attempt, or with pauses from the end of its last pause.
	Window time.Duration

	// FirstPause is how long a counter is closed after Max attempts. Each further attempt doubles the pause, up to MostPause.
	// Zero closes the counter until its window ends.
	FirstPause, MostPause time.Duration
}

// Pause returns how long a counter with pauses is closed after the given number of attempts.
func (a Attempts) Pause(attempts int) time.Duration {
	if attempts < a.Max {
		return 0
	}
	return min(a.MostPause, a.FirstPause<<min(attempts-a.Max, 20))
}

// Hidden returns the hash that stands for an e-mail address or a telephone number at the end of a counter's key.
func Hidden(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Counter is a row that counts attempts. Rows survive restarts and are shared by all nodes. Keys must not contain a person's
// address in the clear. ctx must reach rows of no company.
type Counter struct {
	Key   string
	Limit Attempts
}

// Wait returns how long the counters are closed, without counting an attempt; 0 when all are open.
func Wait(ctx context.Context, db *ent.Client, counters ...Counter) (wait time.Duration, err error) {
	keys := make([]string, len(counters))
	for i, c := range counters {
		keys[i] = c.Key
	}
	rows, err := db.Throttle.Query().Where(throttle.IDIn(keys...)).All(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the counters: %w", err)
	}
	for _, row := range rows {
		wait = max(wait, left(ctx, row))
	}
	return wait, nil
}

// Count adds an attempt to every counter. If one of them is closed, it counts nothing and returns how long to wait. Rows are
// locked in the order of the counters. Creating a row may conflict with another transaction; use store.WriteOrRetry.
func Count(ctx context.Context, tx *store.Tx, counters ...Counter) (wait time.Duration, err error) {
	rows := make([]*ent.Throttle, len(counters))
	for i, c := range counters {
		if rows[i], err = locked(ctx, tx, c.Key); err != nil {
			return 0, err
		}
		wait = max(wait, left(ctx, rows[i]))
	}
	if wait > 0 {
		return wait, nil
	}
	for i, c := range counters {
		if err := c.add(ctx, tx, rows[i]); err != nil {
			return 0, fmt.Errorf("count an attempt: %w", err)
		}
	}
	return 0, nil
}

// add counts one attempt in the counter's row; row is nil if there is none yet.
func (c Counter) add(ctx context.Context, tx *store.Tx, row *ent.Throttle) error {
	now, attempts, expires := clock.From(ctx).Now(), 1, time.Time{}
	if row != nil && row.ExpiresAt.After(now) {
		attempts, expires = row.Failures+1, row.ExpiresAt
	}
	var closed *time.Time
	switch {
	case c.Limit.FirstPause > 0:
		pause := c.Limit.Pause(attempts)
		expires = now.Add(pause + c.Limit.Window)
		if pause > 0 {
			end := now.Add(pause)
			closed = &end
		}
	default:
		if expires.IsZero() {
			expires = now.Add(c.Limit.Window)
		}
		if attempts >= c.Limit.Max {
			closed = &expires
		}
	}
	if row == nil {
		return tx.Throttle.Create().SetID(c.Key).SetFailures(attempts).SetNillableBlockedUntil(closed).SetExpiresAt(expires).Exec(ctx)
	}
	u := row.Update().SetFailures(attempts).SetExpiresAt(expires).SetNillableBlockedUntil(closed)
	if closed == nil {
		u.ClearBlockedUntil()
	}
	return u.Exec(ctx)
}

// Uncount removes one attempt from every counter and reopens those that are closed. The attempt itself must have closed them,
// because a closed counter accepts none.
func Uncount(ctx context.Context, tx *store.Tx, counters ...Counter) error {
	for _, c := range counters {
		row, err := locked(ctx, tx, c.Key)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		if err := row.Update().SetFailures(max(0, row.Failures-1)).ClearBlockedUntil().Exec(ctx); err != nil {
			return fmt.Errorf("take an attempt back: %w", err)
		}
	}
	return nil
}

// Forget deletes counters.
func Forget(ctx context.Context, tx *store.Tx, keys ...string) error {
	if _, err := tx.Throttle.Delete().Where(throttle.IDIn(keys...)).Exec(ctx); err != nil {
		return fmt.Errorf("forget the counters: %w", err)
	}
	return nil
}

// Once records the use of something that may be used once; the record may be deleted after until. Returns a unique violation
// (store.IsUnique) when it was used before.
func Once(ctx context.Context, tx *store.Tx, key string, until time.Time) error {
	return tx.Throttle.Create().SetID(key).SetFailures(0).SetExpiresAt(until).Exec(ctx)
}

// locked reads and locks a counter's row; nil when there is none.
func locked(ctx context.Context, tx *store.Tx, key string) (*ent.Throttle, error) {
	row, err := store.Lock(tx, tx.Throttle.Query().Where(throttle.ID(key))).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil // no attempt yet
	}
	if err != nil {
		return nil, fmt.Errorf("read a counter: %w", err)
	}
	return row, nil
}

// left returns how long a counter stays closed.
func left(ctx context.Context, row *ent.Throttle) time.Duration {
	if row == nil || row.BlockedUntil == nil {
		return 0
	}
	return max(0, row.BlockedUntil.Sub(clock.From(ctx).Now()))
}
