package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// noteArgs is a job that the test's worker passes to the test.
type noteArgs struct {
	Text string `json:"text"`
}

func (noteArgs) Kind() string                 { return "note" }
func (noteArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: "notes"} }

type noter struct {
	river.WorkerDefaults[noteArgs]
	got chan *river.Job[noteArgs]
}

func (n noter) Work(_ context.Context, j *river.Job[noteArgs]) error {
	n.got <- j
	return nil
}

// running starts a queue that works notes until the test ends.
func running(t *testing.T, s *store.Store, queue string) (*jobs.Queue, noter) {
	t.Helper()
	return working(t, s, jobs.NamedQueue(queue, 10))
}

func working(t *testing.T, s *store.Store, apart jobs.Option) (*jobs.Queue, noter) {
	t.Helper()
	n := noter{got: make(chan *river.Job[noteArgs], 100)}
	q, err := jobs.New(s, slog.New(slog.DiscardHandler), true, jobs.Work(n), apart)
	require.NoError(t, err)
	testkit.RunQueue(t, q)
	return q, n
}

func (n noter) await(t *testing.T) *river.Job[noteArgs] {
	t.Helper()
	select {
	case j := <-n.got:
		return j
	case <-time.After(30 * time.Second):
		require.FailNow(t, "the job does not run")
		return nil
	}
}

// A job is worked right after its commit, by the process that inserted it and, when a node that works no jobs inserted it, by
// another one. Polling is off here, so only the notification can cause this.
func TestJobsAreWorkedRightAfterTheCommit(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		q, n := working(t, w.Store, jobs.Unpolled("notes", 10))
		from, sender := w.Store, q
		if w.Store.Dialect() == dialect.Postgres {
			other, err := store.Open(t.Context(), store.Options{DatabaseURL: w.Store.Pool().Config().ConnString(), MaxConns: 4})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, other.Close()) })
			from, sender = other, queue(t, &testkit.World{Store: other}, false)
			t.Cleanup(func() { require.NoError(t, sender.Close()) })
		}
		for listening := false; !listening; {
			insert(t, w.Store, q, "warm up")
			select {
			case <-n.got:
				listening = true
			case <-time.After(20 * jobs.FetchCooldown):
			}
		}
		for i := range 20 {
			time.Sleep(2 * jobs.FetchCooldown) // jobs of a node that works none share a notification if they follow sooner
			text := fmt.Sprint("job ", i)
			if i%2 == 0 {
				insert(t, w.Store, q, text)
			} else {
				insert(t, from, sender, text)
			}
			for n.await(t).Args.Text != text { // skips jobs left over from warming up
			}
		}
	})
}

func insert(t *testing.T, s *store.Store, q *jobs.Queue, text string) {
	t.Helper()
	require.NoError(t, s.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		return q.InsertTx(ctx, tx, noteArgs{Text: text}, time.Time{})
	}))
}

// Jobs that follow each other faster than River notifies are all worked at once, also those whose transactions end after the look
// that the first one caused; and jobs that are put off for less than ShortWait are worked when they are due. Nothing is polled here.
func TestNothingIsPolled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		q, n := working(t, w.Store, jobs.All(jobs.Unpolled("notes", 10), jobs.Work(&putOffWorker{}), jobs.Unpolled("later", 10)))
		insert(t, w.Store, q, "0")
		n.await(t)
		for i := range 40 {
			require.NoError(t, w.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
				err := q.InsertTx(ctx, tx, noteArgs{Text: fmt.Sprint(i)}, time.Time{})
				time.Sleep(time.Duration(i%4) * jobs.FetchCooldown / 2)
				return err
			}))
		}
		for range 40 {
			n.await(t)
		}
		for _, how := range []string{"snooze", "fail"} {
			done := make(chan time.Duration, 1)
			args := putOffArgs{How: how, ID: putOffs.add(done)}
			require.NoError(t, w.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
				return q.InsertTx(ctx, tx, args, time.Time{})
			}))
			select {
			case late := <-done:
				require.Less(t, late, 2*time.Second, how)
			case <-time.After(30 * time.Second):
				require.FailNow(t, "it is not worked again", how)
			}
		}
	})
}

