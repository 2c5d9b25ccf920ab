package execution_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/task"
	"atrium/internal/platform/id"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	run "atrium/internal/workflow/execution"
)

// computed returns a workflow of 20 phases, none of which waits.
func computed() body {
	phases := []body{phase("start", "START", nil)}
	var transitions []body
	for i := range 9 {
		n := fmt.Sprint(i)
		phases = append(phases, phase("data"+n, "DATA", body{"kind": "enrich", "set": body{"n": n}}),
			phase("choose"+n, "DECISION", body{"rules": []body{{"when": "phases.data" + n + ".n == " + n, "transition": "next"}}, "default": "lost"}))
		transitions = append(transitions, body{"from": "choose" + n, "name": "lost", "to": "done"})
	}
	return line(append(phases, phase("done", "END", nil)), transitions...)
}

// small returns a workflow of four phases, as most are.
func small() body {
	return line([]body{
		phase("start", "START", nil), phase("data", "DATA", body{"kind": "enrich", "set": body{"n": "1"}}),
		phase("choose", "DECISION", body{"rules": []body{{"when": "phases.data.n == 1", "transition": "next"}}, "default": "lost"}), phase("done", "END", nil),
	}, body{"from": "choose", "name": "lost", "to": "done"})
}

// called returns a workflow of 20 phases, 18 of which call a server.
func called(to string) body {
	phases := []body{phase("start", "START", nil)}
	for i := range 18 {
		phases = append(phases, phase(fmt.Sprint("call", i), "API_CALL", body{"method": "GET", "url": to}))
	}
	return line(append(phases, phase("done", "END", nil)))
}

// tasked returns a workflow whose first phase is a task.
func tasked() body {
	return line([]body{phase("start", "START", nil), phase("work", "PROCESS", nil), phase("done", "END", nil)})
}

// BenchmarkTransitions measures a burst of executions of 20 phases each, or of four, and, on the same database, the rate at which River
// runs empty jobs.
func BenchmarkTransitions(b *testing.B) {
	sink := receiver.New(b, receiver.Status(http.StatusOK, "{}"))
	for name, definition := range map[string]body{"computed": computed(), "called": called(sink.URL), "small": small()} {
		phases := float64(len(definition["phases"].([]body)))
		b.Run(name, func(b *testing.B) {
			testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
				s := open(b, w, definition)
				floor := s.emptyJobs(b, 3000)
				for range b.N {
					s.file(nil)
				}
				b.ResetTimer()
				began := time.Now()
				s.work()
				s.await(b, execution.StatusCOMPLETED, b.N)
				rate := phases * float64(b.N) / time.Since(began).Seconds()
				b.StopTimer()
				b.ReportMetric(rate, "transitions/s")
				b.ReportMetric(floor, "empty-jobs/s")
				b.ReportMetric(rate/floor, "ratio")
			})
		})
	}
}

// await waits until this many executions have a status.
func (s *shop) await(b *testing.B, status execution.Status, n int) {
	b.Helper()
	for s.Store.Reader().Execution.Query().Where(execution.StatusEQ(status)).CountX(s.ctx) < n {
		time.Sleep(10 * time.Millisecond)
	}
}

type emptyArgs struct{}

func (emptyArgs) Kind() string { return "empty" }

// emptyWorker counts jobs down.
type emptyWorker struct {
	river.WorkerDefaults[emptyArgs]
	left atomic.Int64
	done chan struct{}
}

func (w *emptyWorker) Work(context.Context, *river.Job[emptyArgs]) error {
	if w.left.Add(-1) == 0 {
		close(w.done)
	}
	return nil
}

// emptyJobs returns the number of empty jobs that are worked in a second.
func (s *shop) emptyJobs(b *testing.B, n int) float64 {
	b.Helper()
	list := make([]jobs.Job, n)
	for i := range list {
		list[i] = jobs.Job{Args: emptyArgs{}}
	}
	worker := &emptyWorker{done: make(chan struct{})}
	worker.left.Store(int64(n))
	require.NoError(b, s.Store.Write(s.ctx, func(ctx context.Context, tx *store.Tx) error { return s.Queue.InsertManyTx(ctx, tx, list...) }))
	began := time.Now()
	stop := s.workLogged(io.Discard, jobs.Work(worker))
	<-worker.done
	rate := float64(n) / time.Since(began).Seconds()
	stop()
	return rate
}

// firstTasks files n requests at intervals, and returns for each, in order, the time from the answer until its task was visible.
func (s *shop) firstTasks(b *testing.B, n int, every time.Duration) []time.Duration {
	b.Helper()
	var mu sync.Mutex
	filed := map[string]time.Time{}
	var wg sync.WaitGroup
	began := s.Clock.Now()
	wg.Go(func() {
		for range n {
			wg.Go(func() {
				r := s.file(nil)
				mu.Lock()
				defer mu.Unlock()
				filed[r.ID] = time.Now()
			})
			time.Sleep(every)
		}
	})
	seen := map[string]time.Time{}
	for len(seen) < n {
		since := s.Clock.Now().Add(-time.Second)
		if since.Before(began) {
			since = began
		}
		ids, err := s.Store.Reader().Task.Query().Where(task.CreatedAtGTE(since)).Select(task.FieldRequestID).Strings(s.ctx)
		require.NoError(b, err)
		now := time.Now()
		for _, id := range ids {
			if _, known := seen[id]; !known {
				seen[id] = now
			}
		}
		time.Sleep(time.Millisecond)
	}
	wg.Wait()
	took := make([]time.Duration, 0, n)
	for id, at := range filed {
		took = append(took, max(seen[id].Sub(at), 0))
	}
	slices.Sort(took)
	return took
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// BenchmarkFirstTask measures the time from the answer to a request until its first task, at 100 requests a second, and again with
// 100,000 waiting executions and 10,000 sleeping timers.
func BenchmarkFirstTask(b *testing.B) {
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		s := open(b, w, tasked())
		s.work()
		s.firstTasks(b, 20, 10*time.Millisecond) // warm up
		n := max(b.N, 200)
		alone := s.firstTasks(b, n, 10*time.Millisecond)
		s.wait(b, 100_000)
		s.sleep(b, 10_000)
		s.firstTasks(b, 20, 10*time.Millisecond)
		crowded := s.firstTasks(b, n, 10*time.Millisecond)
		b.ReportMetric(ms(alone[n/2]), "p50-ms")
		b.ReportMetric(ms(alone[n*95/100]), "p95-ms")
		b.ReportMetric(ms(crowded[n/2]), "crowded-p50-ms")
		b.ReportMetric(ms(crowded[n/2])/ms(alone[n/2]), "crowded/alone")
	})
}

