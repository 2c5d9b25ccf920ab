package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"atrium/internal/id"
	"atrium/internal/store"
)

const (
	week  = 7 * 24 * time.Hour
	ahead = week // that partitions are made ahead by, and up to another week

	weeksLock   = 0x7765656b73 // the key of PostgreSQL's advisory lock: "weeks" in ASCII
	lockTries   = 8
	lockWait    = 250 * time.Millisecond // for a lock: as long as deliveries that come after wait as well
	lockPause   = time.Second            // before it is tried again
	lockLongest = 5 * time.Second        // that a statement may hold locks for
)

// weeks are the partitions of the history on PostgreSQL. Each holds the deliveries of a week, from Monday in UTC, by the
// moment in their ids, which is the machine's: a development clock moves none of them. They are made ahead, by whichever
// node comes first, and dropped whole when all in them is old. A row that no week is for is caught by the default
// partition, so that a node which could not make any still delivers; such rows stay there until they are swept.
//
// Making and dropping needs locks that deliveries have to wait for. It therefore asks for them for a moment only, and
// tries again: there is a week's time for it. The role must own the tables, as the one does that has migrated them.
type weeks struct {
	store *store.Store
	log   *slog.Logger
}

// part is a partition that has a range.
type part struct {
	name  string
	below string // what sorts after all ids in it
}

// monday returns the beginning of the week of a moment.
func monday(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d-(int(t.UTC().Weekday())+6)%7, 0, 0, 0, 0, time.UTC)
}

// bound returns what sorts before all ids of deliveries that are made at a moment or later.
func bound(t time.Time) string { return id.From("whd", t) }

// tend makes the weeks that are missing and drops those that are over, all of whose deliveries were settled before a
// moment of the product's time. now is the machine's. It does nothing on SQLite, where the history is one table.
func (w weeks) tend(ctx context.Context, now, before time.Time) error {
	if w.store.Dialect() != dialect.Postgres {
		return nil
	}
	parts, err := w.parts(ctx)
	if err != nil {
		return err
	}
	made, err := w.make(ctx, parts, now)
	dropped, derr := w.drop(ctx, parts, now, before)
	if made+dropped > 0 { // autovacuum leaves out tables that are partitioned
		_, aerr := w.store.Pool().Exec(ctx, "ANALYZE webhook_deliveries")
		err = errors.Join(err, aerr)
	}
	return errors.Join(err, derr)
}

// parts returns the partitions but the default one.
func (w weeks) parts(ctx context.Context) ([]part, error) {
	rows, err := w.store.Pool().Query(ctx, `SELECT c.relname, substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''([^'']+)''\)')
		FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'webhook_deliveries'::regclass AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT' ORDER BY 2`)
	if err != nil {
		return nil, fmt.Errorf("list the partitions: %w", err)
	}
	parts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p part, err error) { return p, row.Scan(&p.name, &p.below) })
	if err != nil {
		return nil, fmt.Errorf("list the partitions: %w", err)
	}
	return parts, nil
}

// make makes the partitions that are missing, from the current week on, and returns how many there were.
func (w weeks) make(ctx context.Context, parts []part, now time.Time) (made int, err error) {
	top := ""
	if len(parts) > 0 {
		top = parts[len(parts)-1].below
	}
	for from := monday(now); !from.After(now.Add(ahead)); from = from.Add(week) {
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

// makeWeek makes the partition of the week that begins at a moment. It returns false when the default partition has rows of
// that week. Nothing is changed for a partition that another node has made meanwhile.
//
// The table is complete before it becomes a partition: only that takes locks which deliveries wait for, on the tables that
// foreign keys lead to (in the order in which an event and its deliveries are written) and on the default partition.
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

// drop drops the partitions that lie beyond what is kept, unless something in them was changed since before or is not
// settled, and returns how many there were.
func (w weeks) drop(ctx context.Context, parts []part, now, before time.Time) (dropped int, err error) {
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

// unchanged reports whether a partition is there, and has no row that was changed since before or is as the condition says.
// Only the system sees all rows: for anybody else it is false.
func unchanged(ctx context.Context, tx pgx.Tx, name string, before time.Time, or string) (bool, error) {
	var there, kept bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL AND current_setting('app.company_id', true) = '*'", name).Scan(&there); err != nil || !there {
		return false, err
	}
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+name+" WHERE updated_at >= $1 "+or+")", before).Scan(&kept)
	return !kept, err
}

// dropWeek drops a partition of which it was found before that nothing in it is to be kept. Had anything become pending
// since, it would have been changed thereby, which an index tells: deliveries wait no longer than that takes.
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

// alter changes partitions in a transaction, one node at a time. A lock that is not to be had at once is given up, with
// everybody who waits behind, and tried again after a pause.
func (w weeks) alter(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	for try := 1; ; try++ {
		err := w.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.PGX().Exec(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = %d; SELECT pg_advisory_xact_lock(%d)",
				lockWait.Milliseconds(), lockLongest.Milliseconds(), weeksLock))
			if err != nil {
				return err
			}
			return fn(ctx, tx.PGX())
		})
		if pgErr, ok := errors.AsType[*pgconn.PgError](err); !ok || pgErr.Code != "55P03" || try == lockTries {
			return err
		}
		select {
		case <-time.After(lockPause + rand.N(lockPause)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
