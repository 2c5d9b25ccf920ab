package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// The statements in SQLite's syntax; numbered converts the placeholders for PostgreSQL.
const (
	floorSelect = "SELECT id, service_id, offering_id, title, description, status, priority, fields, tags, created_by, assignee_id, team_id, accepted_at, completed_at, cancelled_at, created_at, updated_at FROM requests WHERE company_id = ?1"
	floorGet    = floorSelect + " AND id = ?2"
	floorBind   = "SELECT set_config('app.company_id', $1, true)"
)

var numbered = strings.NewReplacer("?", "$")

// floorLists maps the query string of each list workload to its statement.
var floorLists = map[string]string{
	listNewest:   floorSelect + " AND status = 'PENDING' ORDER BY created_at DESC, id DESC LIMIT 20",
	listPriority: floorSelect + " AND status IN ('PENDING', 'IN_PROGRESS') ORDER BY priority_rank DESC, created_at DESC, id DESC LIMIT 20",
}

var floorInserts = [3]string{
	"INSERT INTO requests (id, created_at, updated_at, company_id, service_id, offering_id, title, description, status, priority, priority_rank, fields, tags, created_by) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
	"INSERT INTO events (id, created_at, updated_at, company_id, type, subject_id, payload) VALUES (?1,?2,?3,?4,?5,?6,?7)",
	"INSERT INTO audit_entries (id, created_at, updated_at, company_id, actor_type, actor_id, actor_name, action, resource_type, resource_id, outcome, ip, user_agent, request_id, changes) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)",
}

// floorRows is the common part of the rows of database/sql and pgx.
type floorRows interface {
	Next() bool
	Scan(...any) error
	Err() error
}

// scanRows reads all rows.
func scanRows(rows floorRows) ([]*floorRequest, error) {
	var out []*floorRequest
	for rows.Next() {
		r := &floorRequest{}
		var fields, tags []byte
		var created, updated time.Time
		var accepted, completed, cancelled *time.Time
		err := rows.Scan(&r.ID, &r.ServiceID, &r.OfferingID, &r.Title, &r.Description, &r.Status, &r.Priority, &fields, &tags,
			&r.CreatedBy, &r.AssigneeID, &r.TeamID, &accepted, &completed, &cancelled, &created, &updated)
		if err != nil {
			return nil, err
		}
		r.Fields, r.Tags, r.CreatedAt, r.UpdatedAt = fields, tags, stamp(created), stamp(updated)
		r.AcceptedAt, r.CompletedAt, r.CancelledAt = (*stamp)(accepted), (*stamp)(completed), (*stamp)(cancelled)
		out = append(out, r)
	}
	return out, rows.Err()
}

// one returns the only row.
func one(rows []*floorRequest, err error) (*floorRequest, error) {
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("%d rows", len(rows))
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// floorSQLite has a read pool as large as the product's and one connection for writes. All statements are prepared.
type floorSQLite struct {
	company     string
	read, write *sql.DB
	prepared    map[string]*sql.Stmt
}

func openFloorSQLite(ctx context.Context, w *world) (floorDB, error) {
	f := &floorSQLite{company: w.Main.CompanyID, prepared: map[string]*sql.Stmt{}}
	for db, n := range map[**sql.DB]int{&f.read: max(4, runtime.GOMAXPROCS(0)*2), &f.write: 1} {
		q := url.Values{"_txlock": {"immediate"}, "_time_format": {"sqlite"}, "_timezone": {"UTC"}, "_pragma": {
			"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-8000)", "temp_store(MEMORY)",
		}}
		var err error
		if *db, err = sql.Open("sqlite", "file:"+w.Dir+"/atrium.db?"+q.Encode()); err != nil {
			return nil, fmt.Errorf("open the file: %w", err)
		}
		(*db).SetMaxOpenConns(n)
		(*db).SetMaxIdleConns(n)
	}
	for query, db := range map[string]*sql.DB{
		floorGet: f.read, floorLists[listNewest]: f.read, floorLists[listPriority]: f.read,
		floorInserts[0]: f.write, floorInserts[1]: f.write, floorInserts[2]: f.write,
	} {
		var err error
		if f.prepared[query], err = db.PrepareContext(ctx, query); err != nil { //nolint:sqlclosecheck // lives as long as the pool
			return nil, err
		}
	}
	return f, nil
}

func (f *floorSQLite) close() error { return errors.Join(f.read.Close(), f.write.Close()) }

func (f *floorSQLite) query(ctx context.Context, query string, args ...any) ([]*floorRequest, error) {
	rows, err := f.prepared[query].QueryContext(ctx, args...) //nolint:rowserrcheck // scanRows checks it
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // read to its end
	return scanRows(rows)
}

func (f *floorSQLite) get(ctx context.Context, id string) (*floorRequest, error) {
	return one(f.query(ctx, floorGet, f.company, id))
}

func (f *floorSQLite) list(ctx context.Context, query string) ([]*floorRequest, error) {
	return f.query(ctx, floorLists[query], f.company)
}

// create writes the three rows in one durable transaction.
func (f *floorSQLite) create(ctx context.Context, rows [3][]any) error {
	tx, err := f.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after the commit it has nothing to say
	for i, args := range rows {
		if _, err := tx.StmtContext(ctx, f.prepared[floorInserts[i]]).ExecContext(ctx, args...); err != nil { //nolint:sqlclosecheck // the transaction ends it
			return err
		}
	}
	return tx.Commit()
}

// floorPostgres sends the set_config for row-level security and the statements in one batch: one round trip, one transaction.
type floorPostgres struct {
	company string
	pool    *pgxpool.Pool
}

func openFloorPostgres(ctx context.Context, w *world) (floorDB, error) {
	cfg, err := pgxpool.ParseConfig(w.DatabaseURL)
	if err != nil {
		return nil, errors.New("the database URL cannot be parsed")
	}
	cfg.MaxConns = 16 // the product's default
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &floorPostgres{company: w.Main.CompanyID, pool: pool}, nil
}

func (f *floorPostgres) close() error {
	f.pool.Close()
	return nil
}

// read binds the company and runs one query.
func (f *floorPostgres) read(ctx context.Context, query string, args ...any) (out []*floorRequest, err error) {
	b := &pgx.Batch{}
	b.Queue(floorBind, f.company)
	b.Queue(numbered.Replace(query), args...)
	br := f.pool.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, br.Close()) }()
	if _, err := br.Exec(); err != nil {
		return nil, err
	}
	rows, err := br.Query() //nolint:sqlclosecheck // the batch closes them
	if err != nil {
		return nil, err
	}
	return scanRows(rows)
}

func (f *floorPostgres) get(ctx context.Context, id string) (*floorRequest, error) {
	return one(f.read(ctx, floorGet, f.company, id))
}

func (f *floorPostgres) list(ctx context.Context, query string) ([]*floorRequest, error) {
	return f.read(ctx, floorLists[query], f.company)
}

// create writes the three rows in one batch, which is one implicit transaction.
func (f *floorPostgres) create(ctx context.Context, rows [3][]any) error {
	b := &pgx.Batch{}
	b.Queue(floorBind, f.company)
	for i, args := range rows {
		b.Queue(numbered.Replace(floorInserts[i]), args...)
	}
	return f.pool.SendBatch(ctx, b).Close()
}
