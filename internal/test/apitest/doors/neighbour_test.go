package doors

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentevaluation"
	"atrium/ent/company"
	"atrium/ent/execution"
	entimport "atrium/ent/requestimport"
	"atrium/internal/agent"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/request"
	"atrium/internal/desk/requestimport"
	"atrium/internal/desk/search"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/files"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
	run "atrium/internal/workflow/execution"
)

// floor is what a bound allows in any case: what other processes of a machine of two busy cores cause by themselves.
const floor = 150 * time.Millisecond

// A company of the plan "free" spends its allowance on the dearest things that it may do, one after the other, and beside each of them
// another company files requests: in three times what it takes alone, or beside as many harmless calls of its own people, which two
// processors make longer as well. It spends in slices: before each the neighbour is alone, and calm, so that all are measured beside the
// same other processes. `make soak` has it spend the whole allowance of a minute on each and takes the p99; `make test` has it spend a
// part, and takes the p75 of few, beside the tests of other packages.
func TestNeighbour(t *testing.T) {
	full := testkit.Rounds(t, 0) > 0
	percent := 75
	if full {
		percent = 99
	}
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		t.Run(name, func(t *testing.T) { // one after the other: each takes what the machine has
			n := newNeighbours(t, world(t), full)
			for _, d := range slices.Concat(n.bodies(t), n.calls(t), n.rare(t)) {
				began := time.Now()
				m := n.beside(t, d)
				t.Logf("%-22s %3d calls in %4.1f s: alone %s, calm %s, beside %s of %d ms (p50 p75 p99)", d.name, m.calls, time.Since(began).Seconds(),
					ms(m.alone), ms(m.calm), ms(m.beside), len(m.beside))
				require.Positive(t, m.calls, d.name)
				most := max(floor, 3*at(m.alone, percent), 3*at(m.calm, percent))
				assert.Less(t, at(m.beside, percent), most, "p%d beside %s", percent, d.name)
			}
		})
	}
}

// measured are a company's calls that were not refused, and the times of the neighbour, sorted.
type measured struct {
	calls               int
	alone, calm, beside []time.Duration
}

// at returns a percentile.
func at(sorted []time.Duration, percent int) time.Duration { return sorted[len(sorted)*percent/100] }

// ms returns the p50, p75 and p99 in milliseconds.
func ms(sorted []time.Duration) string {
	of := func(percent int) float64 { return float64(at(sorted, percent).Microseconds()) / 1000 }
	return fmt.Sprintf("%5.1f %5.1f %5.1f", of(50), of(75), of(99))
}

// neighbours are company A, which spends, and company B, which files requests.
type neighbours struct {
	*apitest.Server
	client *http.Client
	owner  apitest.Caller // of A, in a browser
	ours   map[string]any // the request that B files
	full   bool           // A spends its whole allowance
}

// dear is something that costs much.
type dear struct {
	name  string
	path  string
	paths []string // the path of each call, where they differ
	limit int      // calls at most; 0 for as many as the allowance has
	body  func(i int) any
	raw   func(i int) []byte // in place of body: what is no JSON
	done  func() bool        // what it has caused is done; nil for nothing
}

func newNeighbours(t *testing.T, w *testkit.World, full bool) *neighbours {
	t.Helper()
	dir := t.TempDir()
	n := &neighbours{full: full}
	n.Server = apitest.Serve(t, w, func(p apitest.Parts) (http.Handler, error) {
		return bothWith(p, attachment.NewDepot(attachment.Depot{
			Engine: p.Engine, Files: files.NewFolder(filepath.Join(dir, "files")), Spool: filepath.Join(dir, "uploads"), Log: p.Log,
		}))
	})
	n.client = n.HTTP1(t)
	n.owner = n.Session(t, w.A.Owner)
	n.work(t)
	n.ours = n.catalog(t, n.B.OwnerKey, nil)
	n.Write(t, func(ctx context.Context, tx *store.Tx) error {
		return tx.Company.Update().Where(company.ID(w.A.Company.ID)).SetPlan(company.PlanFree).ClearRatePerMinute().ClearRatePerDay().Exec(ctx)
	})
	w.Store.AuthorityChanged()
	return n
}

