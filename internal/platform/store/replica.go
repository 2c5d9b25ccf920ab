package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"atrium/ent"
)

const (
	replicaCheck   = 250 * time.Millisecond // interval between checks of whether the replica keeps up
	replicaSilence = time.Second            // how long the replica may leave all calls unanswered
)

// askPosition returns the primary's timeline and the log position that a replica must have replayed to hold all that is
// committed. That is the flushed position, because commits wait for the flush, unless synchronous_commit is off.
const askPosition = `SELECT substr(pg_walfile_name(p.lsn), 1, 8), p.lsn::text FROM (SELECT CASE current_setting('synchronous_commit')
	WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END) AS p (lsn)`

// awaitPosition waits on the replica until it has replayed the position: 50 checks, 1 ms apart. If it has not by then, the
// statement fails with a division by zero, so that the server skips the statements sent after it. It also fails on a server that
// is no longer a replica, and on one whose timeline differs because it has not followed a failover.
const awaitPosition = `SELECT 1 / count(*) FROM (SELECT FROM generate_series(1, 50) WHERE CASE
	WHEN pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= $2::pg_lsn
		AND (SELECT lpad(upper(to_hex(timeline_id)), 8, '0') FROM pg_control_checkpoint()) = $1 THEN true
	ELSE pg_sleep(0.001) IS NULL END LIMIT 1) AS reached`

// divisionByZero is PostgreSQL's error code for the failure of awaitPosition.
const divisionByZero = "22012"

// errBehind means that the replica has not replayed the position that a read needs.
var errBehind = errors.New("store: the replica is behind")

// position is a position in the primary's log.
type position struct{ timeline, lsn string }

type positionKey struct{}

// replica is a streaming replica that serves reads while it keeps up.
type replica struct {
	client    *ent.Client
	pool      *pgxpool.Pool
	primary   pgReader
	heartbeat *heartbeat

	inUse           atomic.Bool
	lastCaughtUp    atomic.Int64 // when a check last succeeded, in Unix nanoseconds
	answered        atomic.Int64 // reads that it answered
	servedByPrimary atomic.Int64 // reads that the primary answered instead

	mu   sync.Mutex
	next *positionQuery // not sent yet
	turn sync.Mutex     // held while a query is being answered
}

// positionQuery is one query for the primary's position. All reads that began before it was sent share its answer.
type positionQuery struct {
	answered chan struct{}
	at       position
	err      error
}

// openReplica prepares the pool without connecting: a node starts even if the replica is down.
func openReplica(ctx context.Context, url string, like *pgxpool.Config, primary pgReader) (*replica, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the read URL cannot be parsed") // pgx's error would contain the password
	}
	dropLeft(cfg)
	cfg.MaxConns = like.MaxConns
	cfg.ConnConfig.ConnectTimeout = cmp.Or(cfg.ConnConfig.ConnectTimeout, replicaSilence)
	for name, value := range like.ConnConfig.RuntimeParams {
		cfg.ConnConfig.RuntimeParams[name] = value
	}
	cfg.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed" // a snapshot for each statement: after the wait
	r := &replica{primary: primary, heartbeat: newHeartbeat(replicaSilence)}
	cfg.AfterConnect = r.sameCluster
	if r.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("the read URL: %w", err), r.heartbeat.close())
	}
	r.client = ent.NewClient(ent.Driver(pgReader{pool: r.pool, heartbeat: r.heartbeat, replica: true}))
	r.lastCaughtUp.Store(time.Now().UnixNano())
	return r, nil
}

// sameCluster refuses a server that is not a copy of the primary: its log positions are not comparable.
func (r *replica) sameCluster(ctx context.Context, conn *pgx.Conn) error {
	const identity = "SELECT system_identifier FROM pg_control_system()"
	ctx, cancel := context.WithTimeout(ctx, replicaSilence)
	defer cancel()
	var here, there int64
	err := conn.QueryRow(ctx, identity).Scan(&here)
	if err == nil {
		err = r.primary.pool.QueryRow(ctx, identity).Scan(&there)
	}
	if err != nil {
		return fmt.Errorf("%w: %v", errNoAnswer, err) //nolint:errorlint // its deadline is not the caller's
	}
	if here != there {
		return errors.New("the read URL leads to a server that is no replica of the database")
	}
	return nil
}

// position returns the position that the replica must have replayed to hold all that was committed before the call.
func (r *replica) position(ctx context.Context) (position, error) {
	r.mu.Lock()
	if q := r.next; q != nil {
		r.mu.Unlock()
		select {
		case <-q.answered:
			return q.at, q.err
		case <-ctx.Done():
			return position{}, ctx.Err()
		}
	}
	q := &positionQuery{answered: make(chan struct{})}
	r.next = q
	r.mu.Unlock()
	r.turn.Lock()
	r.mu.Lock()
	r.next = nil // reads that begin from now on may depend on commits after this query is sent
	r.mu.Unlock()
	q.at, q.err = r.ask(context.WithoutCancel(ctx)) // other reads wait for the answer, too
	r.turn.Unlock()
	close(q.answered)
	return q.at, q.err
}

