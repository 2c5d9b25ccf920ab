package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"atrium/ent"
	"atrium/internal/platform/principal"
)

// allCompanies is the value of app.company_id for which row-level security shows the rows of all companies.
const allCompanies = "*"

// setCompany binds the transaction to the caller's company, for row-level security.
const setCompany = "SELECT set_config('app.company_id', $1, true)"

// bindSession is setCompany for a connection of the read pool, which stays bound until it serves another company.
const bindSession = "SELECT set_config('app.company_id', $1, false)"

func openPostgres(ctx context.Context, o Options) (*Store, error) {
	cfg, err := pgxpool.ParseConfig(o.DatabaseURL)
	if err != nil {
		return nil, errors.New("the database URL cannot be parsed") // pgx's error would contain the password
	}
	cfg.MaxConns = 16
	if o.MaxConns > 0 {
		cfg.MaxConns = int32(o.MaxConns)
	}
	cfg.ConnConfig.ConnectTimeout = cmp.Or(cfg.ConnConfig.ConnectTimeout, connectTimeout)
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	cfg.ConnConfig.RuntimeParams["application_name"] = "atrium"
	cfg.ConnConfig.RuntimeParams["jit"] = "off" // to compile a statement took up to 90 ms of searches that take 40
	dropLeft(cfg)
	pool, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := &Store{dialect: dialect.Postgres, clock: o.Clock, pool: pool}
	s.closers = append(s.closers, func() error { pool.Close(); return nil })
	readCfg := cfg.Copy()
	readCfg.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	readPool, err := connect(ctx, readCfg)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.closers = append(s.closers, func() error { readPool.Close(); return nil })
	s.heartbeat = newHeartbeat(maxNoAnswer)
	s.closers = append(s.closers, s.heartbeat.close)
	reader := pgReader{pool: readPool, heartbeat: s.heartbeat}
	s.reader = ent.NewClient(ent.Driver(reader))
	if o.ReadURL != "" {
		if s.replica, err = openReplica(ctx, o.ReadURL, readCfg, reader); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.closers = append(s.closers, func() error { s.replica.pool.Close(); return nil }, s.replica.heartbeat.close)
	}
	s.begin = pgWriter{pool, s.heartbeat, cmp.Or(o.WriteTime, maxWriteTime)}
	// What ended the watch's connection, as a restart of the server does, has ended the idle ones of the pools as well. Without this,
	// each would fail one call after the database is back.
	reset := func() { pool.Reset(); readPool.Reset() }
	s.watch = newWatch(&pgSignal{cfg: cfg.ConnConfig, heartbeat: s.heartbeat, lost: reset})
	s.closers = append(s.closers, s.watch.close)
	return s, nil
}

// connect opens a pool and waits until it answers.
func connect(ctx context.Context, cfg *pgxpool.Config) (*pgxpool.Pool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to postgres: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connect to postgres: %w", err)
	}
	return pool, nil
}

// companyOf returns the value of app.company_id for the context's principal. Without a principal it returns "", which owns no
// rows.
func companyOf(ctx context.Context) string {
	p, ok := principal.From(ctx)
	if !ok {
		return ""
	}
	if _, bypass := p.Bypass(); bypass {
		return allCompanies
	}
	return p.CompanyID
}

// pgReader is the Ent driver for reads. It remembers which company each connection is bound to. A query for the same company is
// sent alone; a query for another one is sent with the new binding, in one round trip and one implicit transaction.
type pgReader struct {
	pool      *pgxpool.Pool
	heartbeat *heartbeat
	replica   bool // queries first wait until the replica has replayed the position in their context
}

// boundCompany is the key under which a connection stores the company it is bound to. If it is missing, the binding is unknown.
const boundCompany = "atrium.company"

