package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/internal/store"
)

// seeded is a request as bulk SQL writes it.
type seeded struct {
	id, title, description, status, priority string
	rank                                     int
	fields, tags                             string
	service, offering                        string
	created                                  time.Time
	done                                     [3]*time.Time // accepted, completed, cancelled
}

// generator makes n requests of a tenant in the order of time, the same ones for every run.
type generator struct {
	t    *tenant
	rng  *rand.Rand
	from time.Time
	step time.Duration
}

func newGenerator(t *tenant, n int) *generator {
	const span = 90 * 24 * time.Hour
	return &generator{
		t: t, rng: rand.New(rand.NewPCG(1, 2)), //nolint:gosec // the same figures every time
		from: time.Now().UTC().Add(-span).Truncate(time.Millisecond), step: span / time.Duration(n),
	}
}

func (g *generator) row(i int) seeded {
	s := g.t.Services[g.rng.IntN(len(g.t.Services))]
	r := seeded{
		title:       fmt.Sprintf("Request %07d: %s", i, []string{"a laptop", "a desk", "access", "a badge"}[g.rng.IntN(4)]),
		description: "Please have a look at this when there is time; it is not the first one of its kind.",
		fields:      `{}`, tags: `{"site":"berlin","channel":"portal"}`,
		service: s.ID, offering: s.Plain,
		created: g.from.Add(time.Duration(i) * g.step),
	}
	if g.rng.IntN(2) == 0 {
		r.offering, r.fields = s.Formed, formFields
	}
	r.id = timeID("req", r.created, g.rng)
	switch p := g.rng.IntN(100); {
	case p < 20:
		r.priority, r.rank = "LOW", 1
	case p < 70:
		r.priority, r.rank = "MEDIUM", 2
	case p < 90:
		r.priority, r.rank = "HIGH", 3
	default:
		r.priority, r.rank = "URGENT", 4
	}
	later := r.created.Add(time.Hour)
	switch p := g.rng.IntN(100); {
	case p < 40:
		r.status = "PENDING"
	case p < 70:
		r.status, r.done[0] = "IN_PROGRESS", &later
	case p < 95:
		r.status, r.done[0], r.done[1] = "COMPLETED", &later, &later
	default:
		r.status, r.done[2] = "CANCELLED", &later
	}
	if i%17 == 0 && len(g.t.sample) < 10_000 {
		g.t.sample = append(g.t.sample, r.id)
	}
	return r
}

// timeID makes an id as package id does, for a moment that has passed.
func timeID(prefix string, at time.Time, rng *rand.Rand) string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	high := uint64(at.UnixMilli())<<16 | 7<<12 | rng.Uint64()>>52
	low := 1<<63 | rng.Uint64()>>2
	var out [26]byte
	for i := 25; i >= 0; i-- {
		out[i] = alphabet[low&31]
		low = low>>5 | high&31<<59
		high >>= 5
	}
	return prefix + "_" + string(out[:])
}

const seedColumns = "id, created_at, updated_at, company_id, title, description, status, priority, priority_rank, fields, tags, created_by, accepted_at, completed_at, cancelled_at, service_id, offering_id"

// seed writes n requests of the tenant.
func (w *world) seed(ctx context.Context, t *tenant, n int) error {
	if w.Dialect == "postgres" {
		return w.seedPostgres(ctx, t, n)
	}
	return w.seedSQLite(ctx, t, n)
}

// seedSQLite writes all in one transaction; triggers keep the counters.
func (w *world) seedSQLite(ctx context.Context, t *tenant, n int) (err error) {
	db, err := store.OpenSQLiteFile(w.Dir + "/atrium.db")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "PRAGMA cache_size = -400000"); err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after the commit it has nothing to say
	insert, err := tx.PrepareContext(ctx, "INSERT INTO requests ("+seedColumns+") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	defer insert.Close() //nolint:errcheck // the transaction ends it
	g := newGenerator(t, n)
	for i := range n {
		r := g.row(i)
		_, err := insert.ExecContext(ctx, r.id, r.created, r.created, t.CompanyID, r.title, r.description, r.status, r.priority, r.rank,
			r.fields, r.tags, t.OwnerID, r.done[0], r.done[1], r.done[2], r.service, r.offering)
		if err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	var busy, logged, moved sql.NullInt64
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// seedPostgres writes all in one transaction, some thousand rows a statement; triggers keep the counters.
func (w *world) seedPostgres(ctx context.Context, t *tenant, n int) (err error) {
	conn, err := pgx.Connect(ctx, w.DatabaseURL)
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT set_config('app.company_id', '*', true)"); err != nil {
			return err
		}
		g := newGenerator(t, n)
		for i := 0; i < n; i += seedChunk {
			if err := insertChunk(ctx, tx, g, i, min(i+seedChunk, n)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	if _, err := conn.Exec(ctx, "VACUUM ANALYZE requests"); err != nil { // autovacuum would come a minute later
		return fmt.Errorf("seed: %w", err)
	}
	return nil
}

const seedChunk = 5000

func insertChunk(ctx context.Context, tx pgx.Tx, g *generator, from, to int) error {
	var ids, titles, descriptions, statuses, priorities, fields, tags, services, offerings []string
	var ranks []int16
	var created []time.Time
	var done [3][]*time.Time
	for i := from; i < to; i++ {
		r := g.row(i)
		ids, titles, descriptions = append(ids, r.id), append(titles, r.title), append(descriptions, r.description)
		statuses, priorities, ranks = append(statuses, r.status), append(priorities, r.priority), append(ranks, int16(r.rank))
		fields, tags = append(fields, r.fields), append(tags, r.tags)
		services, offerings, created = append(services, r.service), append(offerings, r.offering), append(created, r.created)
		for k := range done {
			done[k] = append(done[k], r.done[k])
		}
	}
	_, err := tx.Exec(ctx, "INSERT INTO requests ("+seedColumns+`)
		SELECT u.id, u.at, u.at, $14, u.title, u.description, u.status, u.priority, u.rank, u.fields::json, u.tags::json, $15,
			u.accepted, u.completed, u.cancelled, u.service, u.offering
		FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int2[], $8::text[], $9::text[],
			$10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::text[], $16::text[])
			AS u(id, at, title, description, status, priority, rank, fields, tags, accepted, completed, cancelled, service, offering)`,
		ids, created, titles, descriptions, statuses, priorities, ranks, fields, tags, done[0], done[1], done[2], services,
		g.t.CompanyID, g.t.OwnerID, offerings)
	return err
}
