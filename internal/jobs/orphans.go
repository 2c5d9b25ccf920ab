package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5"

	"atrium/internal/id"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// A node that is killed leaves jobs behind that say they are running. River gives them to somebody else after they have
// been running for too long; here that takes seconds. A node that works jobs holds a lock which ends with its process:
// an advisory lock of a session on PostgreSQL, a lock on a file beside a SQLite database. Whoever finds a running job
// of a node without its lock makes the job available again.

// Orphaned begins the error that a job gets when the node died that was working it: nobody knows how far it came.
const Orphaned = "orphaned: "

const (
	nodePrefix  = "node"
	lookEvery   = 2 * time.Second // for nodes that have died
	orphanGrace = 5 * time.Second // without its lock, until a node counts as dead: its connection may have broken
	lookTimeout = 10 * time.Second
)

// newNodeID names a process that works jobs, readably: node_…_host.
func newNodeID() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return strings.TrimSuffix(id.New(nodePrefix)+"_"+host[:min(len(host), 40)], "_")
}

// orphans gives the jobs of dead nodes to those that live.
type orphans struct {
	store *store.Store
	log   *slog.Logger
	node  string

	conn *pgx.Conn            // PostgreSQL: holds this node's lock
	dead map[string]time.Time // since when nodes are without theirs
	file *os.File             // SQLite: the lock
	work sync.WaitGroup
	stop context.CancelFunc
}

// watchOrphans takes this node's lock and looks for dead nodes until close is called. Call it before jobs are worked.
func watchOrphans(ctx context.Context, s *store.Store, log *slog.Logger, node string) (*orphans, error) {
	o := &orphans{store: s, log: log, node: node, dead: map[string]time.Time{}, stop: func() {}}
	if s.Dialect() != dialect.Postgres {
		if err := o.adopt(ctx); err != nil {
			o.close()
			return nil, err
		}
		return o, nil
	}
	lctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if err := o.lock(lctx); err != nil {
		return nil, err
	}
	wctx, stop := context.WithCancel(ctx)
	o.stop = stop
	o.work.Go(func() { o.watch(wctx) })
	return o, nil
}

func (o *orphans) close() {
	o.stop()
	o.work.Wait()
	if o.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = o.conn.Close(ctx) // the lock goes with it
	}
	if o.file != nil {
		_ = o.file.Close() // likewise
	}
}

const lockKey = "hashtextextended($1, 7461)" // of a node's advisory lock

// lock opens a connection of its own and takes the node's lock on it.
func (o *orphans) lock(ctx context.Context) error {
	pooled, err := o.store.Pool().Acquire(ctx)
	if err != nil {
		return fmt.Errorf("open the connection of the node's lock: %w", err)
	}
	o.conn = pooled.Hijack()
	if _, err := o.conn.Exec(ctx, "SELECT pg_advisory_lock("+lockKey+")", o.node); err != nil {
		return errors.Join(fmt.Errorf("take the node's lock: %w", err), o.drop(ctx))
	}
	return nil
}

func (o *orphans) drop(ctx context.Context) error {
	err := o.conn.Close(ctx)
	o.conn = nil
	return err //nolint:wrapcheck // a connection that is given up
}

// watch looks for dead nodes until ctx ends.
func (o *orphans) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		lctx, cancel := context.WithTimeout(ctx, lookTimeout)
		err := o.look(lctx)
		if err != nil && ctx.Err() == nil {
			o.log.WarnContext(ctx, "jobs of dead nodes could not be looked for", "error", err)
			if o.conn != nil {
				_ = o.drop(lctx) // it may be the connection
			}
		}
		cancel()
	}
}

// look gives away the jobs of nodes that have been dead for a while.
func (o *orphans) look(ctx context.Context) error {
	if o.conn == nil {
		if err := o.lock(ctx); err != nil {
			return err
		}
	}
	rows, err := o.conn.Query(ctx, "SELECT DISTINCT attempted_by[array_upper(attempted_by, 1)] FROM river_job WHERE state = 'running'")
	if err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	nodes, err := pgx.CollectRows(rows, pgx.RowTo[*string])
	if err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	before := o.dead
	o.dead = map[string]time.Time{}
	for _, n := range nodes {
		if n == nil || *n == o.node || !strings.HasPrefix(*n, nodePrefix+"_") {
			continue
		}
		since, known := before[*n]
		if !known {
			since = time.Now()
		}
		if err := o.bury(ctx, *n, since); err != nil {
			return err
		}
	}
	return nil
}

// bury gives a node's jobs away if it has been without its lock for long enough. Only one other node at a time can.
func (o *orphans) bury(ctx context.Context, node string, since time.Time) error {
	var dead bool
	if err := o.conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+lockKey+")", node).Scan(&dead); err != nil {
		return fmt.Errorf("try a node's lock: %w", err)
	}
	if !dead {
		return nil
	}
	var given []string
	var err error
	if time.Since(since) < orphanGrace {
		o.dead[node] = since
	} else {
		given, err = o.give(ctx, node)
	}
	if _, uerr := o.conn.Exec(ctx, "SELECT pg_advisory_unlock("+lockKey+")", node); err == nil && uerr != nil {
		err = fmt.Errorf("let go of a node's lock: %w", uerr)
	}
	if len(given) > 0 {
		o.log.WarnContext(ctx, "a node has died: its jobs go to others", "node", node, "jobs", len(given))
		for _, queue := range given {
			o.store.WakeQueue(queue)
		}
	}
	return err
}

// give makes the jobs that a dead node was working available, and returns their queues.
func (o *orphans) give(ctx context.Context, node string) ([]string, error) {
	rows, err := o.conn.Query(ctx, `UPDATE river_job SET state = 'available', scheduled_at = now(),
		errors = array_append(errors, jsonb_build_object('at', attempted_at, 'attempt', attempt, 'error', $2::text, 'trace', ''))
		WHERE state = 'running' AND attempted_by[array_upper(attempted_by, 1)] = $1 RETURNING queue`, node, Orphaned+"the node "+node+" died")
	if err != nil {
		return nil, fmt.Errorf("give away a dead node's jobs: %w", err)
	}
	queues, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("give away a dead node's jobs: %w", err)
	}
	return queues, nil
}

// adopt makes the running jobs of a SQLite database available, unless another process that works jobs is alive.
func (o *orphans) adopt(ctx context.Context) error {
	file, alone, err := lockFile(o.store.Path() + "-jobs")
	if err != nil {
		return fmt.Errorf("lock the job queue: %w", err)
	}
	o.file = file
	if !alone {
		return nil
	}
	ctx = principal.System(ctx, "jobs belong to the installation")
	err = o.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.SQL().ExecContext(ctx, `UPDATE river_job SET state = 'available', scheduled_at = datetime('now', 'subsec'),
			errors = jsonb(json_insert(json(coalesce(errors, jsonb('[]'))), '$[#]',
				json_object('at', strftime('%Y-%m-%dT%H:%M:%fZ', attempted_at), 'attempt', attempt, 'error', @error, 'trace', '')))
			WHERE state = 'running'`, sql.Named("error", Orphaned+"the process died"))
		return err //nolint:wrapcheck // wrapped below
	})
	if err != nil {
		return fmt.Errorf("take over the jobs of a dead process: %w", err)
	}
	return nil
}
