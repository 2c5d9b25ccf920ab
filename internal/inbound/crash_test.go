package inbound_test

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/ent/request"
	"atrium/internal/egress"
	"atrium/internal/events"
	"atrium/internal/execution"
	"atrium/internal/jobs"
	"atrium/internal/op"
	"atrium/internal/store"
	"atrium/internal/testkit"
	"atrium/internal/testkit/receiver"
)

const (
	workEnv = "ATRIUM_TEST_INBOUND" // set in a process that works executions; the value is the database
	kills   = 4
	crowd   = 12 // calls
)

// Processes are killed between the receipt of calls and the work on them, at random moments: each call has one execution, which
// completes and files one request.
func TestProcessesAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		h := open(t, w, withOffering(alert))
		var ids []string
		for range kills {
			for range crowd / kills {
				ids = append(ids, h.take(h.signed(`{"name":"Disk","host":"db-1","load":1}`)).ExecutionID)
			}
			h.killed(time.Duration(rand.Int64N(int64(time.Second))))
		}
		h.work()
		for _, id := range ids {
			e := h.at(id, "COMPLETED")
			require.NotNil(t, e.RequestID)
			n, err := h.Store.Reader().Request.Query().Where(request.ExecutionID(id)).Count(h.ctx)
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
		n, err := h.Store.Reader().Request.Query().Count(h.ctx)
		require.NoError(t, err)
		require.Equal(t, crowd, n, "none was filed twice, or for nothing")
		require.Equal(t, crowd, h.executions())
	})
}

// killed works executions in a process of its own, and kills it after a duration.
func (h *hook) killed(after time.Duration) {
	h.t.Helper()
	where := h.Store.Path()
	if h.Store.Dialect() == dialect.Postgres {
		where = h.Store.Pool().Config().ConnString()
	}
	cmd := exec.CommandContext(h.t.Context(), os.Args[0], "-test.run=^TestProcessThatWorks$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), workEnv+"="+receiver.CAFile(h.t)+" "+where)
	require.NoError(h.t, cmd.Start())
	time.Sleep(after)
	require.NoError(h.t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}

// TestProcessThatWorks is the process that killed starts. It does nothing if the environment variable is not set.
func TestProcessThatWorks(t *testing.T) {
	ca, where, asked := strings.Cut(os.Getenv(workEnv), " ")
	if !asked {
		return
	}
	o := store.Options{DatabaseURL: where, MaxConns: 8}
	if !strings.Contains(where, "://") {
		o = store.Options{DataDir: filepath.Dir(where)}
	}
	s, err := store.Open(t.Context(), o)
	require.NoError(t, err)
	decider, err := authz.New(t.Context(), authz.Options{})
	require.NoError(t, err)
	inserts, err := jobs.New(s, slog.New(slog.DiscardHandler), false)
	require.NoError(t, err)
	e := &op.Engine{Store: s, Authz: decider, Log: slog.New(slog.DiscardHandler), Queue: inserts, Events: events.Subscribers{execution.Follow(inserts)}}
	out, err := egress.New(egress.Options{Allow: receiver.Loopback, CAFile: ca})
	require.NoError(t, err)
	q, err := jobs.New(s, slog.New(slog.NewTextHandler(os.Stderr, nil)), true, execution.New(execution.Options{Engine: e, Egress: out}).Work())
	require.NoError(t, err)
	require.NoError(t, q.Run(t.Context()))
}
