package execution_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/egress"
	"atrium/internal/events"
	run "atrium/internal/execution"
	"atrium/internal/jobs"
	"atrium/internal/op"
	"atrium/internal/store"
	"atrium/internal/testkit"
	"atrium/internal/testkit/receiver"
)

const (
	workEnv  = "ATRIUM_TEST_EXECUTIONS" // in a process that works executions: the CA file, and the database
	kills    = 8
	restarts = 2 * time.Second // how long a process lives at most
	crowd    = 12              // executions
	rounds   = 6               // of data, call and decision in each: 20 phases in all
)

// Processes that work executions are killed whenever it happens. Every execution comes to its end all the same, by the path of
// its definition; no step is lost or repeated, no event doubled; and each call has its key, which no other call has.
func TestProcessesAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var mu sync.Mutex
		keys := map[string]bool{}
		sink := receiver.New(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			keys[r.Header.Get("webhook-id")] = true
		}))
		phases := []body{phase("start", "START", nil)}
		want := []string{"start COMPLETED"}
		var transitions []body
		for i := range rounds {
			n := fmt.Sprint(i)
			phases = append(phases, phase("data"+n, "DATA", body{"kind": "enrich", "set": body{"n": n}}), phase("call"+n, "WEBHOOK_CALLOUT", body{"url": sink.URL}),
				phase("choose"+n, "DECISION", body{"rules": []body{{"when": "phases.data" + n + ".n == " + n, "transition": "next"}}, "default": "lost"}))
			transitions = append(transitions, body{"from": "choose" + n, "name": "lost", "to": "lost"})
			want = append(want, "data"+n+" COMPLETED", "call"+n+" COMPLETED", "choose"+n+" COMPLETED")
		}
		want = append(want, "done COMPLETED")
		d := line(append(phases, phase("done", "END", nil)), transitions...)
		d["phases"] = append(d["phases"].([]body), phase("lost", "END", nil))
		s := open(t, w, d)
		var filed []*ent.Request
		for range crowd {
			filed = append(filed, s.file(nil))
		}
		for range kills {
			s.killed(time.Duration(rand.Int64N(int64(restarts))))
		}
		s.work()
		wantKeys := map[string]bool{}
		for _, r := range filed {
			e := s.at(r, "COMPLETED", "done")
			require.Equal(t, want, s.path(r))
			require.Equal(t, []string{"workflow.started", "workflow.completed"}, s.events(e.ID))
			for i := range rounds {
				wantKeys[fmt.Sprintf("%s-call%d-%d", e.ID, i, 3*i+3)] = true
			}
		}
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, wantKeys, keys)
	})
}

// killed works executions in a process of its own, for so long.
func (s *shop) killed(after time.Duration) {
	s.t.Helper()
	where := s.Store.Path()
	if s.Store.Dialect() == dialect.Postgres {
		where = s.Store.Pool().Config().ConnString()
	}
	cmd := exec.CommandContext(s.t.Context(), os.Args[0], "-test.run=^TestProcessThatWorks$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), workEnv+"="+receiver.CAFile(s.t)+" "+where)
	require.NoError(s.t, cmd.Start())
	time.Sleep(after)
	require.NoError(s.t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}

// TestProcessThatWorks is the process of killed, and nothing where the environment does not ask for it.
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
	e := &op.Engine{Store: s, Authz: decider, Log: slog.New(slog.DiscardHandler), Queue: inserts, Events: events.Subscribers{run.Follow(inserts)}}
	out, err := egress.New(egress.Options{Allow: receiver.Loopback, CAFile: ca})
	require.NoError(t, err)
	q, err := jobs.New(s, slog.New(slog.NewTextHandler(os.Stderr, nil)), true, run.New(run.Options{Engine: e, Queue: inserts, Egress: out}).Work())
	require.NoError(t, err)
	require.NoError(t, q.Run(context.WithoutCancel(t.Context())))
}
