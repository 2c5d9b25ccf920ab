package jobs

// River has no API for what this file does, so it holds SQL on River's tables. A node that is killed leaves jobs behind that
// say they are running. River gives them to somebody else after they have been running for too long; here that takes seconds.
// A node that works jobs holds a lock that ends with its process: an advisory lock of a session on PostgreSQL, a lock on a
// file beside a SQLite database. Whoever finds a running job of a node without its lock makes the job available again.

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

// reaper gives the jobs of dead nodes to those that live.
type reaper struct {
	store *store.Store
	log   *slog.Logger
	node  string

	conn *pgx.Conn            // PostgreSQL: holds this node's lock
	dead map[string]time.Time // since when nodes are without theirs
	file *os.File             // SQLite: the lock
	work sync.WaitGroup
	stop context.CancelFunc
}

// newReaper takes this node's lock and looks for dead nodes until close is called. Call it before jobs are worked.
func newReaper(ctx context.Context, s *store.Store, log *slog.Logger, node string) (*reaper, error) {
	r := &reaper{store: s, log: log, node: node, dead: map[string]time.Time{}, stop: func() {}}
	if s.Dialect() != dialect.Postgres {
		if err := r.adopt(ctx); err != nil {
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
		_ = r.conn.Close(ctx) // the lock goes with it
	}
	if r.file != nil {
		_ = r.file.Close() // likewise
	}
}

// lock opens a connection of its own and takes the node's lock on it.
func (r *reaper) lock(ctx context.Context) error {
	pooled, err := r.store.Pool().Acquire(ctx)
	if err != nil {
		return fmt.Errorf("open the connection of the node's lock: %w", err)
	}
	r.conn = pooled.Hijack()
	if _, err := r.conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 7461))", r.node); err != nil {
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
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		lctx, cancel := context.WithTimeout(ctx, lookTimeout)
		err := r.look(lctx)
		if err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "jobs of dead nodes could not be looked for", "error", err)
			if r.conn != nil {
				_ = r.drop(lctx) // it may be the connection
			}
		}
		cancel()
	}
}

// deadNodes are those that have running jobs and no lock.
const deadNodes = `SELECT DISTINCT node FROM (SELECT attempted_by[array_upper(attempted_by, 1)] AS node FROM river_job WHERE state = 'running') AS running
	WHERE node LIKE $1 AND NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
		AND ((classid::bigint << 32) | objid::bigint) = hashtextextended(node, 7461))`

// look gives away the jobs of nodes that have been dead for a while.
func (r *reaper) look(ctx context.Context) error {
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
		if time.Since(since) < orphanGrace {
			continue
		}
		if err := r.reap(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// reap makes the jobs that a dead node was working available.
func (r *reaper) reap(ctx context.Context, node string) error {
	tag, err := r.conn.Exec(ctx, `UPDATE river_job SET state = 'available', scheduled_at = now(),
		errors = array_append(errors, jsonb_build_object('at', attempted_at, 'attempt', attempt, 'error', $2::text, 'trace', ''))
		WHERE state = 'running' AND attempted_by[array_upper(attempted_by, 1)] = $1`, node, Orphaned+"the node "+node+" died")
	if err != nil {
		return fmt.Errorf("give away a dead node's jobs: %w", err)
	}
	r.log.WarnContext(ctx, "a node has died: its jobs go to others", "node", node, "jobs", tag.RowsAffected())
	return nil
}

// adopt makes the running jobs of a SQLite database available, unless another process that works jobs is alive.
func (r *reaper) adopt(ctx context.Context) error {
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
		_, err := tx.SQL().ExecContext(ctx, `UPDATE river_job SET state = 'available', scheduled_at = datetime('now', 'subsec'),
			errors = jsonb(json_insert(json(coalesce(errors, jsonb('[]'))), '$[#]',
				json_object('at', strftime('%Y-%m-%dT%H:%M:%fZ', attempted_at), 'attempt', attempt, 'error', @error, 'trace', '')))
			WHERE state = 'running'`, sql.Named("error", Orphaned+"the process died"))
		return err
	})
	if err != nil {
		return fmt.Errorf("take over the jobs of a dead process: %w", err)
	}
	return nil
}
