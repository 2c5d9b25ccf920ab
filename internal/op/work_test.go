package op_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/event"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// openArgs is the job that opens a service and inserts a check of it.
type openArgs struct{ Company, Name string }

func (openArgs) Kind() string { return "open" }

type checkArgs struct{ Service string }

func (checkArgs) Kind() string                 { return "check" }
func (checkArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: "checks"} }

// crash is called with the number of each point at which a worker may be killed.
type crash func(point int)

// The worker of the documentation, with points at which it can be killed.
//
// begin example
type opener struct {
	river.WorkerDefaults[openArgs]
	engine *op.Engine
	crash  crash
}

func (w *opener) Work(ctx context.Context, job *river.Job[openArgs]) error {
	w.crash(0)
	defer w.crash(5)
	return w.engine.Work(ctx, job.Args.Company, "opener", func(ctx context.Context, tx *op.Tx) error {
		s, err := op.RunIn(ctx, tx, makes, named{Name: job.Args.Name})
		if err != nil {
			return err // the operation's refusal rolls everything back
		}
		w.crash(1)
		if err := tx.Emit(ctx, "service.opened", s.ID, map[string]string{"id": s.ID}); err != nil {
			return err
		}
		w.crash(2)
		if err := tx.Insert(ctx, checkArgs{Service: s.ID}, tx.Now(ctx)); err != nil {
			return err
		}
		w.crash(3)
		defer w.crash(4)
		return tx.Complete(ctx, job.JobRow)
	})
}

// end example

const crashPoints = 6

// The example in the documentation is the worker above.
func TestExampleIsTheWorker(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("work_test.go")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(source), "// begin example\n")
	code, _, _ := strings.Cut(rest, "\n// end example")
	var want []string
	for line := range strings.Lines(code) {
		if !strings.Contains(line, "crash") {
			want = append(want, strings.TrimRight("//\t"+strings.NewReplacer("makes, named{", "service.Open, service.OpenInput{").Replace(line), "\n\t"))
		}
	}
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	require.Contains(t, string(doc), strings.Join(want, "\n"))
}

// checker counts the jobs that the worker inserts.
type checker struct {
	river.WorkerDefaults[checkArgs]
	checked chan string
}

func (c *checker) Work(_ context.Context, job *river.Job[checkArgs]) error {
	c.checked <- job.Args.Service
	return nil
}

// working starts a queue with the options for the engine's operations, and returns the function that stops it.
func working(t *testing.T, e *op.Engine, options ...jobs.Option) (stop func()) {
	t.Helper()
	q, err := jobs.New(e.Store, slog.New(slog.DiscardHandler), true, options...)
	require.NoError(t, err)
	inserts := inserter(t, e)
	end := testkit.RunQueue(t, q)
	return sync.OnceFunc(func() {
		end()
		require.NoError(t, inserts.Close())
	})
}

// inserter gives the engine a queue that inserts jobs of all kinds, as every node has one.
func inserter(t *testing.T, e *op.Engine) *jobs.Queue {
	t.Helper()
	q, err := jobs.New(e.Store, slog.New(slog.DiscardHandler), false)
	require.NoError(t, err)
	e.Queue = q
	return q
}

// enqueue inserts the worker's job.
func enqueue(t *testing.T, w *testkit.World) {
	t.Helper()
	q, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), false)
	require.NoError(t, err)
	require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
		return q.InsertTx(ctx, tx, openArgs{Company: w.A.Company.ID, Name: "Mail"}, time.Time{})
	}))
	require.NoError(t, q.Close())
}

// traces counts what the worker has left behind.
func traces(t *testing.T, w *testkit.World) (rows, audited, emitted int) {
	t.Helper()
	ctx := w.As(w.A, principal.Owner)
	n, err := w.Store.Reader().Event.Query().Where(event.Type("service.opened")).Count(ctx)
	require.NoError(t, err)
	for _, e := range entries(t, w, "service.created") {
		require.Equal(t, []string{"system", "opener", "allowed"}, []string{e.ActorType, e.ActorName, string(e.Outcome)})
		audited++
	}
	return services(t, w), audited, n
}

// A worker whose process is killed at any point leaves all of its work behind or nothing. After another process has run the
// job again, everything was done exactly once.
func TestWorkerKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		for point := range crashPoints {
			t.Run(name+"/"+strconv.Itoa(point), func(t *testing.T) {
				t.Parallel()
				w := world(t)
				enqueue(t, w)
				kill(t, w, point)
				committed := 0
				if point == crashPoints-1 {
					committed = 1
				}
				rows, audited, emitted := traces(t, w)
				require.Equal(t, []int{committed, committed, committed}, []int{rows, audited, emitted}, "half of the work is there")

				again := make(chan struct{}, 10)
				c := &checker{checked: make(chan string, 10)}
				stop := working(t, w.Engine, jobs.Work(c), jobs.NamedQueue("checks", 1), jobs.Work(&opener{engine: w.Engine, crash: func(at int) {
					if at == crashPoints-1 {
						again <- struct{}{}
					}
				}}))
				defer stop()
				<-c.checked
				if committed == 0 {
					<-again
				}
				stop()
				require.Empty(t, c.checked, "the job was inserted twice")
				rows, audited, emitted = traces(t, w)
				require.Equal(t, []int{1, 1, 1}, []int{rows, audited, emitted}, "the work was done twice")
			})
		}
	}
}