func (r *replica) ask(ctx context.Context) (at position, err error) {
	ctx, cancel := r.primary.heartbeat.bound(ctx)
	defer cancel()
	err = r.primary.pool.QueryRow(ctx, askPosition).Scan(&at.timeline, &at.lsn)
	return at, wrapNoAnswer(ctx, err)
}

// Read runs fn with a read client, on the replica if it keeps up. If the replica fails, fn runs again on the primary, so fn must
// have no side effects. The client sees all that was committed before the call, by any node. Use it only for reads of a company's
// rows; use Reader for anything that decides access. Returns fn's error.
func (s *Store) Read(ctx context.Context, fn func(context.Context, *ent.Client) error) error {
	r := s.replica
	if r == nil {
		return fn(ctx, s.reader)
	}
	if r.inUse.Load() {
		if at, err := r.position(ctx); err == nil {
			err = fn(context.WithValue(ctx, positionKey{}, at), r.client)
			if err == nil {
				r.answered.Add(1)
				return nil
			}
			if ctx.Err() != nil || late(err) {
				return err // the primary would not finish in time either
			}
			if errors.Is(err, errBehind) || IsUnavailable(err) {
				r.inUse.Store(false) // until the next check that succeeds
			}
		}
	}
	r.servedByPrimary.Add(1)
	return fn(ctx, s.reader)
}

// late reports whether a statement exceeded a deadline of the caller's own.
func late(err error) bool {
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return errors.Is(err, context.DeadlineExceeded) && !connecting
}

// FollowReplica checks the replica regularly and sends reads to it while it keeps up, until ctx ends. Without FollowReplica no
// reads go to the replica.
func (s *Store) FollowReplica(ctx context.Context, log *slog.Logger) error {
	r := s.replica
	if r == nil {
		<-ctx.Done()
		return nil
	}
	defer r.inUse.Store(false)
	tick := time.NewTicker(replicaCheck)
	defer tick.Stop()
	for said := ""; ; {
		began := time.Now()
		err := r.check(ctx)
		if r.inUse.Store(err == nil); err == nil {
			r.lastCaughtUp.Store(began.UnixNano())
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errBehind): // changes with the load; see the metrics
		case err != nil && said != err.Error():
			said = err.Error()
			log.WarnContext(ctx, "the primary answers the replica's reads", "error", err)
		case err == nil && said != "":
			said = ""
			log.InfoContext(ctx, "the replica keeps up again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// check returns an error if the replica does not answer or does not keep up.
func (r *replica) check(ctx context.Context) error {
	at, err := r.position(ctx)
	if err != nil {
		return fmt.Errorf("ask the primary for its position: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, replicaSilence)
	defer cancel()
	_, err = r.pool.Exec(ctx, awaitPosition, at.timeline, at.lsn)
	if err = asBehind(err); err == nil || errors.Is(err, errBehind) {
		r.heartbeat.answered()
	}
	return err
}

// asBehind turns awaitPosition's failure into errBehind; other errors stay as they are.
func asBehind(err error) error {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok && pgErr.Code == divisionByZero {
		return errBehind
	}
	return err
}

// CheckReplica returns an error that says how far the replica is behind, or why that is unknown. It returns nil if the replica
// keeps up or there is none.
func (s *Store) CheckReplica(ctx context.Context) error {
	r := s.replica
	if r == nil {
		return nil
	}
	err := r.check(ctx)
	if !errors.Is(err, errBehind) {
		return err
	}
	var ago *float64
	var replica bool
	const lag = "SELECT extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8, pg_is_in_recovery()"
	if err := r.pool.QueryRow(ctx, lag).Scan(&ago, &replica); err != nil {
		return err
	}
	switch {
	case !replica:
		return errors.New("the read URL leads to a server that replays no log: the primary, or a replica that was promoted")
	case ago == nil:
		return err
	}
	return fmt.Errorf("it is %s behind", (time.Duration(*ago * float64(time.Second))).Round(time.Millisecond))
}

// ReplicaReads returns the number of reads that the replica and the primary answered, and for how long the replica has not kept
// up.
func (s *Store) ReplicaReads() (answered, handedOn int64, behind time.Duration) {
	r := s.replica
	if r == nil {
		return 0, 0, 0
	}
	if !r.inUse.Load() {
		behind = time.Since(time.Unix(0, r.lastCaughtUp.Load()))
	}
	return r.answered.Load(), r.servedByPrimary.Load(), behind
}
