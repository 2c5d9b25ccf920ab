package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// floorSQLite has a read pool as large as the product's and one connection that writes, all statements prepared.
type floorSQLite struct {
	company     string
	read, write *sql.DB
	getStmt     *sql.Stmt
	inserts     [3]*sql.Stmt

	mu    sync.RWMutex
	lists map[string]*sql.Stmt
}

func openFloorSQLite(ctx context.Context, w *world) (floorDB, error) {
	open := func(n int) (*sql.DB, error) {
		q := url.Values{"_txlock": {"immediate"}, "_time_format": {"sqlite"}, "_timezone": {"UTC"}, "_pragma": {
			"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-8000)", "temp_store(MEMORY)",
		}}
		db, err := sql.Open("sqlite", "file:"+w.Dir+"/atrium.db?"+q.Encode())
		if err != nil {
			return nil, fmt.Errorf("open the file: %w", err)
		}
		db.SetMaxOpenConns(n)
		db.SetMaxIdleConns(n)
		return db, nil
	}
	f := &floorSQLite{company: w.Main.CompanyID, lists: map[string]*sql.Stmt{}}
	var err error
	if f.read, err = open(max(4, runtime.GOMAXPROCS(0)*2)); err != nil {
		return nil, err
	}
	if f.write, err = open(1); err != nil {
		return nil, err
	}
	if f.getStmt, err = f.read.PrepareContext(ctx, "SELECT "+floorColumns+" FROM requests WHERE id = ? AND company_id = ?"); err != nil {
		return nil, err
	}
	for i, q := range []string{floorInsertRequest, floorInsertEvent, floorInsertAudit} {
		if f.inserts[i], err = f.write.PrepareContext(ctx, q); err != nil { //nolint:sqlclosecheck // lives as long as the pool
			return nil, err
		}
	}
	return f, nil
}

func (f *floorSQLite) close() error { return errors.Join(f.read.Close(), f.write.Close()) }

func (f *floorSQLite) get(ctx context.Context, id string) (*floorRequest, error) {
	return scanRow(f.getStmt.QueryRowContext(ctx, id, f.company))
}

// scanRow reads the floor's columns.
func scanRow(row interface{ Scan(...any) error }) (*floorRequest, error) {
	r := &floorRequest{}
	var fields, tags []byte
	var created, updated time.Time
	var accepted, completed, cancelled *time.Time
	err := row.Scan(&r.ID, &r.ServiceID, &r.OfferingID, &r.Title, &r.Description, &r.Status, &r.Priority, &fields, &tags,
		&r.CreatedBy, &r.AssigneeID, &r.TeamID, &accepted, &completed, &cancelled, &created, &updated)
	if err != nil {
		return nil, err
	}
	r.fill(fields, tags, created, updated, accepted, completed, cancelled)
	return r, nil
}

// fill sets what is stored in another form than it is answered.
func (r *floorRequest) fill(fields, tags []byte, created, updated time.Time, accepted, completed, cancelled *time.Time) {
	r.Fields, r.Tags = orEmpty(fields), orEmpty(tags)
	r.CreatedAt, r.UpdatedAt = stamp(created), stamp(updated)
	r.AcceptedAt, r.CompletedAt, r.CancelledAt = stampOrNil(accepted), stampOrNil(completed), stampOrNil(cancelled)
}

func orEmpty(b []byte) []byte {
	if len(b) == 0 {
		return []byte("{}")
	}
	return b
}

