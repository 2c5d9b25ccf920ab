package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5"

	"atrium/internal/platform/id"
	"atrium/internal/platform/period"
	"atrium/internal/platform/store"
)

const (
	week  = 7 * 24 * time.Hour
	ahead = week // partitions are made for all weeks that begin within this time

	weeksLock   = 0x7765656b73 // the key of PostgreSQL's advisory lock: "weeks" in ASCII
	lockTries   = 8
	lockWait    = 250 * time.Millisecond // for a lock; deliveries that need the same tables wait as long
	lockPause   = time.Second            // before the next try
	lockLongest = 5 * time.Second        // for a statement that holds locks
)

// partitions manages the partitions of the history on PostgreSQL. Each holds the deliveries of one week, from Monday in UTC, by the
// time in their ids. That is the machine's time, so a development clock does not affect it. The first node to come makes
// partitions ahead of time, and drops a partition once everything in it is old. A row without a week goes into the default
// partition, so that a node that could not make a week still delivers. Such rows stay there until they are swept.
//
// Making and dropping needs locks that block deliveries. It therefore waits for a lock only briefly and tries again: there is a
// week to do it. The database role must own the tables, as the role that migrates them does.
type partitions struct {
	store *store.Store
	log   *slog.Logger
}

// partition is a partition with a range of ids.
type partition struct {
	name  string
	below string // sorts after all ids in it
}

// bound returns a text that sorts before the ids of all deliveries made at t or later.
func bound(t time.Time) string { return id.From("whd", t) }

// maintain makes the weeks that are missing, and drops those that are over and whose deliveries were all settled before a moment of
// the product's time. now is the machine's time. It does nothing on SQLite, where the history is one table.
func (w partitions) maintain(ctx context.Context, now, before time.Time) error {
	if w.store.Dialect() != dialect.Postgres {
		return nil
	}
	parts, err := w.parts(ctx)
	if err != nil {
		return err
	}
	made, err := w.make(ctx, parts, now)
	dropped, derr := w.drop(ctx, parts, now, before)
	if made+dropped > 0 { // autovacuum does not analyze partitioned tables
		_, aerr := w.store.Pool().Exec(ctx, "ANALYZE webhook_deliveries")
		err = errors.Join(err, aerr)
	}
	return errors.Join(err, derr)
}

// parts returns the partitions except the default one.
func (w partitions) parts(ctx context.Context) ([]partition, error) {
	rows, err := w.store.Pool().Query(ctx, `SELECT c.relname, substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''([^'']+)''\)')
		FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'webhook_deliveries'::regclass AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT' ORDER BY 2`)
	if err != nil {
		return nil, fmt.Errorf("list the partitions: %w", err)
	}
	parts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p partition, err error) {
		err = row.Scan(&p.name, &p.below)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the partitions: %w", err)
	}
	return parts, nil
}

// make makes the missing partitions, from the current week on, and returns how many it made.
func (w partitions) make(ctx context.Context, parts []partition, now time.Time) (made int, err error) {
	top := ""
	if len(parts) > 0 {
		top = parts[len(parts)-1].below
	}
	for from := period.Monday(now); !from.After(now.Add(ahead)); from = from.Add(week) {
		if bound(from) < top {
			continue
		}
		done := false
		err := w.alter(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
			done, err = makeWeek(ctx, tx, from)
			return err
		})
		if err != nil {
			return made, fmt.Errorf("make the partition of the week of %s: %w", from.Format(time.DateOnly), err)
		}
		if !done {
			w.log.WarnContext(ctx, "deliveries of a week are in the default partition: it gets none of its own", "week", from.Format(time.DateOnly))
			continue
		}
		made++
	}
	return made, nil
}

// makeWeek makes the partition of the week that begins at from. It returns false when the default partition has rows of that
// week. It changes nothing when another node has made the partition meanwhile.
//
// The table is created completely before it is attached, because attaching takes locks that block deliveries: on the tables that
// foreign keys refer to (in the order in which an event and its deliveries are written) and on the default partition.
func makeWeek(ctx context.Context, tx pgx.Tx, from time.Time) (bool, error) {
	name, low, high := "webhook_deliveries_w"+from.Format("20060102"), bound(from), bound(from.Add(week))
	var there, caught bool
	err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL, EXISTS (SELECT FROM webhook_deliveries_default WHERE id >= $2 AND id < $3)", name, low, high).
		Scan(&there, &caught)
	if err != nil || there || caught {
		return !caught, err
	}
	_, err = tx.Exec(ctx, fmt.Sprintf(`
		CREATE TABLE %[1]s (LIKE webhook_deliveries INCLUDING ALL);
		%[4]s
		LOCK TABLE companies, webhook_subscriptions, events IN SHARE ROW EXCLUSIVE MODE;
		ALTER TABLE webhook_deliveries ATTACH PARTITION %[1]s FOR VALUES FROM ('%[2]s') TO ('%[3]s')`, name, low, high, store.RowSecurity(name, true)))
	return true, err
}

// drop drops the partitions that are older than the history is kept, unless a row in them was changed since before or is pending.
// It returns how many it dropped.
func (w partitions) drop(ctx context.Context, parts []partition, now, before time.Time) (dropped int, err error) {
	for _, p := range parts {
		if p.below > bound(now.Add(-keptFor)) {
			break
		}
		var old, done bool
		err := w.store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			old, err = unchanged(ctx, tx.PGX(), p.name, before, "OR outcome = 'PENDING'")
			return err
		})
		if err == nil && old {
			err = w.alter(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
				done, err = dropWeek(ctx, tx, p.name, before)
				return err
			})
		}
		if err != nil {
			return dropped, fmt.Errorf("drop the partition %s: %w", p.name, err)
		}
		if done {
			dropped++
		}
	}
	return dropped, nil
}

// unchanged reports whether a partition exists and has no row that was changed since before or meets the condition or. Only the
// system sees all rows, so the result is false for anybody else.
func unchanged(ctx context.Context, tx pgx.Tx, name string, before time.Time, or string) (bool, error) {
	var there, kept bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL AND current_setting('app.company_id', true) = '*'", name).Scan(&there); err != nil || !there {
		return false, err
	}
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+name+" WHERE updated_at >= $1 "+or+")", before).Scan(&kept)
	return !kept, err
}

// dropWeek drops a partition that was found to hold nothing to keep. It checks again under the lock, but only for changed rows: a
// row that has become pending since has also changed. An index answers that, so deliveries wait only briefly.
func dropWeek(ctx context.Context, tx pgx.Tx, name string, before time.Time) (bool, error) {
	if _, err := tx.Exec(ctx, "LOCK TABLE ONLY webhook_deliveries IN ACCESS EXCLUSIVE MODE"); err != nil {
		return false, err
	}
	old, err := unchanged(ctx, tx, name, before, "")
	if err != nil || !old {
		return false, err
	}
	_, err = tx.Exec(ctx, "DROP TABLE "+name)
	return err == nil, err
}

// alter changes partitions in a transaction, one node at a time. When it does not get a lock in time it gives up, so that those
// who wait behind it can go on, and tries again after a pause.
func (w partitions) alter(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	for try := 1; ; try++ {
		err := w.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.PGX().Exec(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = %d; SELECT pg_advisory_xact_lock(%d)",
				lockWait.Milliseconds(), lockLongest.Milliseconds(), weeksLock))
			if err != nil {
				return err
			}
			return fn(ctx, tx.PGX())
		})
		if !store.IsLockTimeout(err) || try == lockTries {
			return err
		}
		if err := store.Pause(ctx, lockPause); err != nil {
			return err
		}
	}
}