func (d pgReader) Query(ctx context.Context, query string, args, v any) error {
	argv, out, err := queryArgs(args, v)
	if err != nil {
		return err
	}
	ctx, cancel := d.heartbeat.bound(ctx)
	rows, end, err := d.query(ctx, query, argv)
	if err != nil {
		cancel()
		return wrapNoAnswer(ctx, err)
	}
	*out = entsql.Rows{ColumnScanner: counted(ctx, &pgRows{Rows: rows, ctx: ctx, end: func() error {
		defer cancel()
		err := end()
		if err == nil && rows.Err() == nil {
			d.heartbeat.recordResponse()
		}
		return err
	}})}
	return nil
}

// query sends a query; end returns the connection to the pool.
func (d pgReader) query(ctx context.Context, query string, argv []any) (rows pgx.Rows, end func() error, err error) {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("acquire a connection: %w", err)
	}
	company, notes := companyOf(ctx), conn.Conn().PgConn().CustomData()
	at, placed := ctx.Value(positionKey{}).(position)
	if d.replica && !placed {
		conn.Release()
		return nil, nil, errors.New("store: the replica is read by Read alone")
	}
	if bound, known := notes[boundCompany]; known && bound == company && !d.replica {
		rows, err := conn.Query(ctx, query, argv...)
		if err != nil {
			conn.Release()
			return nil, nil, err
		}
		return rows, func() error { conn.Release(); return nil }, nil
	}
	delete(notes, boundCompany) // unknown until the transaction that binds it has succeeded
	batch := &pgx.Batch{}
	batch.Queue(bindSession, company)
	if d.replica {
		batch.Queue(awaitPosition, at.timeline, at.lsn)
	}
	batch.Queue(query, argv...)
	br := conn.SendBatch(ctx, batch)
	end = func() error {
		err := br.Close()
		if err == nil {
			notes[boundCompany] = company
		}
		conn.Release()
		return err
	}
	if _, err := br.Exec(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("bind the company: %w", err), end())
	}
	if d.replica {
		if _, err := br.Exec(); err != nil {
			_ = end() // repeats the batch's error
			return nil, nil, asBehind(err)
		}
	}
	rows, err = br.Query()
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return rows, end, nil
}

func (d pgReader) Exec(context.Context, string, any, any) error { return errReadOnly }
func (d pgReader) Tx(context.Context) (dialect.Tx, error)       { return nil, errReadOnly }
func (d pgReader) Close() error                                 { return nil }
func (d pgReader) Dialect() string                              { return dialect.Postgres }

// queryArgs checks the types of the arguments that dialect.Driver passes to Query.
func queryArgs(args, v any) ([]any, *entsql.Rows, error) {
	argv, ok := args.([]any)
	if !ok {
		return nil, nil, fmt.Errorf("store: invalid type %T for args", args)
	}
	out, ok := v.(*entsql.Rows)
	if !ok {
		return nil, nil, fmt.Errorf("store: invalid type %T for rows", v)
	}
	return argv, out, nil
}

// pgRows adapts pgx's rows to the interface that Ent scans.
type pgRows struct {
	pgx.Rows
	ctx context.Context // the context of the query
	end func() error
}

// Err returns the error that ended the rows early.
func (r *pgRows) Err() error { return wrapNoAnswer(r.ctx, r.Rows.Err()) }

// Scan fills dest. Ent scans the ids of a bulk insert into *driver.Value, which pgx does not know.
func (r *pgRows) Scan(dest ...any) error {
	for i, d := range dest {
		if v, ok := d.(*driver.Value); ok {
			dest[i] = (*any)(v)
		}
	}
	return r.Rows.Scan(dest...)
}

func (r *pgRows) Close() error {
	r.Rows.Close()
	err := r.Err()
	if r.end != nil {
		err = errors.Join(err, wrapNoAnswer(r.ctx, r.end()))
		r.end = nil
	}
	return err
}

func (r *pgRows) Columns() ([]string, error) {
	fields := r.FieldDescriptions()
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return names, nil
}

func (r *pgRows) ColumnTypes() ([]*sql.ColumnType, error) {
	return nil, errors.New("store: column types are not known here")
}

func (r *pgRows) NextResultSet() bool { return false }