func (f *floorSQLite) list(ctx context.Context, filter floorFilter) ([]*floorRequest, error) {
	query, args := filter.listSQL()
	st, err := f.prepared(ctx, query) //nolint:sqlclosecheck // lives as long as the pool
	if err != nil {
		return nil, err
	}
	rows, err := st.QueryContext(ctx, append([]any{f.company}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // read to its end
	out := make([]*floorRequest, 0, filter.limit)
	for rows.Next() {
		r, err := scanRow(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// prepared returns the list's statement: there are as many as workloads.
func (f *floorSQLite) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	f.mu.RLock()
	st := f.lists[query]
	f.mu.RUnlock()
	if st != nil {
		return st, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if st := f.lists[query]; st != nil {
		return st, nil
	}
	st, err := f.read.PrepareContext(ctx, query) //nolint:sqlclosecheck // lives as long as the pool
	if err == nil {
		f.lists[query] = st
	}
	return st, err
}

// create writes the three rows in one durable transaction.
func (f *floorSQLite) create(ctx context.Context, r *floorRows) error {
	tx, err := f.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after the commit it has nothing to say
	for i, args := range [][]any{r.requestArgs(), r.eventArgs(), r.auditArgs()} {
		for k := range args {
			if b, ok := args[k].([]byte); ok {
				args[k] = string(b) // JSON is text there
			}
		}
		if _, err := tx.StmtContext(ctx, f.inserts[i]).ExecContext(ctx, args...); err != nil { //nolint:sqlclosecheck // the transaction ends it
			return err
		}
	}
	return tx.Commit()
}

// floorPostgres sends what row-level security needs and the statements in one batch: one round trip, one transaction.
type floorPostgres struct {
	company string
	pool    *pgxpool.Pool
}

const (
	floorBind = "SELECT set_config('app.company_id', $1, true)"
	floorGet  = "SELECT " + floorColumns + " FROM requests WHERE id = $1 AND company_id = $2"
)

var floorInserts = [3]string{numbered(floorInsertRequest), numbered(floorInsertEvent), numbered(floorInsertAudit)}

// numbered turns ? into $1, $2, ….
func numbered(query string) string {
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(query, "?") {
		if n > 0 {
			b.WriteString("$" + strconv.Itoa(n))
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}

func openFloorPostgres(ctx context.Context, w *world) (floorDB, error) {
	cfg, err := pgxpool.ParseConfig(w.DatabaseURL)
	if err != nil {
		return nil, errors.New("the database URL cannot be parsed")
	}
	cfg.MaxConns = 16 // as the product's
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
func (f *floorPostgres) read(ctx context.Context, limit int, query string, args ...any) (out []*floorRequest, err error) {
	b := &pgx.Batch{}
	b.Queue(floorBind, f.company)
	b.Queue(query, args...)
	br := f.pool.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, br.Close()) }()
	if _, err := br.Exec(); err != nil {
		return nil, err
	}
	rows, err := br.Query()
	if err != nil {
		return nil, err
	}
	out = make([]*floorRequest, 0, limit)
	for rows.Next() {
		r, err := scanRow(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

func (f *floorPostgres) get(ctx context.Context, id string) (*floorRequest, error) {
	rows, err := f.read(ctx, 1, floorGet, id, f.company)
	if err != nil || len(rows) != 1 {
		return nil, errors.Join(err, fmt.Errorf("%d rows", len(rows)))
	}
	return rows[0], nil
}

func (f *floorPostgres) list(ctx context.Context, filter floorFilter) ([]*floorRequest, error) {
	query, args := filter.listSQL()
	return f.read(ctx, filter.limit, numbered(query), append([]any{f.company}, args...)...)
}

// create writes the three rows: in one batch, which is one implicit transaction, or statement by statement.
func (f *floorPostgres) create(ctx context.Context, r *floorRows) error {
	args := [3][]any{r.requestArgs(), r.eventArgs(), r.auditArgs()}
	if r.plain {
		return pgx.BeginFunc(ctx, f.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, floorBind, f.company); err != nil {
				return err
			}
			for i := range floorInserts {
				if _, err := tx.Exec(ctx, floorInserts[i], args[i]...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	b := &pgx.Batch{}
	b.Queue(floorBind, f.company)
	for i := range floorInserts {
		b.Queue(floorInserts[i], args[i]...)
	}
	return f.pool.SendBatch(ctx, b).Close()
}