// work runs executions, agents, imports, notices, deliveries, the clocks of service levels and the search index until the test ends.
func (n *neighbours) work(t *testing.T) {
	t.Helper()
	e := n.World.Engine
	e.Mailer, e.Egress = mute{}, receiver.Client(t, 2*time.Second)
	hooks, err := webhook.New(webhook.Options{
		Store: n.World.Store, Engine: e, Queue: n.World.Queue, Sealer: e.Sealer, Egress: e.Egress, Log: e.Log, Metrics: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	indexing, stop := context.WithCancel(context.Background())
	indexed := make(chan error, 1)
	go func() { indexed <- search.NewIndexer(n.World.Store, e.Log).Run(indexing) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-indexed)
	})
	agents := agent.NewDoor(e, worker.Models{})
	n.World.WorkJobs(t, run.New(run.Options{Engine: e}).Work(), agents.Work(nil), requestimport.Work(e), hooks.Work(),
		notice.Work(e, notice.Reads{Request: request.Get.Info(), Comment: request.GetComment.Info(), Task: run.GetTask.Info()}),
		request.Clocks(e, run.TaskClocks))
}

// mute mails nothing.
type mute struct{ op.Mailer }

func (mute) Tell(context.Context, *store.Tx, *ent.User, op.Told) error { return nil }

// call makes a call, and returns its status and answer.
func (n *neighbours) call(t testing.TB, as apitest.Caller, path string, body any) (int, []byte) {
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	return n.send(t, as, path, raw)
}

func (n *neighbours) send(t testing.TB, as apitest.Caller, path string, raw []byte) (int, []byte) {
	method, path, _ := strings.Cut(path, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, n.URL+path, bytes.NewReader(raw))
	require.NoError(t, err)
	r.Header = as.Header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := n.client.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, answer
}

// make makes a call that must succeed, and returns the text at a path of its answer.
func (n *neighbours) make(t testing.TB, as apitest.Caller, path string, body any, at ...string) string {
	t.Helper()
	status, answer := n.call(t, as, path, body)
	require.Less(t, status, 300, "%s", answer)
	var v any
	require.NoError(t, json.Unmarshal(answer, &v))
	for _, key := range at {
		m, ok := v.(map[string]any)
		require.True(t, ok, "%s", answer)
		v = m[key]
	}
	text, ok := v.(string)
	require.True(t, ok, "%s", answer)
	return text
}

// callers are A's, each with an allowance of calls of its own.
func (n *neighbours) callers() []apitest.Caller {
	return []apitest.Caller{n.A.Owner, n.A.OwnerKey, n.A.Admin, n.A.AdminKey}
}

// file has B file a request, and returns how long it took.
func (n *neighbours) file(t testing.TB) time.Duration {
	began := time.Now()
	status, answer := n.call(t, n.B.OwnerKey, "POST /v1/requests", n.ours)
	took := time.Since(began)
	require.Equal(t, http.StatusCreated, status, "%s", answer)
	time.Sleep(2 * time.Millisecond)
	return took
}

// beside has A spend its allowance on something, in slices, and B file requests before each of them and beside it.
func (n *neighbours) beside(t *testing.T, d dear) (m measured) {
	t.Helper()
	n.World.Clock.SetOffset(n.World.Clock.Offset() + 61*time.Second) // a new minute of the allowance
	n.owner = n.Session(t, n.World.A.Owner)                          // signed in just now
	bodies, few, slots := n.bodiesOf(t, d), 12, 2
	if n.full {
		few, slots = 50, 4
	}
	size := (len(bodies) + slots - 1) / slots
	for from := 0; from < len(bodies); from += size {
		for range few {
			m.alone = append(m.alone, n.file(t))
		}
		m.calm = append(m.calm, n.calm(t, few)...)
		good, took := n.slice(t, d, bodies, from, min(from+size, len(bodies)), few)
		m.calls, m.beside = m.calls+good, append(m.beside, took...)
	}
	slices.Sort(m.alone)
	slices.Sort(m.calm)
	slices.Sort(m.beside)
	return m
}

