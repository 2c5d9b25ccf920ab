package signin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"entgo.io/ent/dialect"

	"atrium/ent"
	"atrium/ent/throttle"
	"atrium/internal/store"
)

// limit says how many failures in a row are borne, and how long the pause is after each further one.
type limit struct {
	after       int           // the failure of this number brings the first pause
	first, most time.Duration // pauses, which double
	forget      time.Duration // after the last failure, or the pause that it brought
}

// The limits. A stranger can make somebody wait for an hour at most, and not in a browser where that account has signed
// in before: such a browser has tries of its own. Together they stay below 40.
var (
	accountLimit = limit{after: 20, first: time.Minute, most: 45 * time.Minute, forget: 24 * time.Hour}
	deviceLimit  = limit{after: 10, first: 24 * time.Hour, most: 24 * time.Hour, forget: 24 * time.Hour}
	addressLimit = limit{after: 100, first: 10 * time.Second, most: 15 * time.Minute, forget: 15 * time.Minute}
	smsLimit     = limit{after: 5, first: 15 * time.Minute, most: 45 * time.Minute, forget: 30 * time.Minute}
)

// pause returns how long nothing is taken after that many failures.
func (l limit) pause(failures int) time.Duration {
	if failures < l.after {
		return 0
	}
	return min(l.most, l.first<<min(failures-l.after, 20))
}

// Of what failures are counted. Addresses and e-mail addresses of people are not kept in the clear.
func accountKey(email string) string { return "account/" + digest(email) }

