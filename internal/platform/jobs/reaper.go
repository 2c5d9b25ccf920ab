package jobs

// A killed node leaves jobs behind in the state running. River alone would rescue them after they have been running for too long; the reaper does it within seconds. A node
// that works jobs holds a lock that ends with its process: a session's advisory lock on PostgreSQL, a lock on a file beside a
// SQLite database. Every node looks for running jobs whose node does not hold its lock, and makes them available again.

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

	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Orphaned begins the error that a job gets when its node died during the attempt. Nobody knows how much of the work was done.
const Orphaned = "orphaned: "

const (
	nodePrefix  = "node"
	lookTimeout = 10 * time.Second
)

// newNodeID returns a readable id for a process that works jobs: node_…_host.
func newNodeID() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return strings.TrimSuffix(id.New(nodePrefix)+"_"+host[:min(len(host), 40)], "_")
}

// reaper makes the jobs of dead nodes available to living ones.
type reaper struct {
	store *store.Store
	log   *slog.Logger
	node  string
	reap  reap

	conn *pgx.Conn            // PostgreSQL: the connection that holds this node's lock
	dead map[string]time.Time // nodes without their lock, and since when
	file *os.File             // SQLite: the locked file
	work sync.WaitGroup
	stop context.CancelFunc
}

// newReaper takes this node's lock and, on PostgreSQL, looks for dead nodes until close is called. Call it before jobs are
// worked.
func newReaper(ctx context.Context, s *store.Store, log *slog.Logger, node string, at reap) (*reaper, error) {
	r := &reaper{store: s, log: log, node: node, reap: at, dead: map[string]time.Time{}, stop: func() {}}
	if s.Dialect() != dialect.Postgres {
		if err := r.recoverOrphans(ctx); err != nil {
			r.close()
			return nil, err
		}
		return r, nil
	}
	lctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if err := r.lock(lctx); err != nil {
		return nil, err
	}
	wctx, stop := context.WithCancel(ctx)
	r.stop = stop
	r.work.Go(func() { r.watch(wctx) })
	return r, nil
}

func (r *reaper) close() {
	r.stop()
	r.work.Wait()
	if r.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = r.conn.Close(ctx) // this releases the lock
	}
	if r.file != nil {
		_ = r.file.Close() // this releases the lock
	}
}

// lock opens a connection that only holds the node's lock, and takes the lock on it.
func (r *reaper) lock(ctx context.Context) error {
	pooled, err := r.store.Pool().Acquire(ctx)
	if err != nil {
		return fmt.Errorf("open the connection of the node's lock: %w", err)
	}
	r.conn = pooled.Hijack()
	if _, err := r.conn.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_lock(hashtextextended($1, %d))", nodeSeed), r.node); err != nil {
		return errors.Join(fmt.Errorf("take the node's lock: %w", err), r.drop(ctx))
	}
	return nil
}

func (r *reaper) drop(ctx context.Context) error {
	err := r.conn.Close(ctx)
	r.conn = nil
	return err
}

// watch looks for dead nodes until ctx ends.
func (r *reaper) watch(ctx context.Context) {
	tick := time.NewTicker(r.reap.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		lctx, cancel := context.WithTimeout(ctx, lookTimeout)
		err := r.findDead(lctx)
		if err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "jobs of dead nodes could not be looked for", "error", err)
			if r.conn != nil {
				_ = r.drop(lctx) // the connection may be the cause
			}
		}
		cancel()
	}
}

// nodeSeed keeps the nodes' locks apart from those of store.LockName, whose seed is 0.
const nodeSeed = 7461

// findDead makes the jobs of nodes available that have been dead for longer than the grace.
func (r *reaper) findDead(ctx context.Context) error {
	if r.conn == nil {
		if err := r.lock(ctx); err != nil {
			return err
		}
	}
	rows, err := r.conn.Query(ctx, deadNodes, nodePrefix+`\_%`)
	if err != nil {
		return fmt.Errorf("list the dead nodes: %w", err)
	}
	nodes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list the dead nodes: %w", err)
	}
	before := r.dead
	r.dead = map[string]time.Time{}
	for _, node := range nodes {
		since, known := before[node]
		if !known {
			since = time.Now()
		}
		r.dead[node] = since
		if time.Since(since) < r.reap.grace {
			continue
		}
		if err := r.giveAway(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// giveAway makes available the jobs that a dead node was working, and adds an error to each.
func (r *reaper) giveAway(ctx context.Context, node string) error {
	tag, err := r.conn.Exec(ctx, reapPostgres, node, Orphaned+"the node "+node+" died")
	if err != nil {
		return fmt.Errorf("give away a dead node's jobs: %w", err)
	}
	wakeAll(placeOf(r.store))
	r.log.WarnContext(ctx, "a node has died: its jobs go to others", "node", node, "jobs", tag.RowsAffected())
	return nil
}

// recoverOrphans takes the lock of a SQLite database and makes its running jobs available, unless another living process holds the lock.
func (r *reaper) recoverOrphans(ctx context.Context) error {
	file, alone, err := lockFile(r.store.Path() + "-jobs")
	if err != nil {
		return fmt.Errorf("lock the job queue: %w", err)
	}
	r.file = file
	if !alone {
		return nil
	}
	ctx = principal.System(ctx, "jobs belong to the installation")
	err = r.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.SQL().ExecContext(ctx, reapSQLite, sql.Named("error", Orphaned+"the process died"))
		return err
	})
	if err != nil {
		return fmt.Errorf("take over the jobs of a dead process: %w", err)
	}
	return nil
}