// putOffArgs is a job that is put off once, and says how long after its time it is worked.
type putOffArgs struct {
	How string `json:"how"`
	ID  int    `json:"id"`
}

func (putOffArgs) Kind() string                 { return "put_off" }
func (putOffArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: "later"} }

type putOffWorker struct {
	river.WorkerDefaults[putOffArgs]
}

func (putOffWorker) Work(_ context.Context, j *river.Job[putOffArgs]) error {
	first := j.Attempt == 1 && len(j.Errors) == 0 && j.ScheduledAt.Sub(j.CreatedAt) < 300*time.Millisecond
	switch {
	case first && j.Args.How == "snooze":
		return river.JobSnooze(400 * time.Millisecond)
	case first:
		return errors.New("not yet")
	}
	putOffs.get(j.Args.ID) <- time.Since(j.ScheduledAt)
	return nil
}

// putOffs are where the jobs of putOffWorker answer.
var putOffs answers

type answers struct {
	mu  sync.Mutex
	all []chan time.Duration
}

func (a *answers) add(c chan time.Duration) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, c)
	return len(a.all) - 1
}

func (a *answers) get(i int) chan time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[i]
}

// abandon inserts a job in the state running, attempted by a given node.
func abandon(t *testing.T, w *testkit.World, q *jobs.Queue, node, text string) {
	t.Helper()
	insert(t, w.Store, q, text)
	set := "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = %now%, attempted_by = %by% WHERE kind = 'note' AND state = 'available'"
	if w.Store.Dialect() == dialect.Postgres {
		_, err := w.Store.Pool().Exec(t.Context(), strings.NewReplacer("%now%", "now()", "%by%", "ARRAY['"+node+"']").Replace(set))
		require.NoError(t, err)
		return
	}
	db, err := store.OpenSQLiteFile(w.Store.Path())
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), strings.NewReplacer("%now%", "datetime('now', 'subsec')", "%by%", "jsonb('[\""+node+"\"]')").Replace(set))
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

// Another node works the jobs of a dead node, and the job's error says that its node died.
func TestJobsOfADeadNode(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		idle := queue(t, w, false)
		abandon(t, w, idle, "node_dead_host", "abandoned")
		require.NoError(t, idle.Close())
		_, n := running(t, w.Store, "notes")
		j := n.await(t)
		require.Equal(t, "abandoned", j.Args.Text)
		require.Equal(t, 2, j.Attempt)
		require.Len(t, j.Errors, 1)
		require.True(t, strings.HasPrefix(j.Errors[0].Error, jobs.Orphaned), j.Errors[0].Error)
		require.WithinDuration(t, time.Now(), j.Errors[0].At, time.Minute)
	})
}

// A living node keeps its jobs, however long they run.
func TestJobsOfALivingNode(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		w := testkit.PostgresWorld(t)
		conn, err := w.Store.Pool().Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		_, err = conn.Exec(t.Context(), "SELECT pg_advisory_lock(hashtextextended('node_alive_host', 7461))") // nodeSeed
		require.NoError(t, err)
		idle := queue(t, w, false)
		abandon(t, w, idle, "node_alive_host", "kept")
		abandon(t, w, idle, "node_dead_host", "abandoned")
		require.NoError(t, idle.Close())
		_, n := running(t, w.Store, "notes")
		require.Equal(t, "abandoned", n.await(t).Args.Text, "the dead node's comes after the grace")
		require.Equal(t, 1, queued(t, w, "state = 'running' AND attempted_by = ARRAY['node_alive_host']"))
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		w := testkit.SQLiteWorld(t)
		running(t, w.Store, "others")
		idle := queue(t, w, false)
		abandon(t, w, idle, "node_alive_host", "kept")
		require.NoError(t, idle.Close())
		q, n := running(t, w.Store, "notes")
		insert(t, w.Store, q, "new")
		require.Equal(t, "new", n.await(t).Args.Text)
		require.Equal(t, 1, queued(t, w, "state = 'running' AND json_extract(args, '$.text') = 'kept'"))
	})
}