// addressKey is an IPv4 address, or the /64 of an IPv6 one, which is what one customer has.
func addressKey(r *http.Request) string {
	addr := remoteAddr(r)
	if !addr.IsValid() {
		return "address/unknown"
	}
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	return "address/" + netip.PrefixFrom(addr, bits).Masked().String()
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// counter is one row that an attempt counts in.
type counter struct {
	key   string
	limit limit
}

// attempt is a proof that is being checked. It was counted as a failure before, so that many at once cannot exceed the
// limit.
type attempt struct {
	counters []counter
	account  string // the account's counter, which a success forgets
}

// throttles counts failed proofs in the database, for all nodes.
type throttles struct{ signIns *SignIns }

// take counts an attempt, or returns how long to wait before the next one. The browser's own counter (device) stands in
// for the others while it has tries left; an empty account counts the address alone.
func (t *throttles) take(ctx context.Context, account, device, address string) (*attempt, time.Duration, error) {
	counters := []counter{{address, addressLimit}}
	if account != "" {
		counters = append(counters, counter{account, accountLimit})
	}
	if device != "" {
		left, err := t.peek(ctx, []counter{{device, deviceLimit}})
		if err != nil {
			return nil, 0, err
		}
		if left == 0 {
			counters = []counter{{device, deviceLimit}}
		}
	}
	wait, err := t.count(ctx, counters)
	if err != nil || wait > 0 {
		return nil, wait, err
	}
	return &attempt{counters: counters, account: account}, 0, nil
}

// count adds one to every counter, unless one of them makes the caller wait. It reads first: a flood that is refused
// writes nothing.
func (t *throttles) count(ctx context.Context, counters []counter) (time.Duration, error) {
	wait, err := t.peek(ctx, counters)
	if err != nil || wait > 0 {
		return wait, err
	}
	write := func() error {
		return t.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
			wait = 0
			rows := make([]*ent.Throttle, len(counters))
			for i, c := range counters {
				if rows[i], err = locked(ctx, tx, c.key); err != nil {
					return err
				}
				wait = max(wait, t.left(rows[i]))
			}
			if wait > 0 {
				return nil
			}
			for i, c := range counters {
				if err := t.add(ctx, tx, rows[i], c); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = write()
	if v, ok := errors.AsType[*store.Violation](err); ok && v.Kind == store.Unique {
		err = write() // another attempt made the row at this moment
	}
	if err != nil {
		return 0, fmt.Errorf("count the attempt: %w", err)
	}
	return wait, nil
}

// peek returns how long the counters make the caller wait, without counting.
func (t *throttles) peek(ctx context.Context, counters []counter) (time.Duration, error) {
	keys := make([]string, len(counters))
	for i, c := range counters {
		keys[i] = c.key
	}
	rows, err := t.signIns.store.Reader().Throttle.Query().Where(throttle.IDIn(keys...)).All(t.signIns.system(ctx))
	if err != nil {
		return 0, fmt.Errorf("read the throttle: %w", err)
	}
	var wait time.Duration
	for _, row := range rows {
		wait = max(wait, t.left(row))
	}
	return wait, nil
}

// left returns how long a counter makes the caller wait from now on.
func (t *throttles) left(row *ent.Throttle) time.Duration {
	if row == nil || row.BlockedUntil == nil {
		return 0
	}
	return max(0, row.BlockedUntil.Sub(t.signIns.now()))
}

// add counts one failure.
func (t *throttles) add(ctx context.Context, tx *store.Tx, row *ent.Throttle, c counter) error {
	now := t.signIns.now()
	failures := 1
	if row != nil && row.ExpiresAt.After(now) {
		failures += row.Failures
	}
	pause := c.limit.pause(failures)
	var until *time.Time
	if pause > 0 {
		end := now.Add(pause)
		until = &end
	}
	forgotten := now.Add(pause + c.limit.forget)
	if row == nil {
		return tx.Throttle.Create().SetID(c.key).SetFailures(failures).SetNillableBlockedUntil(until).SetExpiresAt(forgotten).Exec(ctx) //nolint:wrapcheck // wrapped by count
	}
	u := tx.Throttle.UpdateOneID(row.ID).SetFailures(failures).SetExpiresAt(forgotten).SetNillableBlockedUntil(until)
	if until == nil {
		u.ClearBlockedUntil()
	}
	return u.Exec(ctx) //nolint:wrapcheck // wrapped by count
}

// locked reads a counter for a change; nil when there is none.
func locked(ctx context.Context, tx *store.Tx, key string) (*ent.Throttle, error) {
	q := tx.Throttle.Query().Where(throttle.ID(key))
	if tx.Dialect() == dialect.Postgres {
		q.ForUpdate()
	}
	row, err := q.Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	return row, err //nolint:wrapcheck // wrapped by count
}

// proved notes that the attempt was none to guess: the failures of the account and of the browser are forgotten, the
// address gets this one back. It runs in the transaction that signs the person in.
func (t *throttles) proved(ctx context.Context, tx *store.Tx, a *attempt) error {
	// Locks are taken in the order of take, so that two sign-ins never wait for each other.
	if err := t.back(ctx, tx, a); err != nil {
		return err
	}
	forget := []string{a.account}
	for _, c := range a.counters {
		if c.limit == deviceLimit {
			forget = append(forget, c.key)
		}
	}
	if _, err := tx.Throttle.Delete().Where(throttle.IDIn(forget...)).Exec(ctx); err != nil {
		return fmt.Errorf("forget the account's failures: %w", err)
	}
	return nil
}

// undo takes an attempt back that was not decided: the product was too busy, or failed.
func (t *throttles) undo(ctx context.Context, a *attempt) error {
	err := t.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error { return t.back(ctx, tx, a) })
	if err != nil {
		return fmt.Errorf("take the attempt back: %w", err)
	}
	return nil
}

// back takes one failure from the attempt's counters, and the pause that it brought.
func (t *throttles) back(ctx context.Context, tx *store.Tx, a *attempt) error {
	for _, c := range a.counters {
		row, err := locked(ctx, tx, c.key)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		// A pause that stands is this attempt's own: during another one it would not have been taken.
		if err := tx.Throttle.UpdateOneID(row.ID).SetFailures(max(0, row.Failures-1)).ClearBlockedUntil().Exec(ctx); err != nil {
			return fmt.Errorf("take the attempt back: %w", err)
		}
	}
	return nil
}

// Forgive forgets the failures that were counted for an e-mail address: the person has proved by mail that the address
// is theirs. The transaction's context reaches rows of no company.
func Forgive(ctx context.Context, tx *store.Tx, email string) error {
	if _, err := tx.Throttle.Delete().Where(throttle.ID(accountKey(email))).Exec(ctx); err != nil {
		return fmt.Errorf("forget the account's failures: %w", err)
	}
	return nil
}