// kill runs jobs in a process of its own, until it is killed at a point.
func kill(t *testing.T, w *testkit.World, point int) {
	t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(t, w.StartNode(t, "TestProcessThatIsKilled", strconv.Itoa(point)).Wait(), &exit)
	require.Equal(t, "signal: killed", exit.Error())
}

// TestProcessThatIsKilled is the process that kill starts; it does nothing in any other process.
func TestProcessThatIsKilled(t *testing.T) {
	w, at := testkit.OpenNode(t)
	if w == nil {
		return
	}
	w.WorkUntilKilled(t, jobs.Work(&opener{engine: w.Engine, crash: func(point int) {
		if strconv.Itoa(point) == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal arrives
		}
	}}))
}

var errTold = errors.New("told to fail")

// A transaction in which an operation was refused cannot be committed, even if the worker ignores the refusal, and the
// refusal is audited.
func TestRefusalInATransaction(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := context.Background()
		testkit.Run(t, w, w.As(w.A, principal.Owner), makes, named{Name: "Mail"})
		for name, returns := range map[string]func(error) error{
			"returned": func(err error) error { return err }, "swallowed": func(error) error { return nil },
		} {
			err := w.Engine.Work(ctx, w.A.Company.ID, "opener", func(ctx context.Context, tx *op.Tx) error {
				if _, err := op.RunIn(ctx, tx, makes, named{Name: "Post"}); err != nil {
					return err
				}
				_, err := op.RunIn(ctx, tx, makes, named{Name: "Mail"})
				if apperr.CodeOf(err) != apperr.Conflict {
					return fmt.Errorf("not a conflict: %w", err)
				}
				return returns(err)
			})
			refused(t, err, apperr.Conflict)
			require.Equal(t, 1, services(t, w), name)
		}
		var failed int
		for _, e := range entries(t, w, "service.created") {
			if e.Outcome == auditentry.OutcomeFailed {
				require.Equal(t, "opener", e.ActorName)
				failed++
			}
		}
		require.Equal(t, 2, failed)

		err := w.Engine.Work(ctx, w.A.Company.ID, "opener", func(ctx context.Context, tx *op.Tx) error {
			_, err := op.RunIn(ctx, tx, makes, named{Name: ""})
			return err
		})
		refused(t, err, apperr.Validation)
		require.ErrorIs(t, w.Engine.Work(ctx, w.A.Company.ID, "opener", func(ctx context.Context, tx *op.Tx) error {
			_, err := op.RunIn(ctx, tx, makes, named{Name: "Post"})
			return errors.Join(errTold, err)
		}), errTold)
		require.Equal(t, 1, services(t, w))
	})
}

// A worker acts in one company and in no other, and needs no scope there. An operation that runs another one does so as its
// own caller, whose right to the other operation is checked.
func TestWhoRunsInATransaction(t *testing.T) {
	t.Parallel()
	outer := func(name string) *op.Operation[named, *ent.Service] {
		return op.New(name, op.Spec{Resource: "Request", Action: op.Create, Scope: "requests:write"},
			func(ctx context.Context, tx *op.Tx, in named) (*ent.Service, error) {
				return op.RunIn(ctx, tx, makes, in)
			})
	}
	create := outer("request.create")
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var id string
		require.NoError(t, w.Engine.Work(context.Background(), w.A.Company.ID, "opener", func(ctx context.Context, tx *op.Tx) error {
			s, err := op.RunIn(ctx, tx, makes, named{Name: "Mail"})
			if err != nil {
				return err
			}
			id = s.ID
			_, err = op.RunIn(ctx, tx, gets, op.ByID{ID: id}) // RunIn sees what the transaction has written
			return err
		}))
		err := w.Engine.Work(context.Background(), w.B.Company.ID, "opener", func(ctx context.Context, tx *op.Tx) error {
			_, err := op.RunIn(ctx, tx, renames, renaming{ByID: op.ByID{ID: id}, Name: "Theirs"})
			return err
		})
		refused(t, err, apperr.NotFound)

		testkit.Run(t, w, w.As(w.A, principal.Owner), create, named{Name: "Of an owner"})
		require.Len(t, entries(t, w, "request.created"), 1)
		_, _, err = op.Run(w.As(w.A, principal.Member), w.Engine, create, named{Name: "Of a member"}, nil)
		refused(t, err, apperr.Forbidden)
		require.Equal(t, 2, services(t, w))
	})
}