// calm has four people of B look at lists, and B file requests.
func (n *neighbours) calm(t *testing.T, few int) (took []time.Duration) {
	t.Helper()
	var over atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for !over.Load() {
				n.call(t, n.B.AdminKey, "GET /v1/services?pageSize=20", nil)
			}
		})
	}
	for range few {
		took = append(took, n.file(t))
	}
	over.Store(true)
	wg.Wait()
	return took
}

// slice has A make some of the calls, from four callers at once, and B file requests, a few at least, until these and what they have caused
// are done.
func (n *neighbours) slice(t *testing.T, d dear, bodies [][]byte, from, to, few int) (calls int, took []time.Duration) {
	t.Helper()
	next := atomic.Int64{}
	next.Store(int64(from))
	var good atomic.Int64
	var wg sync.WaitGroup
	for range n.callers() {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < to; i = int(next.Add(1)) - 1 {
				path, as := d.path, n.callers()[i%len(n.callers())]
				if path == graphql {
					as = n.owner
				}
				if len(d.paths) > 0 {
					path = d.paths[i]
				}
				status, answer := n.send(t, as, path, bodies[i])
				if status == http.StatusTooManyRequests {
					return
				}
				if status >= 300 || bytes.Contains(answer, []byte(`"errors"`)) {
					t.Log(d.name, status, string(answer[:min(len(answer), 300)]))
					continue
				}
				good.Add(1)
			}
		})
	}
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	for spending, began := true, time.Now(); spending || d.done != nil && !d.done() || len(took) < few; {
		require.Less(t, time.Since(began), 2*time.Minute, d.name)
		select {
		case <-over:
			spending = false
		default:
		}
		took = append(took, n.file(t))
	}
	<-over
	return int(good.Load()), took
}

// bodiesOf returns the bodies of as many calls as the plan allows in a minute: 60 of each of four credentials, and
// 20 MiB; fewer where it spends a part.
func (n *neighbours) bodiesOf(t *testing.T, d dear) (out [][]byte) {
	t.Helper()
	calls, bytes := 240, 24<<20
	if !n.full {
		calls, bytes = 8, 6<<20
	}
	for i, sum := 0, 0; i < calls && sum < bytes && (d.limit == 0 || i < d.limit); i++ {
		if d.raw != nil {
			raw := d.raw(i)
			out, sum = append(out, raw), sum+len(raw)
			continue
		}
		raw, err := json.Marshal(d.body(i))
		require.NoError(t, err)
		out, sum = append(out, raw), sum+len(raw)
	}
	return out
}

func (n *neighbours) executionsEnd() bool {
	left, err := n.World.Store.Reader().Execution.Query().Where(execution.CompanyID(n.World.A.Company.ID), execution.StatusEQ(execution.StatusRUNNING)).Count(apitest.System())
	return err == nil && left == 0
}

func (n *neighbours) jobsEnd() bool {
	due, err := n.World.Queue.Due(apitest.System())
	return err == nil && due == 0
}

func (n *neighbours) importsEnd() bool {
	left, err := n.World.Store.Reader().RequestImport.Query().Where(entimport.FinishedAtIsNil()).Count(apitest.System())
	return err == nil && left == 0
}

func (n *neighbours) evaluationsEnd() bool {
	left, err := n.World.Store.Reader().AgentEvaluation.Query().Where(agentevaluation.StatusEQ(agentevaluation.StatusRUNNING)).Count(apitest.System())
	return err == nil && left == 0
}