// wait adds executions that wait for a task.
func (s *shop) wait(b *testing.B, n int) {
	b.Helper()
	s.insert(b, n, "WAITING", new("work"),
		new(`{"Status":"WAITING","Visit":{"Number":2,"PhaseID":"work","Type":"PROCESS","Status":"WAITING","StartedAt":"2026-01-02T03:04:05Z","Attempts":1},"Wait":{"for":"task"},"Phases":{"start":{}}}`))
}

// crowd adds executions that have not begun, with the jobs of their first steps.
func (s *shop) crowd(b *testing.B, n int) {
	b.Helper()
	ids := s.insert(b, n, "RUNNING", nil, nil)
	for some := range slices.Chunk(ids, 10_000) {
		list := make([]jobs.Job, len(some))
		for i, id := range some {
			list[i] = jobs.Job{Args: run.CrowdedStep(s.workflow.CompanyID, id)}
		}
		require.NoError(b, s.Store.Write(s.ctx, func(ctx context.Context, tx *store.Tx) error { return s.Queue.InsertManyTx(ctx, tx, list...) }))
	}
}

// insert adds executions with one statement, and returns their ids.
func (s *shop) insert(b *testing.B, n int, status string, phase, state *string) []string {
	b.Helper()
	const columns = `INSERT INTO executions (id, created_at, updated_at, company_id, workflow_id, workflow_version, status, "trigger", phase_id, revision, state) SELECT '%s' || %s, %s, %s, %s, %s, 1, '%s', 'webhook', %s, 0, %s FROM %s`
	prefix := id.From("exe", time.Now())[:18]
	query := fmt.Sprintf(columns, prefix, "printf('%012d', i)", "?", "?", "?", "?", status, "?", "?", fmt.Sprintf("(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) SELECT i FROM n)", n))
	if s.Store.Dialect() == dialect.Postgres {
		query = fmt.Sprintf(columns, prefix, "lpad(i::text, 12, '0')", "$1", "$2", "$3", "$4", status, "$5", "$6", fmt.Sprintf("generate_series(0, %d) AS i", n-1))
	}
	now := time.Now().UTC()
	require.NoError(b, s.Store.Write(principal.System(s.ctx, "test"), func(ctx context.Context, tx *store.Tx) error {
		if err := ent.DriverOf(tx.Client).Exec(ctx, query, []any{now, now, s.workflow.CompanyID, s.workflow.ID, phase, state}, nil); err != nil {
			return err
		}
		if s.Store.Dialect() != dialect.Postgres {
			return nil
		}
		return ent.DriverOf(tx.Client).Exec(ctx, "ANALYZE", []any{}, nil)
	}))
	require.NoError(b, s.Store.Analyze(s.ctx, map[string]int{}))
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s%012d", prefix, i)
	}
	return ids
}

// sleep adds jobs of steps that are due in a month.
func (s *shop) sleep(b *testing.B, n int) {
	b.Helper()
	at := time.Now().Add(30 * 24 * time.Hour)
	list := make([]jobs.Job, n)
	for i := range list {
		list[i] = jobs.Job{Args: run.StepArgs{Company: s.workflow.CompanyID, Execution: "exe_none"}, At: at}
	}
	require.NoError(b, s.Store.Write(s.ctx, func(ctx context.Context, tx *store.Tx) error { return s.Queue.InsertManyTx(ctx, tx, list...) }))
}

// BenchmarkNeighbour measures the first tasks of a company while 100,000 executions of another one, started before, are worked.
func BenchmarkNeighbour(b *testing.B) {
	sink := receiver.New(b, receiver.Status(http.StatusOK, "{}"))
	for name, definition := range map[string]body{"computed": computed(), "called": called(sink.URL), "small": small()} {
		b.Run(name, func(b *testing.B) {
			testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
				busy := open(b, w, definition)
				quiet := openFor(b, w, w.B, tasked())
				stop := quiet.work()
				quiet.firstTasks(b, 20, 20*time.Millisecond)
				alone := quiet.firstTasks(b, 50, 20*time.Millisecond)
				stop()
				busy.crowd(b, 100_000)
				quiet.work()
				quiet.firstTasks(b, 20, 20*time.Millisecond)
				began, before := time.Now(), busy.visits()
				beside := quiet.firstTasks(b, 50, 20*time.Millisecond)
				b.ReportMetric(float64(busy.visits()-before)/time.Since(began).Seconds(), "transitions/s")
				b.ReportMetric(ms(alone[25]), "alone-p50-ms")
				b.ReportMetric(ms(beside[25]), "beside-p50-ms")
				b.ReportMetric(ms(beside[25])/ms(alone[25]), "beside/alone")
			})
		})
	}
}

// visits returns how many phases of the company's executions have been entered.
func (s *shop) visits() int { return s.Store.Reader().PhaseVisit.Query().CountX(s.ctx) }
