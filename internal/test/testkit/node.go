package testkit

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/store"
	"atrium/internal/workflow/execution"
)

const (
	nodeEnv  = "ATRIUM_TEST_NODE"      // for a process that StartNode starts: its database and its argument, with a line between them
	killsEnv = "ATRIUM_TEST_KILLS"     // how many processes a test kills on each database, instead of its default
	nodeLife = 1500 * time.Millisecond // between two kills at most
)

// KillNodes runs nodes on the world's database, one on SQLite and two on PostgreSQL, and kills them in turn after random times, as
// often as ATRIUM_TEST_KILLS says, or else as usual. It calls step before each of these times. No node is left at the end.
func (w *World) KillNodes(tb testing.TB, usual int, test, arg string, step func(n int)) {
	tb.Helper()
	nodes := make([]*exec.Cmd, 1)
	if w.Store.Dialect() == dialect.Postgres {
		nodes = make([]*exec.Cmd, 2)
	}
	for i := range nodes {
		nodes[i] = w.StartNode(tb, test, arg)
	}
	for n := range Kills(tb, usual) {
		step(n)
		time.Sleep(time.Duration(rand.Int64N(int64(nodeLife))))
		victim := n % len(nodes)
		Kill(tb, nodes[victim])
		nodes[victim] = w.StartNode(tb, test, arg)
	}
	for _, node := range nodes {
		Kill(tb, node)
	}
}

// Kills returns how many processes a test kills: as many as ATRIUM_TEST_KILLS says, or else as usual.
func Kills(tb testing.TB, usual int) int {
	tb.Helper()
	kills, err := strconv.Atoi(cmp.Or(os.Getenv(killsEnv), strconv.Itoa(usual)))
	require.NoError(tb, err)
	return kills
}

// StartNode runs the test with a name in a process of its own, as another node on the world's database. That test calls OpenNode,
// which returns arg.
func (w *World) StartNode(tb testing.TB, test, arg string) *exec.Cmd {
	tb.Helper()
	where := w.Store.Path()
	if w.Store.Dialect() == dialect.Postgres {
		where = w.Store.Pool().Config().ConnString()
	}
	cmd := exec.CommandContext(tb.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), nodeEnv+"="+where+"\n"+arg)
	require.NoError(tb, cmd.Start())
	return cmd
}

// Kill kills a node.
func Kill(tb testing.TB, node *exec.Cmd) {
	tb.Helper()
	require.NoError(tb, node.Process.Kill())
	_ = node.Wait() // it was killed
}

// OpenNode returns the world of a process that StartNode started, without tenants, and the argument; nil in any other process.
func OpenNode(tb testing.TB) (w *World, arg string) {
	tb.Helper()
	where, arg, asked := strings.Cut(os.Getenv(nodeEnv), "\n")
	if !asked {
		return nil, ""
	}
	o := store.Options{DatabaseURL: where, MaxConns: 8}
	if !strings.Contains(where, "://") {
		o = store.Options{DataDir: filepath.Dir(where)}
	}
	s, err := store.Open(tb.Context(), o)
	require.NoError(tb, err)
	decider, err := authz.New(tb.Context(), authz.Options{})
	require.NoError(tb, err)
	q, err := jobs.New(s, slog.New(slog.DiscardHandler), false)
	require.NoError(tb, err)
	return &World{Store: s, Queue: q, Engine: &op.Engine{
		Store: s, Authz: decider, Log: slog.New(slog.DiscardHandler), Queue: q, Events: events.Subscribers{execution.Follow(q)},
	}}, arg
}

// WorkUntilKilled works jobs in a process that StartNode started.
func (w *World) WorkUntilKilled(tb testing.TB, work ...jobs.Option) {
	tb.Helper()
	q, err := jobs.New(w.Store, slog.New(slog.NewTextHandler(os.Stderr, nil)), true, append(work, deadSoon)...)
	require.NoError(tb, err)
	require.NoError(tb, q.Run(context.WithoutCancel(tb.Context())))
}
